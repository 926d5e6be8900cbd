// The name rows of an upgrade.

import Lineage
import VersionModel

extension FormerFacts {
    /// What was there before everything that is told: first what had gone again, then directories, then the rest.
    mutating func writeBeginning(at time: Timestamp, to sink: inout some UpgradeSink) throws {
        for index in names.stays.indices where names.stays[index].end == Stay.atOnce {
            try writePassed(Int32(index), time, to: &sink)
        }
        for isDirectory in [true, false] {
            for (index, stay) in names.stays.enumerated()
            where stay.begin == Stay.none && stay.end != Stay.atOnce && (stay.type == .directory) == isDirectory {
                try writeArrival(ofStay: Int32(index), .found, from: nil, time, nil, to: &sink)
            }
        }
    }

    private mutating func writePassed(_ stay: Int32, _ time: Timestamp, to sink: inout some UpgradeSink) throws {
        try writeArrival(ofStay: stay, .found, from: nil, time, nil, to: &sink)
        try writeDeparture(names.stays[Int(stay)], .movedAway(to: nil), time, nil, NameDetail(), to: &sink)
    }

    /// A version is older than all names of its document that are known: it gets a row at a place of its own, so that
    /// no other name is touched.
    mutating func writePassed(ofDocument document: Int32, _ time: Timestamp, to sink: inout some UpgradeSink) throws {
        guard let name = FileName(records.documents[Int(document)].id?.hex ?? "\(document)") else { return }
        let count = names.places.places.count
        let place = names.number(of: Place(directory: .root, name: name))
        if names.places.places.count > count { try sink.put(names.places[place], place) }
        let stay = Stay(
            place: place, subject: .document(document), file: records.substitute(document), type: .file)
        try writeArrival(stay, .found, from: nil, time, nil, to: &sink)
        try writeDeparture(stay, .movedAway(to: nil), time, nil, NameDetail(), to: &sink)
    }

    mutating func write(moment index: Int32, before next: Event?, to sink: inout some UpgradeSink) throws {
        let moment = names.moments[Int(index)]
        let actor = try actor(moment.author, to: &sink)
        switch moment.what {
        case .begins(let how, let from):
            let from = from.map { rowsOfStays[Int($0)] }.flatMap { $0 == 0 ? nil : RowNumber($0) }
            try writeArrival(ofStay: moment.stay, how, from: from, moment.time, actor, to: &sink)
        case .parts:
            try writeArrival(
                ofStay: moment.stay, .moved, from: nil, moment.time, actor, isParted: true, to: &sink)
        case .leaves(let to):
            let target = to.flatMap { self.target($0, before: next) }
            try writeDeparture(
                names.stays[Int(moment.stay)], .movedAway(to: target), moment.time, actor, NameDetail(), to: &sink)
        case .removed(let deletion):
            let deletion = records.deletions[Int(deletion)]
            let detail = NameDetail(
                isEntry: deletion.type != .file && deletion.type != .link, deletion: deletion.id)
            let number = RowNumber(self.next)
            try writeDeparture(names.stays[Int(moment.stay)], .removed, moment.time, actor, detail, to: &sink)
            // Others have their labels.
            guard !detail.isEntry else { return }
            try sink.put(.times(number, accessed: deletion.parentAccessed, modified: deletion.parentModified))
        }
    }

    /// The row that a file goes to: the next one, or that of the document which it was renamed over.
    private func target(_ stay: Int32, before following: Event?) -> RowNumber? {
        if let following, !following.isVersion, names.moments[Int(following.index)].stay == stay,
            names.stays[Int(stay)].begin == following.index
        {
            return RowNumber(next + 1)
        }
        let known = rowsOfStays[Int(stay)]
        return known == 0 ? nil : RowNumber(known)
    }

    private mutating func writeArrival(
        ofStay index: Int32, _ how: How, from: RowNumber?, _ time: Timestamp, _ actor: ActorNumber?,
        isParted: Bool = false, to sink: inout some UpgradeSink
    ) throws {
        rowsOfStays[Int(index)] = next
        try writeArrival(names.stays[Int(index)], how, from: from, time, actor, isParted: isParted, to: &sink)
    }

    private mutating func writeArrival(
        _ stay: Stay, _ how: How, from: RowNumber?, _ time: Timestamp, _ actor: ActorNumber?,
        isParted: Bool = false, to sink: inout some UpgradeSink
    ) throws {
        let number = takeNumber()
        var row = NameRow(
            number: RowNumber(number), time: time, place: stay.place, file: stay.file, how: how, actor: actor)
        row.from = from
        row.hasNoVersions = stay.type == .directory
        var detail = NameDetail(type: stay.type)
        guard case .document(let document) = stay.subject else { return try put(row, detail, to: &sink) }
        let isFirst = firstRows[Int(document)] == 0
        if isFirst {
            firstRows[Int(document)] = number
            detail.document = records.documents[Int(document)].id
            row.isParted = isParted
            row.origin = try origin(of: document, to: &sink)
        }
        lastRows[Int(document)] = number
        row.document = DocumentNumber(firstRows[Int(document)])
        try put(row, detail, to: &sink)
        if isFirst { try writeEntry(of: document, row, to: &sink) }
    }

    /// The version that a document begins with, if that is recorded. The copy of it has the same number from then on.
    private mutating func origin(of document: Int32, to sink: inout some UpgradeSink) throws -> VersionNumber? {
        guard let origin = origins.versions[document], let copy = records.versions(of: document).first else {
            return nil
        }
        guard let number = number(ofVersion: origin) else {
            if deferred.contains(copy) { late.append(copy) }
            return nil
        }
        numbers[Int(copy)] = number.number
        written.origins += 1
        try sink.put(alias: records.versions[Int(copy)].id, of: number)
        return number
    }

    private mutating func writeDeparture(
        _ stay: Stay, _ how: How, _ time: Timestamp, _ actor: ActorNumber?, _ detail: NameDetail,
        to sink: inout some UpgradeSink
    ) throws {
        var detail = detail
        detail.type = stay.type
        let row = NameRow(
            number: RowNumber(takeNumber()), time: time, place: stay.place, file: nil, how: how, actor: actor)
        try put(row, detail, to: &sink)
    }

    private mutating func put(_ row: NameRow, _ detail: NameDetail, to sink: inout some UpgradeSink) throws {
        written.names += 1
        try sink.put(row, detail)
    }
}
