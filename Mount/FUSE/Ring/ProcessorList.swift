// The possible number of processors: the kernel has a queue for each, present or not.

import Glibc

enum ProcessorList {
    /// The number of the kernel's queues; nil if it cannot be read.
    static var possible: Int? {
        guard let file = fopen("/sys/devices/system/cpu/possible", "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return Self.count(String(decoding: bytes[..<count], as: UTF8.self))
    }

    /// The number of processors in a list like `0-3,8`. Nil for text of another form and for lists with gaps, because
    /// queue numbers have no gaps.
    static func count(_ list: String) -> Int? {
        var next = 0
        for part in list.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first == next,
                last >= first,
                last < 1 << 16
            else { return nil }
            next = last + 1
        }
        return next > 0 ? next : nil
    }
}
