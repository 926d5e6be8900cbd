// The user's diff over pairs of contents, through the user's pager on a terminal.

import ControlProtocol
import Glibc
import VersionModel
import VersionsClient

/// One side of a comparison: a file with a content, and what it is called.
struct DiffSide {
    var file: Path
    var label: Path
    /// The content is so long, and the file may go on behind it; nil if it is the whole file.
    var size: UInt64?

    init(file: Path, label: Path) { (self.file, self.label) = (file, label) }

    /// - Parameter name: how the document is called.
    init(_ version: VersionInfo, as name: Path) {
        file = version.file
        let kind = version.isLast ? "last" : version.kind.rawValue
        let tail = "\t\(Words.exact(version.saved)) \(version.id.short) \(kind)"
        label = Path(bytes: name.bytes + Array(tail.utf8))
        if version.kind == .current { return }
        size = version.size
    }

    /// The label for a terminal, which a name must not steer; patch(1) wants the bytes.
    var shownLabel: Path {
        let tail = label.bytes.lastIndex(of: 9) ?? label.bytes.endIndex
        let name = Style.printable(Path(bytes: label.bytes[..<tail]))
        return Path(bytes: Array(name.utf8) + label.bytes[tail...])
    }
}

/// Two contents to be compared, or a name that only one side has.
struct DiffPair {
    var name: Path
    var old: DiffSide?
    var new: DiffSide?
    /// What is said instead of a comparison.
    var note: String?

    init(old: DiffSide, new: DiffSide) {
        name = Path(bytes: Array(new.label.bytes.prefix { $0 != 9 }))
        (self.old, self.new) = (old, new)
    }

    /// - Parameters:
    ///   - at: the moment that a directory is compared with.
    ///   - shown: how the entry is called.
    init(_ entry: DirectoryComparison.Entry, at: Timestamp, as shown: Path) {
        name = shown
        let text = Style.printable(shown) + (entry.isDirectory ? "/" : "")
        switch entry.change {
        case .added: note = "Only now: \(text)"
        case .removed: note = "Only at \(Words.exact(at)): \(text)"
        case .modified:
            guard let then = entry.then, let now = entry.now else {
                note = "Changed: \(text)"
                return
            }
            old = DiffSide(then, as: shown)
            // What is current may be cut as well: appended since.
            old?.size = then.size
            new = DiffSide(now, as: shown)
        }
    }
}

/// How a comparison is printed.
struct DiffOutput {
    /// Lines around each change; nil for diff's own three.
    var context: Int?
    /// Only counts lines.
    var isCounting = false
    /// Whether a terminal gets it through the pager.
    var isPaged = true
}

/// Prints comparisons.
struct Differ {
    var output = DiffOutput()
    var style: Style

    func run(_ pairs: [DiffPair]) throws {
        if output.isPaged { Pager.use() }
        defer { Pager.finish() }
        do {
            if output.isCounting { return try Printer.text(DiffCounts(pairs).text(style)) }
            for pair in pairs {
                if let note = pair.note { try Printer.text(note + "\n") }
                guard let old = pair.old, let new = pair.new else { continue }
                if try !compare(old, new, pair.name) { return }
            }
        } catch is ControlError where Pager.isLeft {
            return
        }
    }

    /// - Returns: false if the output has no reader any more.
    private func compare(_ old: DiffSide, _ new: DiffSide, _ name: Path) throws -> Bool {
        Pager.start()
        let status = try Self.withWhole(old, new) { old, new in
            if let program, output.context == nil {
                return try Subprocess.run(
                    "sh", [Path("-c"), Path("\(program) \"$@\""), Path("versionsctl"), old.file, new.file])
            }
            let isShown = isatty(Pager.terminal) == 1
            let labels = [old, new].flatMap { [Path("--label"), isShown ? $0.shownLabel : $0.label] }
            let color = [Path(style.isColored ? "--color=always" : "--color=never")]
            return try Subprocess.run(
                "diff", [Path("-U\(output.context ?? 3)")] + color + labels + [Path("--"), old.file, new.file])
        }
        if status == 128 + SIGPIPE { return false }
        // diff(1): 0 equal, 1 different, more for trouble. Both are an answer here.
        guard status <= 1 else {
            // diff has said itself what it failed of.
            let isMissing = status == 126 || status == 127
            throw ControlError(.failed, "the comparison failed with status \(status)", path: name,
                advice: isMissing ? "install diff, or name another program in VERSIONS_DIFF" : nil)
        }
        return true
    }

    private var program: String? {
        getenv("VERSIONS_DIFF").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Runs `body` with files that hold the contents and nothing behind them.
    static func withWhole<Result>(
        _ old: DiffSide, _ new: DiffSide, _ body: (DiffSide, DiffSide) throws -> Result
    ) throws -> Result {
        guard let size = old.size, let length = Files.size(old.file), length > size else { return try body(old, new) }
        return try Files.withTemporary { copy in
            try Files.copy(old.file, to: copy.descriptor, upTo: size)
            var cut = old
            cut.file = copy.path
            return try body(cut, new)
        }
    }
}
