// What the workers say they did, and what a file may hold after a crash because of it.

import CrashLoad

/// The doings on all files, in each file's own order: one worker has it to itself.
struct Ledger {
    /// What a file was to hold from some moment on.
    struct State {
        /// nil: no file of that name.
        var content: Content?
        var action: Entry.Action?
        var isDone: Bool
        var isSynced: Bool
    }

    private(set) var files: [String: [State]] = [:]
    /// Contents that were acknowledged and not merged with what was appended to them, by file: each has to be kept.
    private(set) var acknowledged: [String: [Content]] = [:]

    mutating func add(_ entry: Entry) {
        switch entry.stage {
        case .begin:
            if entry.action == .append { mergeAppends(entry) }
            let isGone = entry.action == .unlink || entry.action == .move
            append(State(content: isGone ? nil : entry.content, action: entry.action, isDone: false, isSynced: false), entry.file)
            if entry.action == .move {
                append(State(content: entry.content, action: .move, isDone: false, isSynced: false), entry.target)
            }
        case .synced: change(entry.file) { $0.isSynced = true }
        case .done:
            change(entry.file) { $0.isDone = true }
            if entry.action == .move { change(entry.target) { $0.isDone = true } }
            if entry.action != .unlink, entry.action != .move { acknowledge(entry) }
        }
    }

    private mutating func append(_ state: State, _ file: String) {
        files[file, default: [State(content: nil, action: nil, isDone: true, isSynced: false)]].append(state)
    }

    private mutating func change(_ file: String, _ body: (inout State) -> Void) {
        guard let last = files[file]?.indices.last else { return }
        body(&files[file, default: []][last])
    }

    private mutating func acknowledge(_ entry: Entry) {
        acknowledged[entry.file, default: []].append(entry.content)
    }

    /// Appends within a minute of one another amend one version (DESIGN 5.1), from the first byte of the next on.
    private mutating func mergeAppends(_ entry: Entry) {
        guard let last = acknowledged[entry.file]?.last, last.pieces.count > 1, entry.content.pieces.starts(with: last.pieces)
        else { return }
        acknowledged[entry.file]?.removeLast()
    }

    /// What was found becomes what the next round starts from.
    mutating func settle(_ file: String, on content: Content?) {
        files[file] = [State(content: content, action: nil, isDone: true, isSynced: false)]
    }

    // MARK: Judging

    /// What is wrong with the bytes that a file was found with; nil if nothing. Gives the content they are, if whole.
    ///
    /// - Parameter namesAreExact: the directory operations of everything that returned have survived, as they do when
    ///   only the daemon dies.
    func judge(_ file: String, _ found: [UInt8]?, namesAreExact: Bool) -> (problem: String?, content: Content?) {
        guard let states = files[file] else { return (found == nil ? nil : "\(file) is there, and nobody made it", nil) }
        let first = states.lastIndex { $0.isSynced } ?? 0
        let possible = states[first...]
        guard let found else {
            let mayBeGone =
                namesAreExact
                ? states.last?.content == nil || states.last?.isDone == false && (states.dropLast().last?.content == nil)
                : possible.contains { $0.content == nil }
            return (mayBeGone ? nil : "\(file) is gone; it had \(Self.text(states))", nil)
        }
        if let match = possible.last(where: { $0.content?.bytes == found }) { return (nil, match.content) }
        if let last = states.last, let content = last.content, Self.isPartial(found, of: content, states) { return (nil, nil) }
        // A name that was taken away just before may have come back with what it had.
        if states.count > 1, possible.contains(where: { $0.content == nil }),
            let match = states.last(where: { $0.content?.bytes == found })
        {
            return (nil, match.content)
        }
        let whose = states.compactMap(\.content).first { $0.bytes == found }.map { "\($0), which is older" }
        return ("\(file) holds \(whose ?? Self.head(found)); it had \(Self.text(states))", nil)
    }

    /// Half of a new file is what any file system leaves of it; half of what was appended too.
    private static func isPartial(_ found: [UInt8], of content: Content, _ states: [State]) -> Bool {
        let before = states.dropLast().last?.content
        guard content.bytes.starts(with: found) else { return false }
        return before == nil || content.pieces.count > 1 && found.count >= (before?.length ?? 0)
    }

    private static func text(_ states: [State]) -> String {
        states.map { state in
            let marks = (state.isDone ? "" : " begun") + (state.isSynced ? " synced" : "")
            return "\(state.action?.rawValue ?? "found") \(state.content.map(\.description) ?? "nothing")\(marks)"
        }.joined(separator: "; ")
    }

    static func head(_ bytes: [UInt8]) -> String {
        "\(bytes.count) bytes: \(String(decoding: bytes.prefix(24).map { $0 < 32 || $0 > 126 ? 46 : $0 }, as: UTF8.self))"
    }
}
