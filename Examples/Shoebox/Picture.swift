// A picture: a small text file with a title, a rating, and what it shows in characters.

import FileCoordination
import Foundation

/// One picture of the shoebox.
struct Picture: Equatable {
    static let pathExtension = "picture"

    var url: URL
    /// Of five stars.
    var rating = 0
    /// Lines of characters.
    var lines: [String] = []
    /// The versions that lost a conflict and wait for somebody to choose.
    var conflicts: [NSFileVersion] = []

    var name: String { url.deletingPathExtension().lastPathComponent }

    init(url: URL, rating: Int = 0, lines: [String] = []) {
        self.url = url
        self.rating = rating
        self.lines = lines
    }

    /// Reads a picture; nil if the file is none. Throws if it cannot be read.
    init?(contentsOf file: URL, at url: URL) throws {
        guard let text = String(data: try Data(contentsOf: file), encoding: .utf8) else { return nil }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let first = lines.first, first.hasPrefix("rating "), let rating = Int(first.dropFirst(7)) else {
            return nil
        }
        lines.removeFirst()
        if lines.last == "" { lines.removeLast() }
        self.init(url: url, rating: min(5, max(0, rating)), lines: lines)
    }

    /// What its file holds.
    var text: String { "rating \(rating)\n" + lines.map { $0 + "\n" }.joined() }

    var stars: String { String(repeating: "★", count: rating) + String(repeating: "☆", count: 5 - rating) }
}
