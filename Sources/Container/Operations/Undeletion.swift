// One undeletion as it runs: entry after entry out of the deleted area, each complete before the next is begun, so that
// it can end after any of them and go on later.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Moves a deleted thing back, with what was deleted from it. What one entry fails of keeps no other from coming back;
/// a full disk or the like ends it. Used by one thread.
final class Undeletion {
    typealias Children = [FileID: [Deletion]]

    /// How many failures are told of by name.
    private static let told = 100

    private let undeleting: Undeleting
    private var host: any UndeletingContainer { undeleting.host }
    /// Whose rights count where the undeletion begins.
    let principal: Principal
    let requester: Requester
    /// Whether the kernel is told of the first name: not where it asked for that itself, and holds its directory.
    let tellsOfTop: Bool
    let report: (Int) throws -> Void
    /// Hears how many entries there are, before the first one.
    let expecting: (Int) -> Void

    private(set) var count = 0
    /// How many of them are directories.
    private(set) var directories = 0
    private(set) var problems: [(path: TreePath, problem: OperationError)] = []
    private var unfinished: UnfinishedUndelete?

    init(
        _ undeleting: Undeleting, as principal: Principal, by requester: Requester, tellsOfTop: Bool = true,
        report: @escaping (Int) throws -> Void, expecting: @escaping (Int) -> Void = { _ in }
    ) {
        self.undeleting = undeleting
        self.principal = principal
        self.requester = requester
        self.tellsOfTop = tellsOfTop
        self.expecting = expecting
        self.report = report
    }

    // MARK: Beginning

    /// Brings back an entry and what was deleted from it.
    func run(_ deletion: Deletion, to path: TreePath, _ children: Children) throws {
        if deletion.type == .directory, !(children[deletion.file] ?? []).isEmpty {
            let begun = UnfinishedUndelete(deletion, user: principal.user)
            unfinished = begun
            host.note(begun)
        }
        expecting(1 + (deletion.type == .directory ? Self.count(below: [deletion.file], children) : 0))
        do {
            try bringBack(deletion, to: path, children, as: principal, tells: tellsOfTop)
        } catch {
            // Nothing has come back: nothing is left to go on with.
            if count == 0, let unfinished { host.forget(unfinished) }
            throw error
        }
        finish()
    }

    /// Brings back what is still missing in directories that are there.
    /// - Parameter mayTake: whether the principal's rights count in each of them, or have been looked at before.
    func goOn(
        _ unfinished: UnfinishedUndelete?, _ directories: [TreePath: FileID], _ children: Children, asked: Bool
    ) throws {
        self.unfinished = unfinished
        expecting(Self.count(below: Array(directories.values), children))
        for (path, file) in directories.sorted(by: { $0.key < $1.key }) {
            let known = unfinished?.open.first { $0.file == file }
            try fill(file, at: path, children, mode: known?.mode, as: asked ? principal : .container)
        }
        // Those above were waiting for what was in them.
        for directory in (self.unfinished?.open ?? []).reversed() {
            guard let path = Finder(host).livePath(of: directory.file) else { continue }
            try close(directory, at: path)
        }
        finish()
    }

    /// The number of entries that were deleted from directories, and from deleted directories there. A name that was
    /// deleted twice comes back once.
    static func count(below directories: [FileID], _ children: Children) -> Int {
        var (waiting, count) = (directories, 0)
        while let file = waiting.popLast() {
            let names = Dictionary(grouping: children[file] ?? [], by: \.place.name)
            count += names.count
            let latest = names.values.compactMap { $0.max { $0.deleted < $1.deleted } }
            waiting += latest.filter { $0.type == .directory }.map(\.file)
        }
        return count
    }

    private func finish() {
        guard let unfinished, problems.isEmpty else { return }
        host.forget(unfinished)
    }

    // MARK: Entries

    private func bringBack(
        _ deletion: Deletion, to path: TreePath, _ children: Children, as principal: Principal, tells: Bool = true,
        isChild: Bool = false
    ) throws {
        do {
            try host.moveOut(deletion, to: path, as: principal, by: requester, tells: tells)
            count += 1
            if deletion.type == .directory { directories += 1 }
        } catch {
            guard isChild, try cameBack(deletion) else { throw error }
        }
        guard deletion.type == .directory else { return try report(count) }
        // What comes back below a directory comes with it: the rights on the directory have been looked at.
        try fill(deletion.file, at: path, children, mode: deletion.attributes.mode, as: .container)
    }

    /// - Parameter mode: of the directory; nil leaves it as it is.
    private func fill(
        _ file: FileID, at path: TreePath, _ children: Children, mode: UInt32?, as principal: Principal
    ) throws {
        try report(count)
        // The same name may have been deleted twice: only the last was there when the directory went. What was deleted
        // first comes back last: it knows the times that the directory had.
        let latest = Dictionary(grouping: children[file] ?? [], by: \.place.name).compactMap { entries in
            entries.value.max { $0.deleted < $1.deleted }
        }.sorted { ($1.deleted, $0.place.name) < ($0.deleted, $1.place.name) }
        guard let first = latest.last else { return }
        let directory = try open(file, at: path, mode: mode, first)
        for child in latest {
            do {
                try bringBack(child, to: path.appending(child.place.name), children, as: principal, isChild: true)
            } catch {
                try note(OperationError.wrap(error), path.appending(child.place.name))
            }
        }
        try close(directory, at: path)
    }

    /// Notes a directory that will have its mode and times again, and sees to it that names can be made in it.
    private func open(
        _ file: FileID, at path: TreePath, mode: UInt32?, _ first: Deletion
    ) throws -> UnfinishedUndelete.OpenDirectory {
        if let known = unfinished?.open.first(where: { $0.file == file }) { return known }
        let isWritable = mode.map { $0 & 0o300 == 0o300 } ?? true
        let directory = UnfinishedUndelete.OpenDirectory(
            file: file, mode: isWritable ? nil : mode, accessed: first.parentAccessed, modified: first.parentModified)
        unfinished?.open.append(directory)
        if let unfinished { host.note(unfinished) }
        if let mode = directory.mode { try undeleting.setMode(mode | 0o700, of: path) }
        return directory
    }

    private func close(_ directory: UnfinishedUndelete.OpenDirectory, at path: TreePath) throws {
        if let mode = directory.mode { try undeleting.setMode(mode, of: path) }
        undeleting.setTimes(accessed: directory.accessed, modified: directory.modified, of: path)
        unfinished?.open.removeAll { $0.file == directory.file }
    }

    /// Whether another request, such as an earlier one that is about to end, has restored an entry meanwhile.
    private func cameBack(_ deletion: Deletion) throws -> Bool {
        guard try host.history.deletion(deletion.id) == nil else { return false }
        return deletion.type != .directory || Finder(host).livePath(of: deletion.file) != nil
    }

    /// What one entry fails of is told of later; what every further one would fail of ends the undeletion.
    private func note(_ error: OperationError, _ path: TreePath) throws {
        var error = error
        if error.path == nil { error.path = path }
        if error.isHopeless { throw error }
        host.logger.info("not undeleted with its directory: \(path): \(error)")
        if problems.count < Self.told { problems.append((path, error)) }
    }
}

extension OperationError {
    /// Whether every further entry would fail of it, too.
    var isHopeless: Bool {
        let hopeless: Set<Errno> = [
            .noSpace, .diskQuotaExceeded, .ioError, .readOnlyFileSystem, .tooManyOpenFiles, .tooManyOpenFilesInSystem,
            .noMemory,
        ]
        return kind == .cancelled || errno.map(hopeless.contains) ?? false
    }
}
