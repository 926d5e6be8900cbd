// A shelf: entries named by 128-bit identities in 256 subdirectories, each with its label. Under objects/ and deleted/.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel

/// One of the two directories for kept files. Thread-safe: it holds only descriptors and a hint.
final class Shelf: Sendable {
    /// `objects` or `deleted`, open as long as the store.
    let directory: FileDescriptor
    /// For incomplete sidecars and copies.
    let staging: FileDescriptor
    let space: SpaceMeter
    /// Cleared when the file system has no user attributes, to save useless calls.
    private let hasAttributes = Atomic<Bool>(true)
    private let subdirectories: Subdirectories
    /// Notes each new name here.
    let settling: Settling

    init(directory: FileDescriptor, staging: FileDescriptor, space: SpaceMeter, settling: Settling) {
        self.settling = settling
        self.directory = directory
        self.staging = staging
        self.space = space
        subdirectories = Subdirectories(of: directory)
    }

    // MARK: Names

    /// `xx/<32 hex digits>`, `xx` being the first byte.
    static func name<Subject>(_ id: Identifier<Subject>) -> CName {
        var name = digits(id, behind: 3)
        (name[0], name[1], name[2]) = (name[3], name[4], 47)
        return name
    }

    /// The 32 digits of an identity and a NUL, after this many bytes for the caller to fill in.
    private static func digits<Subject>(_ id: Identifier<Subject>, behind room: Int) -> CName {
        CName(unsafeUninitializedCapacity: room + 33) { name, count in
            for index in 0..<room { name[index] = 0 }
            for index in 0..<16 {
                name[room + index] = digit(id.high >> (60 - 4 * UInt64(index)))
                name[room + 16 + index] = digit(id.low >> (60 - 4 * UInt64(index)))
            }
            name[room + 32] = 0
            count = room + 33
        }
    }

    private static func digit(_ value: UInt64) -> CChar {
        let low = CChar(truncatingIfNeeded: value & 15)
        return low < 10 ? 48 + low : 87 + low
    }

    /// The name of the sidecar file beside an entry.
    static func sidecar(_ name: CName) -> CName { name.dropLast() + [46, 108, 97, 98, 101, 108, 0] }

    /// The directory of an entry, open as long as the store; its name there is ``leaf(_:)``.
    func place(of entry: CName, making: Bool = false) throws(Errno) -> FileDescriptor {
        try subdirectories.descriptor(of: entry, making: making)
    }

    /// The name of an entry in its subdirectory.
    static func leaf(_ entry: CName) -> CName { Array(entry.dropFirst(3)) }

    /// The place of an entry, for `…at` calls. If its subdirectory is missing or invalid, a name that does not exist.
    func whereabouts<Subject>(of id: Identifier<Subject>) -> (directory: FileDescriptor, name: String) {
        let place = try? place(of: Self.name(id))
        return (place ?? directory, id.hex)
    }

    /// The attributes of the entry of that name.
    func status(of entry: CName) throws(Errno) -> stat {
        try System.status(Self.leaf(entry), in: place(of: entry))
    }

    /// Opens a file of this shelf for reading; another type of file is EILSEQ. A file may have come with a mode that
    /// forbids reading: the mode allows it for the moment of the opening.
    func open(_ entry: CName) throws(Errno) -> FileDescriptor {
        let (name, directory) = (Self.leaf(entry), try place(of: entry))
        do throws(Errno) { return try System.openRegular(name, in: directory, O_RDONLY) } catch {
            guard error == .permissionDenied else { throw error }
        }
        let file = try System.openBeneath(name, in: directory, linux_O_PATH)
        defer { System.close(file) }
        return try OwnerReading.allow(of: file.rawValue) { () throws(Errno) in
            try System.openRegular(name, in: directory, O_RDONLY)
        }
    }

    /// Moves a file or directory here; it replaces an existing entry.
    func take(_ name: CName, of source: FileDescriptor, as entry: CName) throws(Errno) {
        try System.rename(name, in: source, to: Self.leaf(entry), in: place(of: entry, making: true))
        settling.noteArrival()
    }

    // MARK: Labels

    /// Labels the file of that name at its present place. `false` if its file system or type has no user attributes (or
    /// they are full, or its mode forbids it); the label then goes into a sidecar.
    func attach(_ label: [UInt8], to name: CName, in directory: FileDescriptor) throws(Errno) -> Bool {
        guard hasAttributes.load(ordering: .relaxed) else { return false }
        let code = linux_setxattrat(directory.rawValue, name, LabelCoding.attribute, label, label.count)
        if code == 0 { return true }
        let error = Errno(rawValue: errno)
        switch error {
        case .notSupported:
            hasAttributes.store(false, ordering: .relaxed)
            return false
        case .notPermitted, .permissionDenied, .noSpace, .outOfRange, .argListTooLong, .fileTooLarge: return false
        default: throw error
        }
    }

    func attach(_ label: [UInt8], to file: FileDescriptor) -> Bool {
        linux_fsetxattr(file.rawValue, LabelCoding.attribute, label, label.count, 0) == 0
    }

    /// Removes the label of the file of that name, if it has one.
    func detach(from name: CName, in directory: FileDescriptor) {
        _ = linux_lremovexattr(System.path(name, in: directory), LabelCoding.attribute)
    }

