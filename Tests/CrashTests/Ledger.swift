// What the workers say they did, and what a file may hold after a crash because of it.

import CrashLoad

/// What has ended.
enum Ending {
    /// The daemon alone: what has returned has happened.
    case kill
    /// The machine: what was synchronized has happened, and what came before; of the rest, anything.
    case powerCut
}

/// The doings on all files, in each file's own order: one worker has it to itself.
struct Ledger {
    /// What a file was to hold from some moment on.
    struct State {
        /// nil: no file of that name, unless `found` says otherwise.
        var content: Content?
        /// What a round before found there, where it is nobody's whole content.
        var found: [UInt8]?
        var action: Entry.Action?
        var isDone = true
        var isSynced = false
        /// What else a file that was renamed here may hold, because nothing of it was synchronized.
        var before: [State] = []

        var bytes: [UInt8]? { content?.bytes ?? found }
        var isThere: Bool { content != nil || found != nil }
        /// Written where the bytes before were, not instead of them.
        var isInPlace: Bool { action == .overwrite || action == .patch || action == .mapped }
    }

    /// A content that has to be among the versions, whatever came later.
    struct Saved {
        var content: Content
        var action: Entry.Action
        var isSynced: Bool
        /// Its document was renamed over another, and has no name of its own any more.
        var isNameless = false
    }

    private(set) var files: [String: [State]] = [:]
    private(set) var saved: [String: [Saved]] = [:]
    /// Under which names a file was before it was moved: its document may have gone along.
    private var origins: [String: Set<String>] = [:]

    mutating func add(_ entry: Entry) {
        switch entry.stage {
        case .begin: begin(entry)
        case .synced:
            change(entry.file) { $0.isSynced = true }
            keep(entry, isSynced: true)
        case .done: done(entry)
        }
    }

    private mutating func begin(_ entry: Entry) {
        let (action, content) = (entry.action, entry.content)
        switch action {
        case .unlink: append(State(action: action, isDone: false), entry.file)
        case .move, .moveOver:
            // Before it is done it may have happened.
            if action == .moveOver {
                lostName(entry)
            } else {
                origins[entry.target, default: []].formUnion((origins[entry.file] ?? []).union([entry.file]))
            }
            let before = unsure(entry.file)
            append(State(action: action, isDone: false), entry.file)
            append(State(content: content, action: action, isDone: false, before: before), entry.target)
        case .exchange:
            let (one, other) = (unsure(entry.file), unsure(entry.target))
            let last = files[entry.target]?.last
            append(
                State(content: last?.content, found: last?.found, action: action, isDone: false, before: other),
                entry.file)
            append(State(content: content, action: action, isDone: false, before: one), entry.target)
        case .displaced: break
        case .moveDirectory:
            for (file, states) in files where file.hasPrefix(entry.file + "/") {
                guard let last = states.last, last.isThere else { continue }
                let before = unsure(file)
                append(State(action: action, isDone: false), file)
                let target = entry.target + file.dropFirst(entry.file.count)
                origins[target, default: []].formUnion((origins[file] ?? []).union([file]))
                append(
                    State(content: last.content, found: last.found, action: action, isDone: false, before: before),
                    target)
            }
        default:
            if action == .append { mergeAppends(entry) }
            append(State(content: content, action: action, isDone: false), entry.file)
        }
    }

    private mutating func done(_ entry: Entry) {
        switch entry.action {
        case .unlink: change(entry.file) { $0.isDone = true }
        case .move, .moveOver, .exchange:
            for file in [entry.file, entry.target] { change(file) { $0.isDone = true } }
        case .displaced: keep(entry, isSynced: false)
        case .moveDirectory:
            for file in files.keys where file.hasPrefix(entry.file + "/") || file.hasPrefix(entry.target + "/") {
                change(file) { if $0.action == .moveDirectory { $0.isDone = true } }
            }
        default:
            change(entry.file) { $0.isDone = true }
            keep(entry, isSynced: false)
        }
    }

    private mutating func append(_ state: State, _ file: String) {
        files[file, default: [State()]].append(state)
    }

    /// What a file went through since it was synchronized last, that state included.
    ///
    /// What came under a name that had been taken away may have gone back to what had the name before, as it may where
    /// it stays (see ``judge(_:_:_:)``): the name's document is one (DESIGN 5.1), and "the old content" is the newest
    /// of its versions that is whole under that name. What was synchronized meanwhile is where it was taken to.
    private func unsure(_ file: String) -> [State] {
        let states = files[file] ?? []
        let since = states[(states.lastIndex { $0.isSynced } ?? 0)...]
        guard since.contains(where: { !$0.isThere }) else { return since.flatMap { $0.before + [$0] } }
        return states.flatMap { $0.before + [$0] }
    }

    private mutating func change(_ file: String, _ body: (inout State) -> Void) {
        guard let last = files[file]?.indices.last else { return }
        body(&files[file, default: []][last])
    }

    private mutating func keep(_ entry: Entry, isSynced: Bool) {
        // What was closed on a file without the name says nothing of what the name has.
        if saved[entry.file]?.last(where: { $0.action != .displaced })?.content == entry.content { return }
        // The document of a displaced file may have lost its name, too.
        let isNameless = entry.action == .displaced && saved[entry.file]?.contains(where: \.isNameless) ?? false
        saved[entry.file, default: []].append(
            Saved(content: entry.content, action: entry.action, isSynced: isSynced, isNameless: isNameless))
    }

