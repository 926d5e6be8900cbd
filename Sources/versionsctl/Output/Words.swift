// Sizes, times and counts as people read them.

import ControlProtocol
import Glibc
import VersionModel

/// Numbers in words.
enum Words {
    /// `17 B`, `1.2 KiB`, `340 MiB`.
    static func size(_ bytes: UInt64) -> String {
        guard bytes >= 1024 else { return "\(bytes) B" }
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var value = Double(bytes) / 1024
        var unit = 0
        while value >= 1023.5, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10) \(units[unit])" : "\(Int(value.rounded())) \(units[unit])"
    }

    /// `2 min ago`.
    static func age(_ moment: Timestamp, now: Timestamp) -> String {
        let seconds = now.since(moment) / 1_000_000_000
        return switch seconds {
        case ..<(-1): "in the future"
        case ..<5: "just now"
        case ..<60: "\(seconds) s ago"
        case ..<3600: "\(seconds / 60) min ago"
        case ..<86_400: "\(seconds / 3600) h ago"
        case ..<(2 * 86_400): "yesterday"
        default: "\(seconds / 86_400) days ago"
        }
    }

    /// `2026-11-21 10:33:12`, by the local clock.
    static func exact(_ moment: Timestamp) -> String { TimeText.local(nanoseconds: moment.nanoseconds) }

    /// `2026-11-21 10:33:12.345`, by the local clock: the next whole millisecond, for what is typed as it is printed.
    static func typed(_ moment: Timestamp) -> String {
        let (raised, isOver) = moment.nanoseconds.addingReportingOverflow(999_999)
        let milliseconds = (isOver ? moment.nanoseconds : raised) / 1_000_000
        let text = exact(Timestamp(nanoseconds: milliseconds * 1_000_000))
        let rest = milliseconds % 1000
        guard rest > 0 else { return text }
        return text + "." + String(1000 + rest).dropFirst()
    }

    /// `1 version`, `3 versions`.
    static func count(_ number: Int, _ word: String) -> String {
        guard number != 1 else { return "1 \(word)" }
        return "\(number) " + (word.hasSuffix("y") ? word.dropLast() + "ies" : word + "s")
    }

    /// `4 files, 1 directory` for five entries; whatever is no directory is called a file.
    static func parts(entries: Int, directories: Int) -> String {
        let files = max(0, entries - directories)
        var parts = files > 0 ? [count(files, "file")] : []
        if directories > 0 || files == 0 { parts.append(count(directories, "directory")) }
        return parts.joined(separator: ", ")
    }

    /// `vim (1234)`.
    static func program(_ program: String, _ process: Int32) -> String {
        let name = program.isEmpty ? "?" : Style.printable(program)
        return process > 0 ? "\(name) (\(process))" : name
    }

    /// Now, by the wall clock.
    static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }
}
