// Names of which neither the present nor the feed tells.

import Lineage
import VersionModel

extension FormerNames {
    /// Directories in which something was and that have no stay of their own: they give it its path.
    mutating func addDirectories() {
        var known: Set<FileID> = [.root]
        for stay in stays { if case .directory(let file) = stay.subject { known.insert(file) } }
        var next = 0
        while next < places.places.count {
            let directory = places.places[next].directory
            next += 1
            guard known.insert(directory).inserted, let place = paths.formerPlace(of: directory) else { continue }
            addPassed(.directory(directory), directory, .directory, at: place)
        }
    }

    /// A document has a row before its first version, and at least one.
    mutating func addDocuments() {
        for document in 0..<Int32(records.documents.count) {
            let own = stays(of: document)
            let first = records.versions(of: document).first.map { records.versions[Int($0)] }
            guard let last = own.last else {
                guard let first else { continue }
                let label = files.label(of: first.id, in: first.content)
                let name = FileName(records.documents[Int(document)].id?.hex ?? first.id.hex)
                let place = label?.place ?? name.map { Place(directory: .root, name: $0) }
                if let place { addPassed(.document(document), file(of: document), .file, at: place) }
                continue
            }
            let begins = own.map { stays[Int($0)].begin }
            guard let first, !begins.contains(Stay.none) else { continue }
            let begin = begins.filter { $0 >= 0 }.map { moments[Int($0)].order }.min() ?? .max
            // A parted document's versions are behind its parting, but for the copy that it began with.
            let isParted = begins.contains { $0 >= 0 && moments[Int($0)].isParting }
            guard begin > first.time.wall.nanoseconds, !isParted else { continue }
            addPassed(.document(document), stays[Int(last)].file, .file, at: places[stays[Int(last)].place])
        }
    }

    /// It was at the place at the beginning, and left at once.
    private mutating func addPassed(_ subject: Stay.Subject, _ file: FileID, _ type: EntryType, at place: Place) {
        let number = number(of: place)
        let present = open[Int(number.number)]
        let index = begin(Stay(place: number, subject: subject, file: file, type: type))
        stays[Int(index)].end = Stay.atOnce
        open[Int(number.number)] = present
    }

    /// A name was removed while its document had another one. Where that is not told, it had had its present name then.
    mutating func completeRemovedNames() {
        guard records.deletions.contains(where: { $0.type == .link }) else { return }
        var isTaken = Array(repeating: false, count: open.count)
        for stay in stays where stay.begin == Stay.none && stay.end != Stay.atOnce {
            isTaken[Int(stay.place.number)] = true
        }
        for (index, deletion) in records.deletions.enumerated() where deletion.type == .link {
            guard let document = documents[index] else { continue }
            let own = stays(of: document)
            guard let removed = own.first(where: { isEnd(of: $0, deletion: Int32(index)) }),
                case let living = own.filter({ stays[Int($0)].end == Stay.none }), !living.isEmpty,
                case let end = moments[Int(stays[Int(removed)].end)].order,
                !own.contains(where: { $0 != removed && begin(of: $0) < end && self.end(of: $0) >= end }),
                let first = living.min(by: { begin(of: $0) < begin(of: $1) })
            else { continue }
            let place = Int(stays[Int(first)].place.number)
            guard !isTaken[place] else { continue }
            isTaken[place] = true
            addPassedUntilNext(first)
        }
    }

    /// The same document was at the place before, from the beginning.
    private mutating func addPassedUntilNext(_ index: Int32) {
        var stay = stays[Int(index)]
        (stay.begin, stay.end) = (Stay.none, Stay.next)
        let present = open[Int(stay.place.number)]
        begin(stay)
        open[Int(stay.place.number)] = present
    }

    private func isEnd(of stay: Int32, deletion: Int32) -> Bool {
        let end = stays[Int(stay)].end
        guard end >= 0, case .removed(deletion) = moments[Int(end)].what else { return false }
        return true
    }

    private func begin(of stay: Int32) -> Int64 {
        let begin = stays[Int(stay)].begin
        return begin >= 0 ? moments[Int(begin)].order : .min
    }

    private func end(of stay: Int32) -> Int64 {
        let end = stays[Int(stay)].end
        return end >= 0 ? moments[Int(end)].order : end == Stay.none ? .max : .min
    }
}
