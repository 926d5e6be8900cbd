// Whether a file consists of pages of two contents, as an interrupted change from one to the other leaves it.

import Glibc
import SystemPackage

/// A file with an interrupted change of its content in place.
struct ContentMix {
    struct Part {
        var file: Int32
        var size: UInt64
    }

    private static let page: UInt64 = 4096
    /// A multiple of a page.
    private static let piece: UInt64 = 1 << 20

    /// The old content. Room after its end reads as zeros.
    var old: Part
    /// The new content; nil if it is unknown.
    var new: Part?

    /// Whether each page of a file, from an offset on, comes from one of the two contents.
    func holds(_ live: Part, from offset: UInt64 = 0) throws(Errno) -> Bool {
        var start = offset
        while start < live.size {
            let end = min(live.size, start + Self.piece)
            let found = try read(live, start, end)
            let was = try read(old, start, end)
            let becomes = try new.map { new throws(Errno) in try read(new, start, end) } ?? []
            var from = start
            while from < end {
                let to = stop(after: from, end)
                let range = Int(from - start)..<Int(to - start)
                let isNew = new.map { to <= $0.size && becomes[range] == found[range] } ?? false
                guard isNew || was[range] == found[range] else { return false }
                from = to
            }
            start = end
        }
        return true
    }

    /// The end of the page, or of the new content if it ends inside a page.
    private func stop(after from: UInt64, _ end: UInt64) -> UInt64 {
        let page = min(end, (from / Self.page + 1) * Self.page)
        guard let new, new.size > from else { return page }
        return min(page, new.size)
    }

    /// Bytes after the end are zeros.
    private func read(_ part: Part, _ start: UInt64, _ end: UInt64) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(end - start))
        var done = 0
        let wanted = Int(min(end, max(start, part.size)) - start)
        while done < wanted {
            let (at, offset) = (done, off_t(clamping: start) + off_t(done))
            let count = try Backing.check {
                bytes.withUnsafeMutableBytes { buffer in
                    pread(part.file, buffer.baseAddress.map { $0 + at }, wanted - at, offset)
                }
            }
            guard count > 0 else { break }
            done += count
        }
        return bytes
    }
}
