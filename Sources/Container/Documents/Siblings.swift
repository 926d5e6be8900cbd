// What a save has to know of its item's other versions, so that nobody waits for the catalog with a document locked.

import Synchronization
import VersionModel
import VersionStore

/// The versions of an item besides the current one, as far as they decide about its next save. What was purged or
/// resolved since may still be here: so what is not here is certain, what is here is not.
struct Siblings {
    private struct Content: Hashable {
        var size: UInt64
        var hash: [UInt8]
    }

    /// Beyond so many the catalog is asked each time.
    private static let most = 4096

    /// All versions are here; else some may be in the catalog alone.
    private(set) var isComplete: Bool
    /// Some are here whose content nobody has hashed yet.
    private var hasUnhashed = false
    private var contents: Set<Content> = []
    /// The losers, with their contents.
    private var conflicts: [VersionID: ContentID] = [:]

    /// - Parameter isComplete: the item is new, and has no others.
    init(isComplete: Bool) { self.isComplete = isComplete }

    /// A version is not current any more, or never was.
    mutating func add(_ version: Version) {
        if version.kind == .conflict { conflicts[version.id] = version.content }
        if let hash = version.hash {
            contents.insert(Content(size: version.size, hash: hash))
        } else {
            hasUnhashed = true
        }
        if contents.count + conflicts.count > Self.most { self = Siblings(isComplete: false) }
    }

    /// Adds what the catalog says; what came meanwhile is here already.
    mutating func add(all versions: [Version]) {
        isComplete = true
        for version in versions where version.kind != .current { add(version) }
    }

    /// The catalog has got others.
    mutating func doubt() { isComplete = false }

    /// Whether one may have this content; nil if only the catalog knows.
    func mayHave(_ hash: [UInt8], size: UInt64) -> Bool? {
        if contents.contains(Content(size: size, hash: hash)) { return true }
        return isComplete && !hasUnhashed ? false : nil
    }

    /// Takes out a loser; gives its content, or nil if it is none. Not to be asked unless ``isComplete``.
    mutating func takeConflict(_ version: VersionID) -> ContentID? { conflicts.removeValue(forKey: version) }
}

extension LiveContainer {
    /// Reads from the catalog what a save may have to know, before the document is locked: reading waits for all that
    /// is queued. Nearly always there is nothing to be known: the author has
    /// seen the current version, or has seen none.
    func learnSiblings(of document: Document, for requester: Requester) {
        let current: VersionID? = document.state.withLock { state in
            state.siblings.isComplete || !state.isRecorded ? nil : state.current?.id
        }
        guard let current, let actor = requester.actor, let base = observers.base(of: actor, item: document.item),
            base != current, let versions = try? store.versions(of: document.item)
        else { return }
        document.state.withLock { $0.siblings.add(all: versions) }
    }

    /// Whether a version that would lose has the content of the version that the winner's author had seen, or of
    /// another loser.
    func isLeftOut(_ loser: Version, base: VersionID, _ state: Document.State) -> Bool {
        guard let hash = loser.hash, state.siblings.mayHave(hash, size: loser.size) != false,
            let versions = try? store.versions(of: loser.item)
        else { return false }
        return versions.contains {
            SaveRule.isLeftOut(loser.id, besides: $0, base: base) && $0.size == loser.size && self.hash(of: $0) == hash
        }
    }

    /// What the rules say of a save. The graph is asked for only if it would make a rival: that waits for the catalog.
    func decide(_ save: Save, _ current: Version, _ state: Document.State, isQuiet: Bool) -> SaveDecision {
        let decision = SaveRule.decide(save, current: current.id, saver: state.saver, isQuiet: isQuiet)
        switch decision {
        case .conflict(let base), .orphan(as: .conflict, base: .some(let base)):
            guard goesBack(base, to: current) else { return decision }
        default: return decision
        }
        var save = save
        save.baseFollowsCurrent = true
        return SaveRule.decide(save, current: current.id, saver: state.saver, isQuiet: isQuiet)
    }

    /// Whether a version of the item came after the current one.
    func goesBack(_ version: VersionID, to current: Version) -> Bool {
        guard let versions = try? store.versions(of: current.item) else { return false }
        return HeadRule.goesBack(version, to: current.id, in: versions.map { HistoryNode($0) })
    }

    /// A conflict version that its author has carried on into a new save is history.
    func settle(_ version: VersionID, _ state: inout Document.State) -> VersionStore.Mutation? {
        let mayBeConflict = !state.siblings.isComplete || state.siblings.takeConflict(version) != nil
        // It may have been merged or resolved since: the catalog decides.
        guard mayBeConflict, let found = try? store.version(version), found.item == state.item, found.kind == .conflict
        else { return nil }
        relabel(version, in: found.content) { $0.kind = .history }
        return .kind(version, .history)
    }
}
