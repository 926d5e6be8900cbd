// The file that has a container's log where there is no journal.

import ControlProtocol

/// Its name comes from the container's directory, so that it is found without a daemon.
public enum LogPlace {
    /// `Notes-0123456789abcdef.log` for `/home/ann/Notes`.
    public static func name(for container: Path) -> String {
        let last = container.lastComponent.bytes.prefix(64).map { byte -> UInt8 in
            let isPlain = (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || [45, 46, 95].contains(byte)
            return isPlain ? byte : 95
        }
        // FNV-1a: tells directories of one name apart, and need not withstand anything.
        let hash = container.bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        let padded = String(repeating: "0", count: 16 - digits.count) + digits
        return "\(String(decoding: last, as: UTF8.self))-\(padded).log"
    }

    /// The directory's files, the best first.
    /// - Parameter covered: directories that must not have the log: a daemon that logs through its own mount would wait
    ///   for itself.
    public static func files(for container: Path, in home: StateHome, outside covered: [Path]) -> [Path] {
        home.logDirectories(outside: covered).map { $0.below(name(for: container)) }
    }

    /// What is behind the name of a log that has grown too long.
    public static let predecessorSuffix = ".1"
}
