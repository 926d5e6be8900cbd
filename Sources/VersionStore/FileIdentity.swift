// The mount's st_ino: a number for each file that is stable across mounts and not reused with the inode.

import VersionModel

/// Gives files their ``FileID``: a keyed hash (SipHash-2-4, Aumasson and Bernstein 2012) of device, inode number and
/// birth time. The key is the container's id.
public struct FileIdentity: Sendable {
    private let key: (UInt64, UInt64)
    private let rootDevice: UInt64?

    /// - Parameter rootDevice: the root's `st_dev`. It counts as 0, because a device's number may differ after a
    ///   reboot; other devices count unchanged.
    public init(container: ContainerID, rootDevice: UInt64? = nil) {
        key = (container.high, container.low)
        self.rootDevice = rootDevice
    }

    /// The identity of the file with this inode number on this device (`st_dev`) and birth time (0 if the file system
    /// has none). Never 0 nor the root's.
    public func id(device: UInt64, inode: UInt64, born: Timestamp) -> FileID {
        let device = device == rootDevice ? 0 : device
        var state = (
            key.0 ^ 0x736f_6d65_7073_6575, key.1 ^ 0x646f_7261_6e64_6f6d,
            key.0 ^ 0x6c79_6765_6e65_7261, key.1 ^ 0x7465_6462_7974_6573
        )
        for word in [device, inode, UInt64(bitPattern: born.nanoseconds), 24 << 56] {
            state.3 ^= word
            Self.round(&state)
            Self.round(&state)
            state.0 ^= word
        }
        state.2 ^= 0xff
        for _ in 0..<4 { Self.round(&state) }
        let number = state.0 ^ state.1 ^ state.2 ^ state.3
        return FileID(number <= 1 ? number &+ 2 : number)
    }

    private static func round(_ state: inout (UInt64, UInt64, UInt64, UInt64)) {
        state.0 = state.0 &+ state.1
        state.1 = (state.1 << 13 | state.1 >> 51) ^ state.0
        state.0 = state.0 << 32 | state.0 >> 32
        state.2 = state.2 &+ state.3
        state.3 = (state.3 << 16 | state.3 >> 48) ^ state.2
        state.0 = state.0 &+ state.3
        state.3 = (state.3 << 21 | state.3 >> 43) ^ state.0
        state.2 = state.2 &+ state.1
        state.1 = (state.1 << 17 | state.1 >> 47) ^ state.2
        state.2 = state.2 << 32 | state.2 >> 32
    }
}
