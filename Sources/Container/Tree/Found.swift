// What the kernel is told of a file, and for how long it may keep that.

import Glibc

/// The answer to a look-up.
public struct Found: Sendable {
    public var node: UInt64
    public var attributes: FileAttributes
    /// Seconds for which the kernel may keep the name.
    public var nameValid: Double
}

/// A file's attributes and for how many seconds the kernel may keep them.
public struct FileAttributes: Sendable {
    public var stat: stat
    /// When the file came to be, where the file system below remembers it.
    public var born: timespec?
    public var valid: Double
}

/// How long the kernel may keep what it was told, in seconds. All changes come through the mount, so: long.
enum Validity {
    static let long: Double = 86_400
    /// Attributes: while a mapping may change the file unseen. Names: of a file of several documents.
    static let none: Double = 0
}
