// Columns that line up.

/// Rows of cells, padded to their columns' widths.
struct Table {
    struct Cell: ExpressibleByStringInterpolation {
        var text: String
        var colour: Style.Colour?
        var isRight = false

        init(stringLiteral value: String) { text = value }
        init(_ text: String, _ colour: Style.Colour? = nil, right: Bool = false) {
            self.text = text
            self.colour = colour
            isRight = right
        }
    }

    private var rows: [[Cell]] = []

    init(header: [Cell] = []) {
        if !header.isEmpty { rows.append(header.map { Cell($0.text, .dim, right: $0.isRight) }) }
    }

    mutating func add(_ cells: [Cell]) { rows.append(cells) }

    /// The lines, each ended by a newline, without blanks at their ends.
    func text(_ style: Style, indent: String = "") -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? width($0[column].text) : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = indent
            let last = row.lastIndex { !$0.text.isEmpty } ?? 0
            for (column, cell) in row.enumerated().prefix(last + 1) {
                let blanks = String(repeating: " ", count: widths[column] - width(cell.text))
                let painted = style.paint(cell.text, cell.colour)
                line += cell.isRight ? blanks + painted : painted + (column == last ? "" : blanks)
                if column < last { line += "  " }
            }
            return line + "\n"
        }.joined()
    }

    /// Characters as a terminal counts them, nearly: wide ones count two.
    private func width(_ text: String) -> Int {
        text.reduce(0) { sum, character in
            guard let scalar = character.unicodeScalars.first else { return sum }
            let isWide = (0x1100...0x115F).contains(scalar.value) || (0x2E80...0xA4CF).contains(scalar.value)
                || (0xAC00...0xD7A3).contains(scalar.value) || (0xF900...0xFAFF).contains(scalar.value)
                || (0xFF00...0xFF60).contains(scalar.value) || (0x1F300...0x1FAFF).contains(scalar.value)
            return sum + (isWide ? 2 : 1)
        }
    }
}
