// Whether a state directory may be used at all: checked before any part of it is opened for use, or written.

import CLinux
import Glibc
import SystemPackage
import VersionModel

/// A state directory is not trusted only because it exists: another user may have planted it, or a part of it, to make
/// the daemon (especially root's) read, write or wait for other files. The inspection changes nothing and never waits.
struct StateInspection {
    /// Files that are opened by their names.
    private static let files: Set<String> = {
        var files: Set = [
            "format", "format.new", "redo", "redo.new", "redo2", "redo2.new", "marks", "ballast", "config.toml",
            "config.toml.new", "catalog.damaged",
        ]
        for catalog in catalogs {
            for suffix in ["", "-wal", "-shm", "-journal"] { files.insert(catalog + suffix) }
        }
        return files
    }()
    /// Of format 1, of facts, and one that an upgrade is making.
    private static let catalogs = ["catalog.sqlite", "catalog2.sqlite", "catalog2.new"]
    private static let directories = ["objects", "deleted", "staging"]
    /// At the end of a journal that names another journal, which SQLite would remove.
    private static let journalMagic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// The directory's owner, root, and the daemon's own user: their files are trusted.
    private let owners: Set<UInt32>

    init(root: FileDescriptor) throws(StoreError) {
        do throws(Errno) {
            owners = [try System.status(root).st_uid, 0, geteuid()]
        } catch { throw .io(error, "looking at the directory") }
    }

    /// Checks everything that is opened by name; succeeds if there is no state yet.
    func inspect(in root: FileDescriptor) throws(StoreError) {
        let name = StateDirectory.name
        let state: FileDescriptor
        do throws(Errno) {
            state = try System.openBeneath(name, in: root, O_RDONLY | O_DIRECTORY)
        } catch .noSuchFileOrDirectory { return } catch { throw Self.failure(error, name, "a directory") }
        defer { System.close(state) }
        try vouch(for: state, name)
        for name in try entries(of: state, name) {
            let path = "\(StateDirectory.name)/\(name)"
            if Self.files.contains(name) {
                try look(at: name, in: state, path, S_IFREG)
                if name.hasSuffix("-journal") { try lookIntoJournal(name, in: state, path) }
            } else if Self.directories.contains(name) {
                try look(at: name, in: state, path, S_IFDIR)
                if name != "staging" { try inspect(shelf: name, in: state, path) }
            }
        }
    }

    private func inspect(shelf name: String, in state: FileDescriptor, _ path: String) throws(StoreError) {
        let shelf: FileDescriptor
        do throws(Errno) {
            shelf = try System.openBeneath(name, in: state, O_RDONLY | O_DIRECTORY)
        } catch { throw Self.failure(error, path, "a directory") }
        defer { System.close(shelf) }
        for name in try entries(of: shelf, path) where name.utf8.count == 2 {
            try look(at: name, in: shelf, "\(path)/\(name)", S_IFDIR)
        }
    }

    /// Requires that an open directory belongs to one of the owners, and that only its owner can open the state's own
    /// directory.
    func vouch(for directory: FileDescriptor, _ path: String) throws(StoreError) {
        let status: stat
        do throws(Errno) { status = try System.status(directory) } catch { throw .io(error, "looking at \(path)") }
        try check(owner: status.st_uid, path)
        guard path == StateDirectory.name, status.st_mode & 0o077 != 0, linux_keeps_modes(directory.rawValue) != 0
        else {
            return
        }
        let mode = String(status.st_mode & 0o7777, radix: 8)
        throw .untrusted(
            "\(path) is open to others (mode \(mode))",
            advice: "if you know its whole content, chmod 700 it; otherwise move it away")
    }

    private func check(owner: UInt32, _ path: String) throws(StoreError) {
        guard !owners.contains(owner) else { return }
        throw .untrusted(
            "\(path) belongs to \(UserNames().name(of: owner)), neither to the directory's owner nor to root",
            advice: "if you know its whole content, chown it; otherwise move it away")
    }

    private func look(
        at name: String, in directory: FileDescriptor, _ path: String, _ expected: mode_t
    ) throws(StoreError) {
        let status: stat
        do throws(Errno) { status = try System.status(name, in: directory) } catch .noSuchFileOrDirectory {
            return
        } catch {
            throw .io(error, "looking at \(path)")
        }
        guard status.st_mode & S_IFMT == expected else {
            throw Self.wrong(path, expected == S_IFDIR ? "a directory" : "a file", is: Self.word(status.st_mode))
        }
        try check(owner: status.st_uid, path)
        // No hard link to these files is ever made here. A second name may mean that another user has linked a trusted
        // user's file here, for the daemon to write to.
        guard expected == S_IFREG, status.st_nlink > 1 else { return }
        throw .untrusted(
            "\(path) has \(status.st_nlink) names",
            advice: "find its other names; if you know its content, put a copy of the file in its place")
    }

    /// SQLite would remove any file that a journal names as its master journal.
    private func lookIntoJournal(
        _ name: String, in state: FileDescriptor, _ path: String
    ) throws(StoreError) {
        do throws(Errno) {
            let journal = try System.openRegular(name, in: state, O_RDONLY)
            defer { System.close(journal) }
            let size = try System.status(journal).st_size
            guard size >= 8 else { return }
            var tail = [UInt8](repeating: 0, count: 8)
            let count = try System.call { pread(journal.rawValue, &tail, 8, size - 8) }
            guard count == 8, tail == Self.journalMagic else { return }
        } catch { throw .io(error, "reading \(path)") }
        throw .untrusted("\(path) names another file for SQLite to remove", advice: "remove it")
    }

    private func entries(of directory: FileDescriptor, _ path: String) throws(StoreError) -> [String] {
        do throws(Errno) {
            return try System.entries(in: directory).map { String(decoding: $0.name.bytes, as: UTF8.self) }
        } catch { throw .io(error, "reading \(path)") }
    }

    /// The error for a part of the state that cannot be opened.
    static func failure(_ error: Errno, _ path: String, _ expected: String) -> StoreError {
        switch error {
        case .tooManySymbolicLinkLevels, .notDirectory, .illegalByteSequence, .isDirectory:
            wrong(path, expected, is: "something else")
        default: .io(error, "opening \(path)")
        }
    }

    private static func wrong(_ path: String, _ expected: String, is found: String) -> StoreError {
        .untrusted("\(path) is not \(expected) but \(found)", advice: "see where it comes from, and remove it")
    }

    private static func word(_ mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFLNK: "a symbolic link"
        case S_IFDIR: "a directory"
        case S_IFREG: "a file"
        case S_IFIFO: "a fifo"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }
}
