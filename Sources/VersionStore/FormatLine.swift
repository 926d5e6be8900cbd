// The `format` file: one line that says what this directory is, whose it is, and where it was made.

import VersionModel

/// `versionsfs 1 container=HEX device=HEX epoch=N at=FSID:INODE:BORN`. Fields behind the number may be added; those not
/// known are passed over.
struct FormatLine: Hashable {
    static let current = "1"
    /// It grows by one with each catalog that is lost: more is no number of ours.
    private static let mostEpochs: UInt64 = 1 << 23

    var container: ContainerID
    var device: DeviceID
    var epoch: UInt64
    /// File system id, inode number and birth time of `.versionsfs`: differ in a copy.
    var location: String

    enum Reading {
        case known(FormatLine)
        /// Another number.
        case unknown
        /// Nothing that any version writes.
        case foreign
        /// Our number, but fields are missing: damaged.
        case damaged
    }

    static func read(_ line: String) -> Reading {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\n" })
        guard words.count >= 2, words[0] == "versionsfs", words[1].allSatisfy({ ("0"..."9").contains($0) }) else {
            return .foreign
        }
        guard words[1] == current else { return .unknown }
        var fields: [Substring: Substring] = [:]
        for word in words.dropFirst(2) {
            let parts = word.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        guard let container = fields["container"].flatMap({ ContainerID(hex: $0) }),
            let device = fields["device"].flatMap({ DeviceID(hex: $0) }),
            let epoch = fields["epoch"].flatMap({ UInt64($0) }), epoch < mostEpochs, let location = fields["at"]
        else { return .damaged }
        return .known(FormatLine(container: container, device: device, epoch: epoch, location: String(location)))
    }

    var text: String {
        "versionsfs \(Self.current) container=\(container.hex) device=\(device.hex) epoch=\(epoch) at=\(location)\n"
    }
}
