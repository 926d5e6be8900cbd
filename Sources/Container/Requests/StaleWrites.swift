// What becomes of saves from stale content under `stale-writes`: refused, or merged (DESIGN 6.3).

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Refuses what would replace a version that its program has not seen, where nothing has happened yet. The kernel asks
/// a second time and gets the same answer; listeners are told once.
final class StaleWrites: Sendable {
    private struct Link { weak var browsing: EngineBrowsing? }

    /// More versions of refused programs are not remembered.
    private static let most = 1000

    private let recorded: RecordedTree
    private let policy: Policy
    /// What programs were refused to replace, by the versions that they have not seen. Innermost.
    private let refused = RankedMutex([VersionNumber: [ActorNumber: BackupReads.Watched]]())
    /// Innermost.
    private let link = RankedMutex(Link())

    init(_ recorded: RecordedTree, _ policy: Policy) { (self.recorded, self.policy) = (recorded, policy) }

    /// Says where saves are merged.
    func connect(_ browsing: EngineBrowsing) { link.withLock { $0.browsing = browsing } }

    /// Merges what the event has saved with what it has replaced unseen. Called with no lock held.
    /// - Parameter isNaming: whether the request at hand holds names of the directory.
    func merge(after plan: Plan, isNaming: Bool = false) {
        guard policy.settings.staleWrites == .merge, let browsing = link.withLock(\.browsing) else { return }
        EngineMerging(ground: browsing.ground).merge(after: plan, isNaming: isNaming)
    }

    private var isRefusing: Bool { policy.settings.staleWrites == .refuse }

    /// - Parameter isSame: whether the content that would come is that of the version; asked last.
    func refuse(
        _ program: RecordedTree.Program, at place: PlaceNumber,
        unless isSame: (VersionRow) throws(Errno) -> Bool = { _ in false }
    ) throws(Errno) {
        guard isRefusing, let replaced = try replaced(by: program, at: place) else { return }
        let version = replaced.version
        guard replaced.isStale || isRefused(program, version), try !isSame(version) else { return }
        guard let name = try self.place(place) else { return }
        let document = BackupReads.Watched(file: replaced.file, place: name)
        recorded.backupReads.watch(document, by: program.number)
        let isFirst = refused.withLock { refused in
            if refused[version.number] == nil, refused.count >= Self.most { refused.removeAll() }
            return refused[version.number, default: [:]].updateValue(document, forKey: program.number) == nil
        }
        if isFirst {
            var told = FactTransaction()
            let circumstances = FactEvent.Circumstances(
                time: recorded.engine.parts.clock.now(), actor: program.number)
            told.events = [.refused(version.number, circumstances)]
            recorded.facts.commit(told)
        }
        throw Errno(rawValue: ESTALE)
    }

    /// A refused program must not remove the name instead: vim would, and leave an empty file
    /// (docs/decisions/0008-refused-unlink.md).
    func refuseRemoval(by program: RecordedTree.Program, at place: PlaceNumber) throws(Errno) {
        guard isRefusing, refused.withLock({ !$0.isEmpty }),
            let replaced = try replaced(by: program, at: place), isRefused(program, replaced.version)
        else { return }
        throw Errno(rawValue: ESTALE)
    }

    private func replaced(
        by program: RecordedTree.Program, at place: PlaceNumber
    ) throws(Errno) -> Planning.Replaced? {
        try recorded.engine.answer { (planning, _) in planning.replaced(by: program.number, at: place) }
    }

    /// Whether a program was refused, and has not read the document since: to put back a copy, as vim does, is no look
    /// at it.
    private func isRefused(_ program: RecordedTree.Program, _ version: VersionRow) -> Bool {
        guard let document = refused.withLock({ $0[version.number]?[program.number] }) else { return false }
        return recorded.backupReads.hasNotRead(document, by: program.number)
    }

    private func place(_ number: PlaceNumber) throws(Errno) -> Place? {
        do throws(StoreError) { return try recorded.facts.place(number) } catch { throw .ioError }
    }

    /// Whether a file that is about to be renamed over a document has its current content: that replaces nothing. In
    /// this way vim puts back a copy that it has made, once it was refused.
    static func puts(_ found: FoundName, backAs version: VersionRow) throws(Errno) -> Bool {
        guard found.stat.size == version.fingerprint.size, found.stat.size <= FileLooks.hashedAtOnce else {
            return false
        }
        let file = SharedDescriptor(
            try Backing.openQuietly(found.name.bytes, in: found.directory.raw, found.stat.key))
        return FileLooks.fingerprint(of: file.raw, found.stat, as: version.content) == version.fingerprint
    }
}
