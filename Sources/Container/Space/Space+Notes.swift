// Sentences for `status` about a file system that is full, or was.

import VersionModel

extension Space {
    var notes: [String] {
        guard let last = making.shortages.last, let room = free.room else { return [] }
        let reserve = FreeSpace.reserve(of: room.total)
        let isFull = room.free < reserve
        var note = "the file system \(isFull ? "is" : "was") nearly full"
        if last.contents > 0 {
            note += ": since \(last.since.stamp) \(last.contents) older or deleted contents "
                + "(\(Self.mebibytes(last.bytes))) were given up, oldest first"
        } else if !isFull {
            return []
        }
        guard last.isExhausted, isFull else { return [note] }
        let rest: String
        do {
            let left = try purgeables.count()
            rest = left == 0
                ? "nothing is left that may be given up"
                : "what is left that may be given up (\(left)) goes next, and may not be enough"
        } catch {
            rest = "what is left that may be given up cannot be told (\(error))"
        }
        return [
            note,
            "\(Self.mebibytes(room.free)) are free, \(Self.mebibytes(reserve)) should be, and \(rest): "
                + "remove what you can "
                + "do without (while it is so full, that may free its room at once and cannot be undone), or move it "
                + "elsewhere; of pinned versions and conflicts, versionsctl purge FILE",
        ]
    }

    private static func mebibytes(_ bytes: UInt64) -> String {
        bytes < 10 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
    }
}
