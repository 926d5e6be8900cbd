// Opens `.versionsfs`: makes it if allowed, checks the format, takes the lock, recognizes a copy.

import CLinux
import Glibc
import SystemPackage
import VersionModel

/// The open state directory and the descriptors below it. Closed by ``close()``.
struct StateDirectory {
    static let name = ".versionsfs"

    let state: FileDescriptor
    /// Holds the lock.
    var format: FileDescriptor
    let objects: FileDescriptor
    let deleted: FileDescriptor
    let staging: FileDescriptor
    /// nil: the format file is new or damaged.
    var line: FormatLine?
    /// What the file says, also where it is damaged.
    let writtenFormat: FormatLine.Format?
    /// The right value of `line.location`.
    let location: String
    let wasCreated: Bool

    init(root: FileDescriptor, readOnly: Bool) throws(StoreError) {
        var opened: [FileDescriptor] = []
        do throws(StoreError) {
            try Self.checkReservedName(root)
            let inspection = try StateInspection(root: root)
            try inspection.inspect(in: root)
            (state, wasCreated) = try Self.openState(root, readOnly: readOnly)
            opened.append(state)
            // It may have been replaced since.
            try inspection.vouch(for: state, Self.name)
            format = try Self.lockFormat(state, readOnly: readOnly)
            opened.append(format)
            (line, writtenFormat) = try Self.readFormat(format)
            location = try Self.location(of: state)
            objects = try Self.subdirectory("objects", of: state, inspection, readOnly: readOnly)
            opened.append(objects)
            deleted = try Self.subdirectory("deleted", of: state, inspection, readOnly: readOnly)
            opened.append(deleted)
            staging = try Self.subdirectory("staging", of: state, inspection, readOnly: readOnly)
        } catch {
            for descriptor in opened { System.close(descriptor) }
            throw error
        }
    }

    func close() {
        // A process that is being started has copies of the daemon's descriptors until it runs its own program, so
        // closing them here would not unlock yet.
        _ = linux_flock(format.rawValue, LOCK_UN)
        for descriptor in [staging, deleted, objects, format, state] { System.close(descriptor) }
    }

    /// Whether the state was made elsewhere: copied with its directory, or restored from a backup.
    func isCopy(of line: FormatLine?) -> Bool { line.map { $0.location != location } ?? false }

    /// Writes a new format line. The new file is locked before it becomes visible.
    mutating func write(_ line: FormatLine) throws(StoreError) {
        do throws(Errno) {
            let temporary = "format.new"
            try? System.unlink(temporary, in: state)
            let file = try System.openBeneath(temporary, in: state, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            do throws(Errno) {
                try System.call { linux_flock(file.rawValue, LOCK_EX | LOCK_NB) }
                try System.writeAll(Array(line.text.utf8), to: file)
                try System.call { fsync(file.rawValue) }
                try System.rename(temporary, in: state, to: "format", in: state)
            } catch {
                System.close(file)
                throw error
            }
            System.close(format)
            format = file
            self.line = line
        } catch { throw .io(error, "writing \(Self.name)/format") }
    }

    /// Removes the remains of interrupted operations.
    func emptyStaging() {
        for name in (try? System.names(in: staging)) ?? [] {
            if (try? System.unlink(name.cName, in: staging)) == nil {
                try? System.unlink(name.cName, in: staging, flags: AT_REMOVEDIR)
            }
        }
    }

    private static func checkReservedName(_ root: FileDescriptor) throws(StoreError) {
        do throws(Errno) {
            _ = try System.status(".versions", in: root)
        } catch .noSuchFileOrDirectory { return } catch { throw .io(error, "looking for .versions") }
        throw .reservedName
    }

    private static func openState(
        _ root: FileDescriptor, readOnly: Bool
    ) throws(StoreError) -> (FileDescriptor, wasCreated: Bool) {
        var wasCreated = false
        do throws(Errno) {
            if !readOnly {
                do throws(Errno) {
                    try System.call { mkdirat(root.rawValue, name, 0o700) }
                    wasCreated = true
                } catch .fileExists {}
            }
            let state = try System.openBeneath(name, in: root, O_RDONLY | O_DIRECTORY)
            // Copies are made away from the tree: without a journal, ext4 skips every inode that was freed nearby
            // within the last minutes, one by one, for each new file.
            if wasCreated { linux_spread_directories(state.rawValue) }
            return (state, wasCreated)
        } catch .noSuchFileOrDirectory { throw .notAContainer } catch {
            throw StateInspection.failure(error, name, "a directory")
        }
    }

    private static func subdirectory(
        _ name: String, of state: FileDescriptor, _ inspection: StateInspection, readOnly: Bool
    ) throws(StoreError) -> FileDescriptor {
        let path = "\(Self.name)/\(name)"
        let directory: FileDescriptor
        do throws(Errno) {
            if !readOnly { try System.makeDirectory(name, in: state) }
            directory = try System.openBeneath(name, in: state, O_RDONLY | O_DIRECTORY)
        } catch { throw StateInspection.failure(error, path, "a directory") }
        do throws(StoreError) { try inspection.vouch(for: directory, path) } catch {
            System.close(directory)
            throw error
        }
        return directory
    }

    /// Locks the file that has the name `format` when the lock is held: it may be replaced between open and lock.
    private static func lockFormat(_ state: FileDescriptor, readOnly: Bool) throws(StoreError) -> FileDescriptor {
        do throws(Errno) {
            while true {
                let flags = readOnly ? O_RDONLY : O_RDWR | O_CREAT
                let file = try System.openRegular("format", in: state, flags, mode: 0o600)
                do throws(Errno) {
                    try System.call { linux_flock(file.rawValue, (readOnly ? LOCK_SH : LOCK_EX) | LOCK_NB) }
                    let (ours, named) = (try System.status(file), try System.status("format", in: state))
                    if ours.st_ino == named.st_ino { return file }
                    System.close(file)
                } catch {
                    System.close(file)
                    throw error
                }
            }
        } catch .wouldBlock { throw .inUse } catch .noSuchFileOrDirectory {
            throw .notAContainer
        } catch .illegalByteSequence {
            throw StateInspection.failure(.illegalByteSequence, "\(name)/format", "a file")
        } catch { throw .io(error, "locking \(name)/format") }
    }

    private static func readFormat(
        _ format: FileDescriptor
    ) throws(StoreError) -> (FormatLine?, written: FormatLine.Format?) {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try System.contents(of: format, limit: 4096)
        } catch { throw .io(error, "reading \(name)/format") }
        // Empty: created, but not written before a crash.
        guard !bytes.isEmpty else { return (nil, nil) }
        let text = String(decoding: bytes, as: UTF8.self)
        switch FormatLine.read(text) {
        case .known(let line): return (line, line.format)
        case .damaged(let format): return (nil, format)
        case .unknown: throw .unknownFormat(String(text.prefix { $0 != "\n" }.prefix(200)))
        case .foreign: throw .damagedFormat
        }
    }

    static func location(of state: FileDescriptor) throws(StoreError) -> String {
        do throws(Errno) {
            var system = statvfs()
            try System.call { fstatvfs(state.rawValue, &system) }
            let status = try System.extendedStatus("", in: state)
            // xfs gives the number of its device, which may change at a reboot.
            let fileSystem = UInt64(system.f_fsid) == status.device ? 0 : UInt64(system.f_fsid)
            return [fileSystem, status.inode, UInt64(bitPattern: status.birth.nanoseconds)]
                .map { String($0, radix: 16) }.joined(separator: ":")
        } catch { throw .io(error, "looking at \(name)") }
    }
}