    /// Appends within a minute of one another amend one version (DESIGN 5.1), from the first byte of the next on.
    private mutating func mergeAppends(_ entry: Entry) {
        guard let index = saved[entry.file]?.lastIndex(where: { $0.action != .displaced }),
            let last = saved[entry.file]?[index],
            last.action == .append, entry.content.pieces.starts(with: last.content.pieces)
        else { return }
        saved[entry.file]?.remove(at: index)
    }

    /// What was renamed over another document is that one's content from then on; its own history has no name.
    private mutating func lostName(_ entry: Entry) {
        for file in (origins[entry.file] ?? []).union([entry.file]) {
            for index in saved[file]?.indices ?? 0..<0 { saved[file]?[index].isNameless = true }
        }
    }

    /// What was found becomes what the next round starts from.
    mutating func settle(_ file: String, on content: Content?, _ found: [UInt8]?) {
        files[file] = [State(content: content, found: content == nil ? found : nil)]
    }

    // MARK: Judging

    /// What is wrong with the bytes that a file was found with; nil if nothing. Gives the content they are, if whole.
    func judge(_ file: String, _ found: [UInt8]?, _ ending: Ending) -> (problem: String?, content: Content?) {
        guard let states = files[file] else {
            return (found == nil ? nil : "\(file) is there, and nobody made it", nil)
        }
        let sure = states.lastIndex { ending == .kill ? $0.isDone || $0.isSynced : $0.isSynced } ?? 0
        let possible = states[sure...].flatMap { ending == .kill ? [$0] : $0.before + [$0] }[...]
        guard let found else {
            return (possible.contains { !$0.isThere } ? nil : "\(file) is gone; it had \(Self.text(states))", nil)
        }
        if let match = possible.last(where: { $0.bytes == found }) { return (nil, match.content) }
        for index in possible.indices.dropFirst() where isPartial(found, possible[index], after: possible[index - 1]) {
            return (nil, nil)
        }
        if ending == .powerCut, isTorn(found, possible) { return (nil, nil) }
        // A name that was taken away just before may have come back with what it had.
        if possible.contains(where: { !$0.isThere }),
            let match = states.flatMap({ $0.before + [$0] }).last(where: { $0.isThere && $0.bytes == found })
        {
            return (nil, match.content)
        }
        let whose = states.compactMap(\.content).first { $0.bytes == found }.map { "\($0), which is older" }
        return ("\(file) holds \(whose ?? Self.head(found)); it had \(Self.text(states))", nil)
    }

    /// Half of a new file is what any file system leaves of it; half of what was appended too.
    private func isPartial(_ found: [UInt8], _ state: State, after before: State) -> Bool {
        guard !state.isDone || !state.isSynced, let bytes = state.bytes, bytes.starts(with: found) else { return false }
        if !before.isThere { return true }
        return state.action == .append && found.count >= (before.bytes?.count ?? 0)
    }

    /// Whether every byte is one that the file had or was to have, or has not arrived: so may a new file be that nobody
    /// synchronized, and any that was being written to once more. (A page may go to the disk while it is filled.)
    private func isTorn(_ found: [UInt8], _ possible: ArraySlice<State>) -> Bool {
        // What a round before left of a new file is no older content, either.
        let isNew = possible.contains { !$0.isThere || $0.content == nil }
        // Nothing tells what came in part from an edit made while nobody had it mounted, if the file was being written
        // to once more (docs/decisions/0003, "not covered").
        let inPlace = possible.dropFirst().firstIndex { $0.isInPlace && !$0.isSynced }
        let isBeingWritten = inPlace.map { index in
            possible.last?.isDone == false || possible[index...].dropFirst().contains { $0.action == .append }
        } ?? false
        let isAppended = possible.dropFirst().contains { $0.action == .append && !$0.isSynced }
        guard isNew || isAppended && isZeroFilled(found, possible) || isBeingWritten else { return false }
        let contents = possible.compactMap(\.bytes)
        guard found.count <= contents.map(\.count).max() ?? 0 else { return false }
        return found.indices.allSatisfy { index in
            found[index] == 0 || contents.contains { index < $0.count && $0[index] == found[index] }
        }
    }

    /// Whether the beginning is one of the contents, and what was appended to that, once or more often, has not arrived
    /// in part. Nothing says so of an append that the catalog had not heard of.
    private func isZeroFilled(_ found: [UInt8], _ possible: ArraySlice<State>) -> Bool {
        possible.indices.contains { index in
            guard let old = possible[index].bytes, found.starts(with: old) else { return false }
            return possible[(index + 1)...].prefix { $0.action == .append }.contains { state in
                guard let new = state.bytes, found.count <= new.count else { return false }
                return found.indices.dropFirst(old.count).allSatisfy { found[$0] == 0 || found[$0] == new[$0] }
            }
        }
    }

    private static func text(_ states: [State]) -> String {
        states.suffix(8).map { state in
            let marks = (state.isDone ? "" : " begun") + (state.isSynced ? " synced" : "")
            let what = state.content.map(\.description) ?? state.found.map(head) ?? "nothing"
            return "\(state.action?.rawValue ?? "found") \(what)\(marks)"
        }.joined(separator: "; ")
    }

    static func head(_ bytes: [UInt8]) -> String {
        """
        \(bytes.count) bytes: \(String(decoding: bytes.prefix(24).map { $0 < 32 || $0 > 126 ? 46 : $0 }, as: UTF8.self))
        """
    }
}
