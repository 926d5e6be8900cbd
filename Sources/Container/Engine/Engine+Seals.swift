// Versions of files that stay open, or mapped.

import Lineage
import SystemPackage
import VersionModel

extension Engine {
    /// What a handle has written so far becomes a version, and the handle stays open.
    ///
    /// - Parameters:
    ///   - goesOn: whether it goes on with this version. Else its next writes are another one.
    ///   - doubted: a file that may have changed although no time has moved.
    @discardableResult
    func seal(_ handle: HandleNumber, goesOn: Bool = false, doubted: FileID? = nil) throws(Errno) -> Plan {
        try perform(.seal(handle, goesOn: goesOn), doubted: doubted)
    }

    /// The engine looks at a file that it remembers, and does not remember this look. The result is nil if the file is
    /// gone, or if the engine does not remember it.
    func look(at id: FileID, isDoubted: Bool = false) throws(Errno) -> FileLooks.Look? {
        guard let known = scene.recall(id) else { return nil }
        return try FileLooks(files: parts.files).look(
            at: known.file, known.stamp, held: nil, isInDoubt: false, isWritten: false, isDoubted: isDoubted)
    }

    /// The version that a file held may be kept because a writer could have overwritten it unseen. If none has, and
    /// none can any more, the file itself has it.
    ///
    /// - Parameter drop: gives the kept content up.
    func dropUnneeded(of id: FileID, _ drop: (Content) -> Void) throws(Errno) {
        let subject: Subjects = [.file(id)]
        subjects.take(subject)
        defer { subjects.giveBack(subject) }
        while true {
            guard let file = scene.recall(id)?.file, let held = file.holds else { return }
            let log = PlanLog(known)
            let facts = Facts(over: log)
            let (version, last) = (facts[held], facts.lastContent(of: id))
            guard log.missing.isEmpty else {
                try load(log.missing)
                continue
            }
            // Once it is forgotten, it is at the last content that facts tell of.
            guard let version, version.content == last, last != file.content, version.content.file == id,
                version.fingerprint.size <= FileLooks.hashedAtOnce,
                let now = try look(at: id, isDoubted: true)?.file, !now.isChanged, !now.isKept,
                now.fingerprint == version.fingerprint, scene.forget(id)
            else { return }
            return drop(version.content)
        }
    }
}