    /// Writes the sidecar of an entry, atomically.
    func writeSidecar(_ label: [UInt8], for name: CName) throws(Errno) {
        let temporary = Self.temporaryName()
        let file = try System.openBeneath(temporary, in: staging, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        do throws(Errno) {
            defer { System.close(file) }
            try System.writeAll(label, to: file)
        } catch {
            try? System.unlink(temporary, in: staging)
            throw error
        }
        try take(temporary, of: staging, as: Self.sidecar(name))
    }

    func removeSidecar(of name: CName) {
        guard let place = try? place(of: name) else { return }
        _ = unlinkat(place.rawValue, Self.leaf(Self.sidecar(name)), 0)
    }

    /// Replaces the label of an entry.
    func relabel(_ name: CName, _ label: [UInt8]) throws(Errno) {
        let place = try place(of: name)
        if try attach(label, to: Self.leaf(name), in: place) {
            removeSidecar(of: name)
        } else {
            _ = try status(of: name)
            try writeSidecar(label, for: name)
            detach(from: Self.leaf(name), in: place)
        }
    }

    /// The label of an entry; ENODATA if it has none.
    func label(of name: CName) throws(Errno) -> [UInt8] {
        let place = try place(of: name)
        let path = System.path(Self.leaf(name), in: place)
        var buffer = [UInt8](repeating: 0, count: 1024)
        var count = linux_lgetxattr(path, LabelCoding.attribute, &buffer, buffer.count)
        if count < 0, errno == ERANGE {
            buffer = [UInt8](repeating: 0, count: 65_536)
            count = linux_lgetxattr(path, LabelCoding.attribute, &buffer, buffer.count)
        }
        if count >= 0 { return Array(buffer.prefix(count)) }
        do throws(Errno) { return try System.contents(of: Self.leaf(Self.sidecar(name)), in: place) } catch {
            _ = try status(of: name)
            throw error == .noSuchFileOrDirectory ? .noData : error
        }
    }

    // MARK: Entries

    /// Puts a labeled file or directory here under its new name. The label goes first, so that every entry always has
    /// one; `move` does the rest.
    func put(
        _ name: CName, of source: FileDescriptor, as entry: CName, label: [UInt8], labelsInode: Bool = true,
        _ move: (_ place: FileDescriptor, _ leaf: CName) throws(Errno) -> Void
    ) throws(Errno) {
        let attached = labelsInode ? try attach(label, to: name, in: source) : false
        if !attached { try writeSidecar(label, for: entry) }
        do throws(Errno) {
            let place = try place(of: entry, making: true)
            try move(place, Self.leaf(entry))
        } catch {
            if attached { detach(from: name, in: source) } else { removeSidecar(of: entry) }
            throw error
        }
        settling.noteArrival()
        space.added(entry, allocated: allocated(entry))
    }

    /// Unlinks an entry, then its sidecar.
    func remove(_ name: CName) throws(Errno) {
        let (place, leaf) = (try place(of: name), Self.leaf(name))
        let isDirectory = try System.status(leaf, in: place).st_mode & S_IFMT == S_IFDIR
        let allocated = try Occupied.bytes(leaf, in: place)
        try System.unlink(leaf, in: place, flags: isDirectory ? AT_REMOVEDIR : 0)
        removeSidecar(of: name)
        space.removed(name, allocated: allocated)
    }

    /// The bytes of an entry on the disk; 0 if it does not exist.
    func allocated(_ name: CName) -> Int64 {
        (try? Occupied.bytes(Self.leaf(name), in: place(of: name))) ?? 0
    }

    /// The identities of all entries, subdirectory by subdirectory.
    func forEach<Subject>(_ body: (Identifier<Subject>) -> Void) throws(Errno) {
        for name in try System.names(in: directory) where name.bytes.count == 2 {
            for id: Identifier<Subject> in try identities(in: name) { body(id) }
        }
    }

    /// The same for entries that have come here since a time, by the clock of files: a name that comes changes the
    /// times of its subdirectory, and of its file.
    func forEach<Subject>(
        since time: Timestamp, _ body: (Identifier<Subject>) -> Void
    ) throws(Errno) {
        for name in try System.names(in: directory) where name.bytes.count == 2 {
            guard try isChanged(name, in: directory, since: time) else { continue }
            for id: Identifier<Subject> in try identities(in: name, since: time) { body(id) }
        }
    }

    /// What is gone meanwhile has not.
    private func isChanged(
        _ name: FileName, in directory: FileDescriptor, since time: Timestamp
    ) throws(Errno) -> Bool {
        do throws(Errno) {
            return try System.extendedStatus(name.cName, in: directory).change >= time
        } catch .noSuchFileOrDirectory { return false }
    }

    private func identities<Subject>(
        in name: FileName, since time: Timestamp? = nil
    ) throws(Errno) -> [Identifier<Subject>] {
        let subdirectory: FileDescriptor
        do throws(Errno) {
            subdirectory = try System.openBeneath(name.cName, in: directory, O_RDONLY | O_DIRECTORY)
        } catch .noSuchFileOrDirectory { return [] } catch .notDirectory { return [] }
        defer { System.close(subdirectory) }
        var identities: [Identifier<Subject>] = []
        for entry in try System.names(in: subdirectory) where entry.bytes.count == 32 {
            if let time, try !isChanged(entry, in: subdirectory, since: time) { continue }
            if let id = Identifier<Subject>(hex: String(decoding: entry.bytes, as: UTF8.self)) {
                identities.append(id)
            }
        }
        return identities
    }

    static func temporaryName() -> CName {
        // Without the two digits and the slash of an entry's name.
        digits(ContentID.random(), behind: 0)
    }
}
