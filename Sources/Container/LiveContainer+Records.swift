// Documents and their rows: finding a node's document, and what the catalog is told of it.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// The document of a regular file that is in use or recorded; nil if nothing is known of it.
    func knownDocument(of node: Node) -> Document? { documents.document(of: node) }

    /// Runs `body` with the document whose file a node is (``DocumentIndex/withLive(of:_:)``).
    func withLiveDocument<Result>(
        of node: Node, _ body: (inout Document.State, Document, Node.Name) throws(Errno) -> Result
    ) throws(Errno) -> Result? {
        try documents.withLive(of: node, body)
    }

    /// The document of a file with one name, if it needs no look at the file.
    func verifiedDocument(of node: Node) -> Document? {
        let known = nodes.allNames(node)
        guard known.others.isEmpty, let first = known.first, let document = try? documents.document(at: first.place),
            document.wasVerified.load(ordering: .acquiring)
        else { return nil }
        return document
    }

    /// The document of a live regular file: made from the file if it has no record, and compared with its record
    /// otherwise.
    func document(of node: Node, _ stat: FileStat) throws(Errno) -> Document {
        if let verified = verifiedDocument(of: node) { return verified }
        let known = nodes.allNames(node)
        guard let first = known.first else { throw .noSuchFileOrDirectory }
        let places = [first.place] + known.others.map(\.place)
        return try store(throwing: .ioError) { () throws(StoreError) in
            for place in places {
                guard let document = try documents.document(at: place) else { continue }
                verify(document, node, in: first.parent, stat)
                for other in places where other != place { try name(document, also: other) }
                return document
            }
            var state = adopted(stat, places: places)
            if node.openings.state.withLock(\.maybeMapped) { state.provisional = state.current?.id }
            if DatabaseRule.database(ofJournal: first.name) != nil, let directory = try? descriptor(of: first.parent) {
                state.isUnversioned = DatabaseRule.isPart(first.name, in: directory)
            }
            let document = Document(state)
            var result = document
            for place in places { result = try documents.insertIfAbsent(document, at: place) }
            return result
        }
    }

    /// The same of one of the names of a file, which may have parted from the others.
    func document(of node: Node, _ stat: FileStat, at place: Place, in parent: Node) throws(Errno) -> Document {
        guard stat.links > 1 else { return try document(of: node, stat) }
        let own = try store(throwing: .ioError) { () throws(StoreError) in try documents.document(at: place) }
        guard let own else { return try document(of: node, stat) }
        if !own.wasVerified.load(ordering: .acquiring) {
            try store(throwing: .ioError) { () throws(StoreError) in verify(own, node, in: parent, stat) }
        }
        return own
    }

    /// One of several names of a file that is looked at after the others: it belongs to the same document.
    private func name(_ document: Document, also place: Place) throws(StoreError) {
        guard try documents.insertIfAbsent(document, at: place) === document else { return }
        document.state.withLock { state in
            if !state.places.contains(place) { state.places.append(place) }
        }
    }

    /// The state of a document that was there before us: its identities derive from the file, so that they need no row
    /// until something happens to it.
    private func adopted(_ stat: FileStat, places: [Place]) -> Document.State {
        let current = derivedCurrent(stat)
        var state = Document.State(item: current.item, places: places)
        state.current = current
        state.stamp = Stamp(stat)
        state.isVerified = true
        return state
    }

    /// The version of an untouched file.
    func derivedCurrent(_ stat: FileStat) -> Version {
        let item = DerivedIdentity.item(fileID(stat), in: store.identity.container)
        let version = VersionID(derivedFrom: item, stat)
        return Version(
            id: version, item: item, kind: .current, content: ContentID(high: version.high, low: version.low),
            size: stat.size, modified: stat.modified, saved: stat.modified,
            time: HybridTime(wall: stat.modified, logical: 0), device: store.identity.device,
            author: callers.owner(of: stat), attributes: Attributes(stat), flags: .sealed)
    }

    /// Finds an edit from outside the mount: it becomes a version whose author is unknown.
    private func verify(_ document: Document, _ node: Node, in parent: Node, _ stat: FileStat) {
        let isSuspect = document.state.withLock { !$0.isVerified && self.isSuspect($0, stat) }
        let suspect = isSuspect ? openSuspect(node, stat) : nil
        var recorded: Item.LiveFile?
        let isUnseen = document.state.withLock { state in
            guard !state.isVerified else { return false }
            state.isVerified = true
            recorded = state.recorded
            defer { state.recorded = nil }
            guard let current = state.current, current.size == stat.size, current.modified == stat.modified,
                suspect.map({ holds(current, $0.raw, stat, state.recorded) }) ?? true
            else { return true }
            state.stamp = Stamp(stat)
            renew(state, stat, wasSuspect: suspect != nil)
            return false
        }
        defer { document.wasVerified.store(true, ordering: .releasing) }
        guard isUnseen else { return }
        adoptUnseenEdit(document, node, in: parent, stat, recorded)
    }

    /// Rows for a document's item as it is now; none if it is not recorded.
    func itemRows(_ state: Document.State, _ stat: FileStat) -> [VersionStore.Mutation] {
        itemRow(state, stat).map { [$0] } ?? []
    }

    func itemRow(_ state: Document.State, _ stat: FileStat) -> VersionStore.Mutation? {
        guard state.isRecorded, let current = state.current else { return nil }
        let file = Item.LiveFile(id: fileID(stat), size: stat.size, modified: stat.modified, changed: stat.changed)
        return .item(Item(id: state.item, places: state.places, current: current.id, file: file))
    }

    /// Commits rows that concern something in `parent`, behind the rows of the directories above it.
    func record(_ parent: Node, _ mutations: [VersionStore.Mutation]) {
        guard !mutations.isEmpty else { return }
        recordDirectories(parent)
        commit(mutations)
    }

    /// The same for rows that are complete.
    func commit(_ mutations: [VersionStore.Mutation]) {
        store.commit(mutations)
        var (grows, history) = (false, UInt64(0))
        for mutation in mutations {
            if case .deletion = mutation { grows = true }
            history += mutation.historyBytes
        }
        if grows || history > 0 { space.trimming.noteGrowth(history: history) }
    }

    /// Has the catalog know a directory and those above it; most often it does.
    func recordDirectories(_ directory: Node) {
        guard directory.id != Node.rootID else { return }
        while true {
            let layout = nodes.layout.load(ordering: .sequentiallyConsistent)
            if directory.recordedIn.load(ordering: .acquiring) == layout { return }
            let isCurrent = { self.nodes.layout.load(ordering: .sequentiallyConsistent) == layout }
            let chain = nodes.chain(directory)
            guard recordedDirectories.record(chain, isCurrent: isCurrent, queue: { store.commit($0) }) else { continue }
            return directory.recordedIn.store(layout, ordering: .releasing)
        }
    }

    /// A row of the change feed for a name in a directory.
    func change(
        _ event: ChangeEvent, in parent: Node, _ name: FileName, from source: (parent: Node, name: FileName)? = nil,
        item: ItemID? = nil, version: VersionID? = nil, by requester: Requester?
    ) -> Change {
        let path = path(of: name, in: parent)
        let from = source.map { self.path(of: $0.name, in: $0.parent) }
        return Change(
            event: event, path: path, from: from, item: item, version: version, time: now, author: requester?.author,
            origin: coordinator.origin(of: requester?.actor, at: path, from: from, item: item), directory: parent.file,
            fromDirectory: source?.parent.file)
    }

    /// Runs a change of a file's metadata so that it does not look like a change of its content: under the document's
    /// lock, or a release in between would take it for one.
    func preservingStamp<Result>(
        of document: Document?, _ node: Node, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        guard let document else { return try body() }
        return try document.state.withLock { state throws(Errno) in
            let wasClean = !state.differs(from: try statLocked(node))
            let result = try body()
            guard wasClean else { return result }
            let stamp = Stamp(try statLocked(node))
            // Another file may have taken the name meanwhile.
            if state.stamp?.file == stamp.file { state.stamp = stamp }
            return result
        }
    }

    /// Runs a call of the store, logging what went wrong and answering with `error`.
    func store<Result>(throwing error: Errno, _ body: () throws(StoreError) -> Result) throws(Errno) -> Result {
        do throws(StoreError) {
            return try body()
        } catch let problem {
            logger.error("the catalog did not answer: \(problem)")
            throw error
        }
    }
}

/// Identities of documents that were there before the container: derived, not stored.
enum DerivedIdentity {
    static func item(_ file: FileID, in container: ContainerID) -> ItemID {
        ItemID(high: BitMixing.mix(file.number ^ container.high), low: BitMixing.mix(file.number &+ container.low))
    }
}

extension VersionID {
    /// The first version of a document from before the container: stable until the first change.
    init(derivedFrom item: ItemID, _ stat: FileStat) {
        self.init(derivedFrom: item, size: stat.size, modified: stat.modified)
    }
}

extension VersionStore.Mutation {
    /// How much it adds to the history; at least 1 if it does.
    fileprivate var historyBytes: UInt64 {
        if case .version(let version) = self, version.kind != .current { max(1, min(version.size, 1 << 50)) } else { 0 }
    }
}
