// What the rules have led to.

import Lineage
import VersionModel

extension Shadow {
    public var answer: Answer {
        var answer = Answer()
        for place in places.indices.map({ PlaceNumber(UInt32($0)) }) {
            guard let row = facts.occupant(of: place), let file = row.file, let path = path(of: place) else { continue }
            if row.hasNoVersions {
                answer.directories.insert(path)
                continue
            }
            let content = read(file).map { String(decoding: $0.bytes, as: UTF8.self) } ?? "?"
            // What a program has made up for itself is nobody's history yet.
            let isShown = row.maker == nil
            answer.names[path] = Answer.Name(
                content: content, history: isShown ? listing(row.document) : [],
                conflicts: isShown ? facts.conflicts(of: row.document).map(text).sorted() : [])
        }
        answer.setDeleted(
            (facts.deleted() + facts.removedNames()).map { entry in
                (
                    departures[entry.departure.number] ?? "?",
                    entry.occupant.hasNoVersions ? [] : listing(entry.occupant.document)
                )
            })
        answer.superseded = facts.superseded().map(listing).sorted { "\($0)" < "\($1)" }
        return answer
    }

    /// All contents that are shown somewhere, also behind what a living document began with.
    var shown: Set<String> {
        let living = places.indices.compactMap { facts.occupant(of: PlaceNumber(UInt32($0))) }
        return answer.shown.union(living.flatMap { facts.history(of: $0.document) }.map(text))
    }

    /// Contents of all versions that the rules have led to.
    public var contents: Set<String> { Set(facts.versions.filter { !$0.isForgotten }.map { text($0.number) }) }

    /// What the container says otherwise, and moments at which the tree by the facts is not what it was then.
    public func differences(from today: Answer) -> [Difference] {
        let moments = moments.filter { facts.tree(at: $0.number) != $0.tree }
        return Answer.differences(today: today, then: answer)
            + moments.map {
                Difference(subject: .tree, name: "moment \($0.number)", today: "what was there", then: "another")
            }
    }

    /// The place of a path, if its directory is there.
    func place(_ path: String) -> PlaceNumber? {
        places.indices.map { PlaceNumber(UInt32($0)) }.first { self.path(of: $0) == path }
    }

    func listing(_ document: DocumentNumber) -> [String] { facts.listing(of: document).map(text) }

    func text(_ version: VersionNumber) -> String { facts.fingerprint(version).map(texts.text) ?? "?" }

    // MARK: Paths

    func path(of place: Place) -> String? { path(of: number(place)) }

    /// The path of a place, if its directory is there.
    func path(of place: PlaceNumber) -> String? {
        let place = places[Int(place.number)]
        let name = String(decoding: place.name.bytes, as: UTF8.self)
        guard place.directory != .root else { return name }
        guard let directory = facts.names(of: number(place.directory)).first else { return nil }
        return path(of: directory.place).map { "\($0)/\(name)" }
    }
}
