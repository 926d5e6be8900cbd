/// Which bytes the generations of a file are, if what is overwritten goes to an undo log (facts.md 4): each generation
/// is the next one, with the blocks in place that were saved before they were overwritten.
///
/// This is the reference: blocks are numbers, and everything is in memory. The engine's log has to give the same.
public struct UndoLog: Hashable, Sendable {
    /// One block's bytes, as a number; 0 is a block of zeros, as a hole reads.
    public typealias Block = UInt64

    /// What a generation differs in from the next one.
    public struct Layer: Hashable, Sendable {
        public var generation: UInt64
        /// How many blocks the file had.
        public var count: Int
        /// The blocks that were saved, by their index, in that order.
        public var blocks: [Saved] = []
        /// Whether the generation was synchronized: then a block is durable in the log before it is overwritten.
        public var isSynchronized = false
    }

    public struct Saved: Hashable, Sendable {
        public var index: Int
        public var block: Block
        /// Whether the log's checksum fits. After a power cut it may not.
        public var isWhole = true
    }

    /// Everything is in memory: the model has no more blocks than this.
    static let mostBlocks = 1 << 20

    public private(set) var live: [Block]
    public private(set) var generation: UInt64 = 0
    /// Oldest first. The last is of the present generation, once anything of it was overwritten.
    public private(set) var layers: [Layer] = []
    private var isSynchronized = false

    public init(_ blocks: [Block]) { live = blocks }

    // MARK: Changes

    /// The present generation is a version: what is overwritten from now on is another.
    public mutating func endGeneration() {
        layers.append(Layer(generation: generation, count: live.count, isSynchronized: isSynchronized))
        generation &+= 1
        isSynchronized = false
    }

    /// The file was synchronized.
    public mutating func synchronize() { isSynchronized = true }

    /// A write to one block, at the end or inside. The block goes to the log first, once for each generation.
    public mutating func write(_ block: Block, at index: Int) {
        guard (0..<Self.mostBlocks).contains(index) else { return }
        save(index)
        while live.count <= index { live.append(0) }
        live[index] = block
    }

    public mutating func truncate(to count: Int) {
        guard (0...Self.mostBlocks).contains(count) else { return }
        for index in stride(from: count, to: live.count, by: 1) { save(index) }
        while live.count < count { live.append(0) }
        live.removeLast(live.count - count)
    }

    private mutating func save(_ index: Int) {
        guard let last = layers.indices.last, index < layers[last].count, index < live.count,
            !layers[last].blocks.contains(where: { $0.index == index })
        else { return }
        let place = layers[last].blocks.firstIndex { $0.index > index } ?? layers[last].blocks.count
        layers[last].blocks.insert(Saved(index: index, block: live[index]), at: place)
    }

    /// A version is thinned: its blocks that the generation before it lacks go there.
    public mutating func thin(_ generation: UInt64) {
        guard let position = layers.firstIndex(where: { $0.generation == generation }) else { return }
        let gone = layers.remove(at: position)
        guard position > 0 else { return }
        for saved in gone.blocks where saved.index < layers[position - 1].count {
            guard !layers[position - 1].blocks.contains(where: { $0.index == saved.index }) else { continue }
            let blocks = layers[position - 1].blocks
            layers[position - 1].blocks.insert(saved, at: blocks.firstIndex { $0.index > saved.index } ?? blocks.count)
        }
    }

    /// The power goes: blocks that no synchronized generation needs may not have arrived.
    ///
    /// A generation needs each block of its own layer, and of the next layers those that the layers between lack: a
    /// block that was not overwritten at first lies in a later one's.
    public mutating func lose(_ arrived: (UInt64, Int) -> Bool) {
        for layer in layers.indices {
            for block in layers[layer].blocks.indices {
                let index = layers[layer].blocks[block].index
                if !isDurable(index, in: layer), !arrived(layers[layer].generation, index) {
                    layers[layer].blocks[block].isWhole = false
                }
            }
        }
    }

    private func isDurable(_ index: Int, in layer: Int) -> Bool {
        for former in stride(from: layer, through: 0, by: -1) {
            if former < layer, layers[former].blocks.contains(where: { $0.index == index }) { return false }
            if layers[former].isSynchronized, index < layers[former].count { return true }
        }
        return false
    }

    // MARK: Contents

    /// The bytes of a generation, laid over one another from the newest down; nil if it is lost, or was thinned. A
    /// block whose checksum does not fit makes its generation lost, and all before it that take the block from there.
    public func content(of wanted: UInt64) -> [Block]? {
        if wanted == generation { return live }
        guard layers.contains(where: { $0.generation == wanted }) else { return nil }
        var content: [Block?] = live
        for layer in layers.reversed() {
            for saved in layer.blocks {
                while content.count <= saved.index { content.append(0) }
                content[saved.index] = saved.isWhole ? saved.block : nil
            }
            while content.count < layer.count { content.append(0) }
            content.removeLast(content.count - layer.count)
            if layer.generation == wanted { break }
        }
        let whole = content.compactMap { $0 }
        return whole.count == content.count ? whole : nil
    }
}
