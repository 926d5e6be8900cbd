// Which files are databases or parts of them (DESIGN 5.1): the rules, asked of open files.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension DatabaseRule {
    /// Whether a file is a database, by its name or its first bytes.
    static func isDatabase(_ name: FileName, file: Int32) -> Bool {
        database(ofJournal: name) == nil
            && isDatabase(name, header: SharedDescriptor.bytes(of: file, 0, headerLength))
    }

    /// Whether a name is the journal of a database beside it: a part of the database, not a document.
    static func isPart(_ name: FileName, in directory: SharedDescriptor) -> Bool {
        guard let database = database(ofJournal: name),
            let file = SharedDescriptor.forLook(database, in: directory)
        else { return false }
        return withExtendedLifetime(file) { isDatabase(database, file: file.raw) }
    }

    /// Whether a name is a database's that has a log, or a transaction under way: its file alone is not what readers of
    /// the database see.
    static func isAtWork(_ name: FileName, in directory: SharedDescriptor) -> Bool {
        guard database(ofJournal: name) == nil, let file = SharedDescriptor.forLook(name, in: directory) else {
            return false
        }
        return withExtendedLifetime(file) {
            hasLog(name, file: file.raw, in: directory)
                || isDatabase(name, file: file.raw) && hasHotJournal(name, in: directory)
        }
    }

    private static func hasHotJournal(_ name: FileName, in directory: SharedDescriptor) -> Bool {
        journals(of: name).contains { journal in
            SharedDescriptor.forLook(journal, in: directory).map { isHot(journal: $0.bytes(0, 8)) } ?? false
        }
    }

    /// Whether a database's file lacks data that its log has: then it is not compared with the capture.
    static func hasLog(_ name: FileName, file: Int32, in directory: SharedDescriptor) -> Bool {
        guard isDatabase(name, file: file) else { return false }
        return journals(of: name).contains { journal in
            guard isLog(journal), let log = SharedDescriptor.forLook(journal, in: directory) else { return false }
            return withExtendedLifetime(log) { WriteAheadLog { log.bytes($0, $1) } != nil }
        }
    }
}

extension SharedDescriptor {
    /// A regular file, open for reading; nil for another type, which does not block either.
    static func forLook(_ name: FileName, in directory: SharedDescriptor) -> SharedDescriptor? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        guard let raw = (try? Backing.open(name.bytes, in: directory.raw, flags: flags | linux_O_NOATIME))
            ?? (try? Backing.open(name.bytes, in: directory.raw, flags: flags))
        else { return nil }
        let file = SharedDescriptor(raw)
        guard let stat = try? Backing.stat(file.raw), stat.isRegular else { return nil }
        return file
    }

    /// A part of the file, as far as it can be read.
    func bytes(_ offset: UInt64, _ count: Int) -> [UInt8] { Self.bytes(of: raw, offset, count) }

    static func bytes(of file: Int32, _ offset: UInt64, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(file, &bytes, count, off_t(clamping: offset))
        return Array(bytes.prefix(max(0, read)))
    }
}
