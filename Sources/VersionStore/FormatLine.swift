// The `format` file: one line with the directory's format, its owner, and the place of its creation.

import VersionModel

/// `versionsfs 1 container=HEX device=HEX epoch=N at=FSID:INODE:BORN`. Later versions may add fields after the number;
/// unknown ones are ignored. The number is 2 in a container of facts, which a build without them must not open.
struct FormatLine: Hashable {
    enum Format: String {
        case former = "1"
        case facts = "2"
    }

    /// It grows by one with each lost catalog; a larger number is invalid.
    private static let mostEpochs: UInt64 = 1 << 23

    var format = Format.former
    var container: ContainerID
    var device: DeviceID
    var epoch: UInt64
    /// File system id, inode number and birth time of `.versionsfs`; different in a copy.
    var location: String

    enum Reading {
        case known(FormatLine)
        /// Another format number.
        case unknown
        /// Text that no version writes.
        case foreign
        /// A known number, but fields are missing: damaged.
        case damaged(Format)
    }

    static func read(_ line: String) -> Reading {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\n" })
        guard words.count >= 2, words[0] == "versionsfs", words[1].allSatisfy({ ("0"..."9").contains($0) }) else {
            return .foreign
        }
        guard let format = Format(rawValue: String(words[1])) else { return .unknown }
        var fields: [Substring: Substring] = [:]
        for word in words.dropFirst(2) {
            let parts = word.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        guard let container = fields["container"].flatMap({ ContainerID(hex: $0) }),
            let device = fields["device"].flatMap({ DeviceID(hex: $0) }),
            let epoch = fields["epoch"].flatMap({ UInt64($0) }), epoch < mostEpochs, let location = fields["at"]
        else { return .damaged(format) }
        return .known(
            FormatLine(
                format: format, container: container, device: device, epoch: epoch, location: String(location)))
    }

    var text: String {
        "versionsfs \(format.rawValue) container=\(container.hex) device=\(device.hex) epoch=\(epoch) "
            + "at=\(location)\n"
    }
}
