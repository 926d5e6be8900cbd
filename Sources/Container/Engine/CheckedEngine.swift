// The container over the engine, as a check looks at it.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// What a check asks of the engine.
struct CheckedEngine: CheckedContainer {
    let recorded: RecordedTree

    private var engine: Engine { recorded.engine }

    /// Names may be changing: one that is missed is looked for again while none does.
    func look(for file: FileID) -> CheckedFile {
        if recorded.files.inReach(file) != nil { return .there }
        if case .there = found(file) { return .there }
        return recorded.tree.names.reading { found(file) }
    }

    private func found(_ file: FileID) -> CheckedFile {
        do throws(Errno) {
            for row in try engine.names(of: file) {
                guard let path = recorded.path(of: row) else { return .unknown }
                guard let stat = try stat(path) else { continue }
                if recorded.tree.fileID(stat) == file { return .there }
                // A file system that is mounted over the file hides it.
                guard stat.key.device == recorded.tree.rootKey.device else { return .unknown }
            }
            return .gone
        } catch { return .unknown }
    }

    private func stat(_ path: TreePath) throws(Errno) -> FileStat? {
        do throws(Errno) {
            let flags = linux_O_PATH | O_NOFOLLOW
            let found = SharedDescriptor(
                try Backing.open(beneath: path.bytes, in: recorded.tree.root.raw, flags: flags))
            return try Backing.stat(found.raw)
        } catch {
            guard error == .noSuchFileOrDirectory || error == .notDirectory else { throw error }
            return nil
        }
    }

    func isOpen(_ file: FileID) -> Bool {
        recorded.files.inReach(file) != nil || engine.scene.openFiles.contains(file)
    }

    func isKnown(_ content: Content) -> Bool { engine.known.hasVersion(in: content) }

    func alone<Answer>(
        with file: FileID, _ body: () throws(StoreError) -> Answer
    ) throws(StoreError) -> Answer {
        let subject: Subjects = [.file(file)]
        engine.subjects.take(subject)
        defer { engine.subjects.giveBack(subject) }
        return try recorded.tree.names.writing { _ throws(StoreError) in try body() }
    }

    func remember(_ facts: [Fact]) { engine.known.record(facts) }
}
