// The lines of a document with the versions that brought them.

import ControlProtocol
import VersionModel

/// What `blame` prints for programs.
struct BlameReport: Encodable {
    var path: Path
    /// The version whose lines these are.
    var version: VersionID
    var lines: [BlamedLine]

    private enum LineKeys: String, CodingKey { case line, text, version, time, user, program, pid }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encodeIfPresent(path: path, forKey: "path")
        try container.encode(version, forKey: "version")
        var list = container.nestedUnkeyedContainer(forKey: "lines")
        for (index, line) in lines.enumerated() {
            var object = list.nestedContainer(keyedBy: LineKeys.self)
            try object.encode(index + 1, forKey: .line)
            try object.encode(line.text, forKey: .text)
            try object.encode(line.version.id, forKey: .version)
            try object.encode(line.version.saved, forKey: .time)
            try object.encode(line.version.user, forKey: .user)
            try object.encode(line.version.program, forKey: .program)
            try object.encode(line.version.pid, forKey: .pid)
        }
    }

    /// For people: a line of the file is never cut, what stands before it lines up.
    func text(_ style: Style) -> String {
        let authors = lines.map { line in
            "\(Style.printable(line.version.user)) \(Words.program(line.version.program, 0))"
        }
        let width = authors.map(\.count).max() ?? 0
        let digits = "\(lines.count)".count
        return zip(lines, authors).enumerated().map { index, row in
            let (line, author) = row
            let number = "\(index + 1)"
            let blanks = String(repeating: " ", count: width - author.count)
            let before = "\(line.version.id.short)  \(author)\(blanks)  \(Words.exact(line.version.saved))  "
                + String(repeating: " ", count: digits - number.count) + number
            return style.paint(before, .dim) + "  " + line.text + "\n"
        }.joined()
    }
}
