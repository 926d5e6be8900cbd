// After a crash: which files the places have now, and which documents these show (facts.md 6, 2 and 3).

import VersionModel

extension Settling {
    /// Departures first, then arrivals one by one: to free names, then to names that had another file, at last of files
    /// that no row knows. Where something without versions has taken a name, or has lost it, the former one was removed
    /// first: neither goes on with the other.
    mutating func settleNames() {
        let recorded = recordedNames()
        let vacated = recorded.filter { found.file(at: $0.place) != $0.file }
        let arrived = found.names.filter { name in recorded.first { $0.place == name.place }?.file != name.file }
        for name in vacated where isLeft(name.place) {
            let isMoved = arrived.contains { $0.file == name.file }
            planning.record(.row(planning.row(name.place, nil, isMoved ? .movedAway(to: nil) : .removed, by: nil)))
        }
        let ranks = arrived.map { name in
            (planning.facts.lastRow(of: name.file) == nil ? 2 : 0)
                + (recorded.contains { $0.place == name.place } ? 1 : 0)
        }
        for rank in 0...3 {
            for (name, itsRank) in zip(arrived, ranks) where itsRank == rank {
                settleArrival(of: name, vacated: vacated, wasTaken: recorded.contains { $0.place == name.place })
            }
        }
    }

    /// Whether a place that had a file is free, or has something of another type.
    private func isLeft(_ place: PlaceNumber) -> Bool {
        guard let taker = found.file(at: place) else { return true }
        return found.directories.contains(taker) || planning.facts.occupant(of: place)?.hasNoVersions ?? false
    }

    /// One file at a place where the rows have none, or another.
    ///
    /// | the place | the arrival | the document |
    /// |---|---|---|
    /// | had another file | | goes on (a rename over it) |
    /// | was free | of a file that has its former name still (a link) | is the file's |
    /// | was free | of any other | comes back by the rule of ``Planning/claim(_:at:)``, at the crash's time |
    /// | was free, and nothing comes back | of a file with a document | is the file's |
    ///
    /// A document goes on in one file: if it is alive in another file already, the arriving file begins with its
    /// current version.
    private mutating func settleArrival(of name: Found.Name, vacated: [Found.Name], wasTaken: Bool) {
        let isDirectory = found.directories.contains(name.file)
        let former = formerRow(of: name.file, vacated: vacated)
        let isLink = planning.facts.names(of: name.file).contains { found.file(at: $0.place) == name.file }
        let last = planning.facts.lastOccupant(of: name.place).flatMap { $0.hasNoVersions || isDirectory ? nil : $0 }
        let claimed =
            isDirectory
            ? nil
            : planning.claim(name.place, at: crashed).flatMap { claimed in
                former.map { $0.hasNoVersions || $0.document != claimed.document } ?? true ? claimed : nil
            }
        let continued = wasTaken ? last : isLink && former != nil ? nil : claimed
        var row = planning.row(
            name.place, name.file, former == nil ? .found : isLink ? .linked : .moved, by: nil)
        row.hasNoVersions = isDirectory
        row.from = former?.number
        var partings: [Planning.Parting] = []
        if let continued {
            let isAlive = planning.facts.names(of: continued.document).contains {
                $0.place != name.place && $0.file != continued.file
            }
            if isAlive {
                row.origin = planning.facts.current(of: continued.document)
            } else {
                partings = planning.partings(from: continued.document, exceptAt: [name.place]).filter {
                    found.file(at: $0.name.place) == $0.name.file
                }
                planning.goOn(&row, with: continued)
            }
        } else if let former {
            if planning.facts.names(of: former.document).contains(where: { $0.file != name.file }) {
                row.origin = planning.facts.versions.last { $0.file == name.file && !$0.isForgotten }?.number
            } else {
                row.document = former.document
            }
        }
        planning.record(.row(row))
        planning.part(partings, by: nil)
    }

    /// The row by which a file had its name before.
    private func formerRow(of file: FileID, vacated: [Found.Name]) -> NameRow? {
        let left = vacated.first { $0.file == file }.flatMap { planning.facts.lastOccupant(of: $0.place) }
        if let left, left.file == file { return left }
        return planning.facts.names(of: file).first ?? planning.facts.lastRow(of: file)
    }

    /// The names as the rows have them, in the order of places.
    private func recordedNames() -> [Found.Name] {
        let tree = planning.facts.tree()
        return tree.keys.sorted().compactMap { place in tree[place].map { Found.Name(place: place, file: $0) } }
    }
}
