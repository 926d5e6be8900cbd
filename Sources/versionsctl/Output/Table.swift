// Columns that line up, and fit the terminal if there is one.

import ControlProtocol

/// Rows of cells, padded to their columns' widths.
struct Table {
    struct Cell: ExpressibleByStringInterpolation {
        var text: String
        var color: Style.Color?
        var isRight = false
        /// What says less in less room, longest first; where none of it fits the text is cut.
        var shorter: [String] = []

        init(stringLiteral value: String) { text = value }
        init(_ text: String, _ color: Style.Color? = nil, right: Bool = false, shorter: [String] = []) {
            self.text = text
            self.color = color
            isRight = right
            self.shorter = shorter
        }
    }

    /// How a column gives way where the lines are too long for the terminal.
    enum Yielding {
        /// Cut at its end, to no less than this.
        case end(Int)
        /// A path, cut at its beginning, to no less than this: the last name says most.
        case start(Int)
        /// Cut in its middle, to no less than this, and not where two rows differ.
        case middle(Int)
        /// Left out.
        case whole
    }

    private var rows: [[Cell]] = []
    private let yielding: [(column: Int, how: Yielding)]

    /// - Parameter yielding: the columns that give way, the first first.
    init(header: [Cell] = [], yielding: [(column: Int, how: Yielding)] = []) {
        self.yielding = yielding
        if !header.isEmpty { rows.append(header.map { Cell($0.text, .dim, right: $0.isRight) }) }
    }

    mutating func add(_ cells: [Cell]) { rows.append(cells) }

    /// The lines, each ended by a newline, without blanks at their ends.
    func text(_ style: Style, indent: String = "") -> String {
        let rows = fitted(style.width.map { $0 - indent.count })
        let widths = Self.widths(rows)
        return rows.map { row in
            var line = indent
            let last = row.lastIndex { !$0.text.isEmpty } ?? 0
            for (column, cell) in row.enumerated().prefix(last + 1) {
                let blanks = String(repeating: " ", count: widths[column] - Self.width(cell.text))
                let painted = style.paint(cell.text, cell.color)
                line += cell.isRight ? blanks + painted : painted + (column == last ? "" : blanks)
                if column < last { line += "  " }
            }
            return line + "\n"
        }.joined()
    }

    // MARK: Fitting

    /// The rows, in no more columns of the terminal than there are, as far as they can give way.
    private func fitted(_ limit: Int?) -> [[Cell]] {
        guard let limit else { return rows }
        var rows = rows
        var gone: Set<Int> = []
        for (step, (column, how)) in yielding.enumerated() where Self.excess(rows, gone, limit) > 0 {
            guard case .whole = how else {
                shorten(&rows, column, how, gone, limit)
                continue
            }
            gone.insert(column)
            // The others may have its room.
            rows = self.rows
            for (column, how) in yielding[..<step] { shorten(&rows, column, how, gone, limit) }
        }
        return rows.map { row in row.enumerated().filter { !gone.contains($0.offset) }.map(\.element) }
    }

    /// By how much the longest line is too long. A line ends with its last text.
    private static func excess(_ rows: [[Cell]], _ gone: Set<Int>, _ limit: Int) -> Int {
        let widths = widths(rows)
        let kept = widths.indices.filter { !gone.contains($0) }
        let lengths = rows.map { row in
            guard let end = kept.lastIndex(where: { $0 < row.count && !row[$0].text.isEmpty }) else { return 0 }
            let last = row[kept[end]]
            let before = kept[..<end].reduce(0) { $0 + widths[$1] + 2 }
            return before + (last.isRight ? widths[kept[end]] : width(last.text))
        }
        return (lengths.max() ?? 0) - limit
    }

    private func shorten(_ rows: inout [[Cell]], _ column: Int, _ how: Yielding, _ gone: Set<Int>, _ limit: Int) {
        let (excess, widths) = (Self.excess(rows, gone, limit), Self.widths(rows))
        guard excess > 0, widths.indices.contains(column), !gone.contains(column) else { return }
        let room = widths[column] - excess
        switch how {
        case .whole: return
        case .end(let least): shorten(&rows, column, to: max(least, room), fromStart: false)
        case .middle(let least): shortenMiddle(&rows, column, to: max(least, room))
        case .start(let least): shorten(&rows, column, to: max(least, room), fromStart: true)
        }
    }

    private func shorten(_ rows: inout [[Cell]], _ column: Int, to width: Int, fromStart: Bool) {
        for index in rows.indices where column < rows[index].count {
            let text = Self.shorter(rows[index][column], width)
            rows[index][column].text = Self.cut(text, to: width, fromStart: fromStart)
        }
    }

    private func shortenMiddle(_ rows: inout [[Cell]], _ column: Int, to width: Int) {
        let indices = rows.indices.filter { column < rows[$0].count }
        let texts = MiddleCut.cut(indices.map { Self.shorter(rows[$0][column], width) }, to: width)
        for (index, text) in zip(indices, texts) { rows[index][column].text = text }
    }

    /// What a cell says in so much room; its shortest text, if that is too long as well.
    private static func shorter(_ cell: Cell, _ limit: Int) -> String {
        guard width(cell.text) > limit else { return cell.text }
        return cell.shorter.first { width($0) <= limit } ?? cell.shorter.last ?? cell.text
    }

    /// A text of at most so many columns, with a sign where something is missing.
    static func cut(_ text: String, to limit: Int, fromStart: Bool) -> String {
        guard width(text) > limit else { return text }
        var (kept, room) = ([Character](), max(0, limit - 1))
        for character in fromStart ? Array(text.reversed()) : Array(text) {
            let needed = width(String(character))
            guard needed <= room else { break }
            kept.append(character)
            room -= needed
        }
        return fromStart ? "\u{2026}" + String(kept.reversed()) : String(kept) + "\u{2026}"
    }

    private static func widths(_ rows: [[Cell]]) -> [Int] {
        (0..<(rows.map(\.count).max() ?? 0)).map { column in
            rows.map { column < $0.count ? width($0[column].text) : 0 }.max() ?? 0
        }
    }

    private static func width(_ text: String) -> Int { WrappedText.width(text) }
}
