// Whether a file is made of pages of others, as a change from one content to the other leaves it when it is cut short.

import Glibc
import SystemPackage

/// A file that was being given new content in place.
struct ContentMix {
    struct Part {
        var file: Int32
        var size: UInt64
    }

    private static let page: UInt64 = 4096
    /// A multiple of a page.
    private static let piece: UInt64 = 1 << 20

    /// The content that the file had. Room behind its end reads as zeros.
    var old: Part
    /// The content that it was to have; nil: not known.
    var new: Part?

    /// Whether each page of a file, from an offset on, is that of the one content or of the other.
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

    /// The end of the page, or that of the new content, which may lie within one.
    private func stop(after from: UInt64, _ end: UInt64) -> UInt64 {
        let page = min(end, (from / Self.page + 1) * Self.page)
        guard let new, new.size > from else { return page }
        return min(page, new.size)
    }

    /// Bytes behind the end are zeros.
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
