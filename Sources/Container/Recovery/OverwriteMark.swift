// A mark on files that get new content in place: the old content is kept, and comes back if a crash comes before the
// new content is whole.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

/// An extended attribute that names the content which a file had. On file systems without user attributes there is
/// none.
struct OverwriteMark: Equatable {
    private static let attribute = "user.versionsfs.overwriting".utf8.map { CChar(bitPattern: $0) } + [0]

    var content: ContentID

    init(content: ContentID) { self.content = content }

    init?(of file: Int32) {
        var value = [UInt8](repeating: 0, count: 16)
        guard linux_fgetxattr(file, Self.attribute, &value, value.count) == value.count,
            let content = ContentID(bytes: value)
        else { return nil }
        self.content = content
    }

    func set(on file: Int32) {
        let value = content.bytes
        _ = linux_fsetxattr(file, Self.attribute, value, value.count, 0)
    }

    static func remove(from file: Int32) { _ = linux_fremovexattr(file, attribute) }
}

extension CrashRecovery {
    /// A file that was getting new content in place at the crash has the old one again. That is asked first: its size
    /// and time may be those that it had.
    ///
    /// - Returns: the step that was taken, in a word; nil if none was needed.
    func undoOverwriting(_ item: Item, _ current: Version, _ live: Live) throws -> String? {
        guard let mark = OverwriteMark(of: live.file.raw) else { return nil }
        // A mark of a content that is not current is from an overwrite that is over; without a whole copy nothing had
        // been changed.
        guard mark.content == current.content, store.isWhole(current) else {
            OverwriteMark.remove(from: live.file.raw)
            return nil
        }
        let file = SharedDescriptor(
            try Backing.open(live.place.name.bytes, in: live.directory.raw, flags: O_RDWR | O_NOFOLLOW))
        guard try Backing.stat(file.raw).key == live.stat.key else { return nil }
        try store.contents.restore(current, into: FileDescriptor(rawValue: file.raw))
        OverwriteMark.remove(from: file.raw)
        let stat = try Backing.stat(file.raw)
        store.commit([.item(item.now(current, stat, container.fileID(stat)))])
        return "not overwritten"
    }
}
