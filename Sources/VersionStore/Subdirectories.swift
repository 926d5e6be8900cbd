// The 256 subdirectories of a shelf, each opened once, so that an exchanged directory cannot redirect a name.

import CLinux
import Glibc
import Synchronization
import SystemPackage

/// Holds a descriptor of each used subdirectory. Thread-safe. A symlink in place of one is never followed, and an open
/// descriptor stays with its directory wherever that is moved.
final class Subdirectories: Sendable {
    /// `objects` or `deleted`.
    private let shelf: FileDescriptor
    /// By number; -1 for unused ones. Innermost; held across one openat2(2), and the first time also across mkdirat(2)
    /// and a second openat2(2).
    private let opened = Mutex<[Int32]>([Int32](repeating: -1, count: 256))

    init(of shelf: FileDescriptor) { self.shelf = shelf }

    deinit { opened.withLock { $0.filter { $0 >= 0 }.forEach { System.close(FileDescriptor(rawValue: $0)) } } }

    /// The subdirectory of an entry.
    ///
    /// - Parameter making: whether to make it if it is missing.
    /// - Throws: ENOENT if it is missing, EILSEQ if it is no directory.
    func descriptor(of entry: CName, making: Bool = false) throws(Errno) -> FileDescriptor {
        guard let number = Self.number(entry) else { throw .noSuchFileOrDirectory }
        return try opened.withLock { opened throws(Errno) in
            if opened[number] >= 0 { return FileDescriptor(rawValue: opened[number]) }
            let name = Array(entry.prefix(2)) + [0]
            let directory: FileDescriptor
            do throws(Errno) {
                directory = try System.openBeneath(name, in: shelf, O_RDONLY | O_DIRECTORY)
            } catch .noSuchFileOrDirectory where making {
                try System.makeDirectory(name, in: shelf)
                directory = try System.openBeneath(name, in: shelf, O_RDONLY | O_DIRECTORY)
            } catch {
                let isWrong = error == .notDirectory || error == .tooManySymbolicLinkLevels
                throw isWrong ? .illegalByteSequence : error
            }
            opened[number] = directory.rawValue
            return directory
        }
    }

    private static func number(_ entry: CName) -> Int? {
        guard entry.count > 2, let high = digit(entry[0]), let low = digit(entry[1]) else { return nil }
        return high << 4 | low
    }

    private static func digit(_ letter: CChar) -> Int? {
        switch letter {
        case 48...57: Int(letter) - 48
        case 97...102: Int(letter) - 87
        default: nil
        }
    }
}
