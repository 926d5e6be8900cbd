// A write(2) through an open handle, on the file below.

import CLinux
import Glibc
import SystemPackage

extension OpenFile {
    /// Puts bytes at an offset; at the end if the flags have O_APPEND.
    /// - Parameter flags: the handle's, as they are at the write.
    /// - Returns: how many were written.
    func put(_ bytes: UnsafeRawBufferPointer, at offset: off_t, _ flags: Int32) throws(Errno) -> Int {
        guard flags & O_APPEND != 0, try !isPart(flags, offset) else {
            return try Backing.check { pwrite(descriptor.raw, bytes.baseAddress, bytes.count, offset) }
        }
        return try Backing.check { linux_append(descriptor.raw, bytes.baseAddress, bytes.count) }
    }

    /// Of a big asynchronous write past the cache the parts come in any order, each for its own place.
    private func isPart(_ flags: Int32, _ offset: off_t) throws(Errno) -> Bool {
        guard flags & linux_O_DIRECT != 0 else { return false }
        return UInt64(clamping: offset) > (try Backing.stat(descriptor.raw)).size
    }
}
