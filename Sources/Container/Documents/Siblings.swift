// An item's other versions as far as a save needs them, so that no thread waits for the catalog with a document locked.

import Synchronization
import VersionModel
import VersionStore

/// The versions of an item besides the current one, as far as they decide about its next save. Purged or resolved ones
/// may still be here, so the absence of a version is certain, its presence is not.
struct Siblings {
    private struct Content: Hashable {
        var size: UInt64
        var hash: [UInt8]
    }

    /// Beyond this number the catalog is read each time.
    private static let most = 4096

    /// Whether all versions are here; otherwise some may be only in the catalog.
    private(set) var isComplete: Bool
    /// Whether some have contents without a hash yet.
    private var hasUnhashed = false
    private var contents: Set<Content> = []
    /// The losers, with their contents.
    private var conflicts: [VersionID: ContentID] = [:]

    /// - Parameter isComplete: whether the item is new, without other versions.
    init(isComplete: Bool) { self.isComplete = isComplete }

    /// Adds a version that is not current.
    mutating func add(_ version: Version) {
        if version.kind == .conflict { conflicts[version.id] = version.content }
        if let hash = version.hash {
            contents.insert(Content(size: version.size, hash: hash))
        } else {
            hasUnhashed = true
        }
        if contents.count + conflicts.count > Self.most { self = Siblings(isComplete: false) }
    }

    /// Adds the versions of the catalog; those that came meanwhile are already here.
    mutating func add(all versions: [Version]) {
        isComplete = true
        for version in versions where version.kind != .current { add(version) }
    }

    /// Notes that the catalog has others.
    mutating func doubt() { isComplete = false }

    /// Whether one may have this content; nil if only the catalog knows.
    func mayHave(_ hash: [UInt8], size: UInt64) -> Bool? {
        if contents.contains(Content(size: size, hash: hash)) { return true }
        return isComplete && !hasUnhashed ? false : nil
    }

    /// Removes a loser and returns its content; nil if it is none. Call it only if ``isComplete``.
    mutating func takeConflict(_ version: VersionID) -> ContentID? { conflicts.removeValue(forKey: version) }
}

extension LiveContainer {
    /// Reads the versions that a save may need from the catalog, before the document is locked, because the read waits
    /// for the whole queue. Usually none are needed: the author has seen the current version, or has seen none.
    func learnSiblings(of document: Document, for requester: Requester) {
        let current: VersionID? = document.state.withLock { state in
            state.siblings.isComplete || !state.isRecorded ? nil : state.current?.id
        }
        guard let current, let actor = requester.actor, let base = observers.base(of: actor, item: document.item),
            base != current, let versions = try? store.versions(of: document.item)
        else { return }
        document.state.withLock { $0.siblings.add(all: versions) }
    }

    /// Whether a losing version has the content of the version that the winner's author had seen, or of another loser.
    func isLeftOut(_ loser: Version, base: VersionID, _ state: Document.State) -> Bool {
        guard let hash = loser.hash, state.siblings.mayHave(hash, size: loser.size) != false,
            let versions = try? store.versions(of: loser.item)
        else { return false }
        return versions.contains {
            SaveRule.isLeftOut(loser.id, besides: $0, base: base) && $0.size == loser.size && self.hash(of: $0) == hash
        }
    }

    /// The rules' decision on a save. The graph is read only for a possible rival, because the read waits for the
    /// catalog.
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

    /// Whether a version of the item descends from the current one.
    func goesBack(_ version: VersionID, to current: Version) -> Bool {
        guard let versions = try? store.versions(of: current.item) else { return false }
        return HeadRule.goesBack(version, to: current.id, in: versions.map { HistoryNode($0) })
    }

    /// Turns a conflict version into history when its author has carried it into a new save.
    func settle(_ version: VersionID, _ state: inout Document.State) -> VersionStore.Mutation? {
        let mayBeConflict = !state.siblings.isComplete || state.siblings.takeConflict(version) != nil
        // It may have been merged or resolved since: the catalog decides.
        guard mayBeConflict, let found = try? store.version(version), found.item == state.item, found.kind == .conflict
        else { return nil }
        custodian.relabel(version, in: found.content) { $0.kind = .history }
        return .kind(version, .history)
    }
}
