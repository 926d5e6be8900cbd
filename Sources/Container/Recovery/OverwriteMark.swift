// A mark on a file during an overwrite in place: the old content is kept, and comes back after a crash before the new
// content is complete.

import CLinux
import Glibc
import VersionModel

/// An extended attribute with the file's old content and a description of the new one. File systems without user
/// attributes have no mark.
struct OverwriteMark: Equatable {
    private static let attribute = "user.versionsfs.overwriting".utf8.map { CChar(bitPattern: $0) } + [0]
    private static let identityLength = 16
    private static let sizesLength = 32
    private static let length = 64

    /// The two contents.
    struct Change: Equatable {
        var oldSize: UInt64
        var newSize: UInt64
        /// SHA-256 of the new content; nil if it is long.
        var newHash: [UInt8]?
    }

    var content: ContentID
    /// Nil in marks of a former release.
    var change: Change?

    init(content: ContentID, change: Change?) {
        self.content = content
        self.change = change
    }

    init?(of file: Int32) {
        var value = [UInt8](repeating: 0, count: Self.length)
        let count = linux_fgetxattr(file, Self.attribute, &value, value.count)
        guard [Self.identityLength, Self.sizesLength, Self.length].contains(count),
            let content = ContentID(bytes: Array(value.prefix(Self.identityLength)))
        else { return nil }
        self.content = content
        guard count >= Self.sizesLength else { return }
        change = Change(
            oldSize: Self.number(value[16..<24]), newSize: Self.number(value[24..<32]),
            newHash: count == Self.length ? Array(value[Self.sizesLength...]) : nil)
    }

    func set(on file: Int32) {
        var value = content.bytes
        if let change {
            value += Self.bytes(change.oldSize) + Self.bytes(change.newSize) + (change.newHash ?? [])
        }
        _ = linux_fsetxattr(file, Self.attribute, value, value.count, 0)
    }

    static func remove(from file: Int32) { _ = linux_fremovexattr(file, attribute) }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
