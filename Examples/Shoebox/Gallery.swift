// The shoebox in a terminal: lists, shows, and does what the user types.

import FileCoordination
import Foundation

/// What a line of the user comes to.
struct Gallery {
    let shoebox: Shoebox

    static let help = """
        list                      the pictures
        show NAME                 one of them
        add NAME RATING LINE...   a new one; each argument is a line of it
        rate NAME STARS           0 to 5
        delete NAME               into the deleted area of the container
        conflicts NAME            what lost, numbered
        keep NAME (current|N)     ends a conflict
        quit
        """

    /// Does what a line says.
    /// - Returns: what to print; nil to end.
    func perform(_ line: String) -> String? {
        let words = line.split(separator: " ").map(String.init)
        do {
            switch (words.first ?? "list", words.count) {
            case ("quit", _): return nil
            case ("help", _): return Self.help
            case ("list", _): return list
            case ("add", 3...): return try add(words[1], words[2], Array(words[3...]))
            case ("show", 2):
                let picture = try find(words[1])
                return ([picture.name + "  " + picture.stars] + picture.lines).joined(separator: "\n")
            case ("rate", 3):
                var picture = try find(words[1])
                picture.rating = try stars(words[2])
                try shoebox.save(picture)
                return list
            case ("delete", 2):
                try shoebox.delete(find(words[1]))
                return list
            case ("conflicts", 2): return conflicts(of: try find(words[1]))
            case ("keep", 3):
                let picture = try find(words[1])
                try shoebox.resolve(picture, keeping: try loser(words[2], of: picture))
                return list
            default: throw Mistake("what is that? help tells")
            }
        } catch {
            return "shoebox: \((error as? Mistake)?.text ?? error.localizedDescription)"
        }
    }

    /// All pictures, a line each.
    var list: String {
        let pictures = shoebox.gallery
        let width = pictures.map(\.name.count).max() ?? 0
        let lines = pictures.map { picture in
            let name = picture.name + String(repeating: " ", count: width - picture.name.count)
            let count = picture.conflicts.count
            return "  \(name)  \(picture.stars)" + (count == 0 ? "" : "  conflict with \(count)")
        }
        return (["\(pictures.count) pictures"] + lines).joined(separator: "\n")
    }

    private func add(_ name: String, _ rating: String, _ lines: [String]) throws -> String {
        guard !name.contains("/"), !name.hasPrefix(".") else { throw Mistake("\(name): no name for a picture") }
        let url = shoebox.directory.appendingPathComponent("\(name).\(Picture.pathExtension)")
        guard !shoebox.gallery.contains(where: { $0.name == name }) else {
            throw Mistake("\(name): there is one already")
        }
        try shoebox.save(Picture(url: url, rating: try stars(rating), lines: lines))
        return list
    }

    private func stars(_ word: String) throws -> Int {
        guard let stars = Int(word), (0...5).contains(stars) else { throw Mistake("\(word): 0 to 5 stars") }
        return stars
    }

    private func conflicts(of picture: Picture) -> String {
        guard !picture.conflicts.isEmpty else { return "\(picture.name): no conflict" }
        return picture.conflicts.enumerated().map { index, version in
            let loser = try? Picture(contentsOf: version.url, at: picture.url)
            let who = version.localizedNameOfSavingComputer ?? "somewhere"
            return "  \(index + 1)  \(loser?.stars ?? "")  saved on \(who)"
        }.joined(separator: "\n")
    }

    private func loser(_ word: String, of picture: Picture) throws -> NSFileVersion? {
        if word == "current" { return nil }
        guard let number = Int(word), picture.conflicts.indices.contains(number - 1) else {
            throw Mistake("\(word): current, or the number of a version")
        }
        return picture.conflicts[number - 1]
    }

    private func find(_ name: String) throws -> Picture {
        guard let picture = shoebox.gallery.first(where: { $0.name == name }) else {
            throw Mistake("\(name): no such picture")
        }
        return picture
    }
}

/// What the user did wrong, as a clause.
struct Mistake: Error {
    let text: String
    init(_ text: String) { self.text = text }
}
