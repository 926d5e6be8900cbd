// The screen of a VT100: enough of a terminal to know what an editor shows, so that tests wait for words and not for
// time.

/// A grid of characters that understands the control sequences of terminfo's `vt100` entry.
public struct Screen: Sendable {
    public let rows: Int
    public let columns: Int
    private var grid: [[Character]]
    private var row = 0
    private var column = 0
    private var top = 0
    private var bottom: Int
    private var saved = (row: 0, column: 0)
    /// The bytes of a control sequence or character that is not complete yet.
    private var pending: [UInt8] = []

    public init(rows: Int = 40, columns: Int = 132) {
        self.rows = rows
        self.columns = columns
        bottom = rows - 1
        grid = Array(repeating: Array(repeating: " ", count: columns), count: rows)
    }

    /// What is to be seen, one line per row, without the blanks at the ends.
    public var text: String {
        grid.map { line in
            var line = line[...]
            while line.last == " " { line.removeLast() }
            return String(line)
        }.joined(separator: "\n")
    }

    /// Takes what a program wrote to its terminal.
    public mutating func feed(_ bytes: [UInt8]) {
        for byte in bytes {
            pending.append(byte)
            if pending[0] == 27 {
                escape()
            } else if byte < 32 || byte == 127 {
                pending = []
                control(byte)
            } else {
                character()
            }
        }
    }

    private mutating func character() {
        guard let first = pending.first else { return }
        let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
        guard pending.count >= length else { return }
        for character in String(decoding: pending, as: UTF8.self) {
            if column >= columns {
                column = 0
                lineFeed()
            }
            grid[row][column] = character
            column += 1
        }
        pending = []
    }

    private mutating func control(_ byte: UInt8) {
        switch byte {
        case 8: column = max(0, column - 1)
        case 9: column = min(columns - 1, (column / 8 + 1) * 8)
        case 10, 11, 12: lineFeed()
        case 13: column = 0
        default: break
        }
    }

    private mutating func escape() {
        guard pending.count >= 2 else { return }
        switch pending[1] {
        case UInt8(ascii: "["):
            guard pending.count >= 3, let last = pending.last, (0x40...0x7e).contains(last) else { return }
            sequence(last, String(decoding: pending[2..<(pending.count - 1)], as: UTF8.self))
        case UInt8(ascii: "]"):
            // A title: ends with BEL or with ESC \.
            guard pending.last == 7 || pending.suffix(2) == [27, 92] else { return }
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "#"), UInt8(ascii: "%"):
            guard pending.count >= 3 else { return }
        case UInt8(ascii: "D"): lineFeed()
        case UInt8(ascii: "E"):
            column = 0
            lineFeed()
        case UInt8(ascii: "M"):
            if row == top { scroll(from: top, by: -1) } else { row = max(0, row - 1) }
        case UInt8(ascii: "7"): saved = (row, column)
        case UInt8(ascii: "8"): (row, column) = saved
        default: break
        }
        pending = []
    }

    private mutating func sequence(_ final: UInt8, _ parameters: String) {
        let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        let first = numbers.first ?? 0
        let count = max(1, min(first, rows * columns))
        switch final {
        case UInt8(ascii: "A"): row = max(0, row - count)
        case UInt8(ascii: "B"): row = min(rows - 1, row + count)
        case UInt8(ascii: "C"): column = min(columns - 1, column + count)
        case UInt8(ascii: "D"): column = max(0, min(column, columns - 1) - count)
        case UInt8(ascii: "G"): column = clamp(first, columns)
        case UInt8(ascii: "d"): row = clamp(first, rows)
        case UInt8(ascii: "H"), UInt8(ascii: "f"):
            row = clamp(first, rows)
            column = clamp(numbers.dropFirst().first ?? 1, columns)
        case UInt8(ascii: "J"): eraseDisplay(first)
        case UInt8(ascii: "K"): eraseLine(first)
        case UInt8(ascii: "L"): if (top...bottom).contains(row) { scroll(from: row, by: -count) }
        case UInt8(ascii: "M"): if (top...bottom).contains(row) { scroll(from: row, by: count) }
        case UInt8(ascii: "P"): shift(deleting: min(count, columns - min(column, columns)))
        case UInt8(ascii: "@"): shift(inserting: min(count, columns - min(column, columns)))
        case UInt8(ascii: "X"): blank(row, min(column, columns)..<min(columns, column + count))
        case UInt8(ascii: "r"):
            top = clamp(first, rows)
            bottom = numbers.count > 1 && numbers[1] > 0 ? clamp(numbers[1], rows) : rows - 1
            if bottom < top { (top, bottom) = (0, rows - 1) }
            (row, column) = (0, 0)
        default: break
        }
    }

    private func clamp(_ oneBased: Int, _ limit: Int) -> Int { min(max(oneBased, 1), limit) - 1 }

    private mutating func lineFeed() {
        if row == bottom { scroll(from: top, by: 1) } else { row = min(rows - 1, row + 1) }
    }

    /// Moves the lines between `from` and the bottom of the scrolling region: up for a positive count.
    private mutating func scroll(from: Int, by count: Int) {
        let empty = Array(repeating: Character(" "), count: columns)
        for _ in 0..<min(abs(count), bottom - from + 1) {
            if count > 0 {
                grid.remove(at: from)
                grid.insert(empty, at: bottom)
            } else {
                grid.remove(at: bottom)
                grid.insert(empty, at: from)
            }
        }
    }

    private mutating func eraseDisplay(_ how: Int) {
        if how == 0 { eraseLine(0) } else if how == 1 { eraseLine(1) }
        let lines = how == 0 ? (row + 1)..<max(rows, row + 1) : how == 1 ? 0..<row : 0..<rows
        for line in lines { blank(line, 0..<columns) }
    }

    private mutating func eraseLine(_ how: Int) {
        let column = min(column, columns - 1)
        blank(row, how == 0 ? column..<columns : how == 1 ? 0..<(column + 1) : 0..<columns)
    }

    private mutating func blank(_ line: Int, _ range: Range<Int>) {
        for index in range where index < columns { grid[line][index] = " " }
    }

    private mutating func shift(deleting count: Int) {
        grid[row].removeSubrange(min(column, columns)..<(min(column, columns) + count))
        grid[row] += Array(repeating: " ", count: count)
    }

    private mutating func shift(inserting count: Int) {
        grid[row].insert(contentsOf: Array(repeating: " ", count: count), at: min(column, columns))
        grid[row].removeLast(count)
    }
}
