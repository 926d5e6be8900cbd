// Facts, read from their binary form.

import Lineage
import VersionModel

extension ByteReader {
    mutating func list<Element>(
        _ read: (inout ByteReader) throws(CodingError) -> Element
    ) throws(CodingError) -> [Element] {
        var list: [Element] = []
        for _ in 0..<(try count(ofAtLeast: 1)) { list.append(try read(&self)) }
        return list
    }

    private mutating func number<Subject>() throws(CodingError) -> FactNumber<Subject> { FactNumber(try count()) }

    private mutating func optionalNumber<Subject>() throws(CodingError) -> FactNumber<Subject>? {
        try optional { (reader) throws(CodingError) in try reader.number() }
    }

    private mutating func actor() throws(CodingError) -> ActorNumber? {
        try optional { (reader) throws(CodingError) in ActorNumber(try reader.count32()) }
    }

    private mutating func file() throws(CodingError) -> FileID? {
        try optional { (reader) throws(CodingError) in FileID(try reader.fixed64()) }
    }

    // MARK: Facts

    mutating func fact(_ details: inout FactDetails) throws(CodingError) -> Fact {
        switch try byte() {
        case 0: return .row(try row(&details))
        case 1: return .version(try versionRow(&details))
        case 2: return .amend(try versionRow(&details))
        case 3: return .settle(try number())
        case 4: return .forget(try number())
        case 5: return .publish(try number())
        case 6: return .purge(try number())
        default: throw CodingError()
        }
    }

    private mutating func row(_ details: inout FactDetails) throws(CodingError) -> NameRow {
        let number: RowNumber = try number()
        let (time, place) = (try time(), PlaceNumber(try count32()))
        let file = try file()
        let code = Int64(try byte())
        guard let how = FactTables.how(code: code, target: try optionalNumber()) else { throw CodingError() }
        var row = NameRow(number: number, time: time, place: place, file: file, how: how, actor: nil)
        row.from = try optionalNumber()
        let flags = try byte()
        (row.isContinuing, row.hasNoVersions, row.isParted) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0)
        row.actor = try actor()
        row.document = try self.number()
        row.origin = try optionalNumber()
        details.names[number] = try optional { (reader) throws(CodingError) in
            NameDetail(
                type: try reader.code(EntryType.init(code:)), isEntry: try reader.byte() != 0,
                document: try reader.optional { (reader) throws(CodingError) in try reader.identity() },
                deletion: try reader.optional { (reader) throws(CodingError) in try reader.identity() })
        }
        return row
    }

    private mutating func versionRow(_ details: inout FactDetails) throws(CodingError) -> VersionRow {
        let number: VersionNumber = try number()
        let time = try time()
        let row: RowNumber = try self.number()
        let content = Content(file: FileID(try fixed64()), generation: try count())
        let saved = try file()
        let fingerprint = Fingerprint(size: try size(), high: try fixed64(), low: try fixed64())
        var version = VersionRow(
            number: number, time: time, row: row, content: content, fingerprint: fingerprint,
            file: saved ?? content.file, modified: try self.time(), author: try actor())
        version.base = try optionalNumber()
        version.parents = Parents(try optionalNumber(), try optionalNumber())
        version.loser = try optionalNumber()
        let flags = try byte()
        if flags & 1 != 0 { version.beside = .history }
        if flags & 2 != 0 { version.beside = .conflict }
        (version.isAppended, version.isAtHome, version.isForgotten) = (flags & 4 != 0, flags & 8 != 0, flags & 16 != 0)
        version.isImage = flags & 32 != 0
        details.versions[number] = try optional { (reader) throws(CodingError) in
            VersionDetail(
                hash: try reader.optional { (reader) throws(CodingError) in try reader.string() },
                attributes: try reader.optional { (reader) throws(CodingError) in try reader.attributes() },
                changed: try reader.optional { (reader) throws(CodingError) in try reader.time() },
                marks: VersionMarks(rawValue: try reader.byte()),
                alias: try reader.optional { (reader) throws(CodingError) in try reader.identity() })
        }
        return version
    }

    // MARK: What is no fact

    mutating func factChange() throws(CodingError) -> FactChange {
        switch try byte() {
        case 0: return .hash(try number(), try string())
        case 1: return .attributes(try number(), try attributes())
        case 2:
            return .marks(
                try number(), added: VersionMarks(rawValue: try byte()), removed: VersionMarks(rawValue: try byte()))
        case 3: return .changed(try number(), try optional { (reader) throws(CodingError) in try reader.time() })
        case 4: return .removeVersion(try number())
        case 5: return .removeRow(try number())
        case 6: return .label(try count(), try optional { (reader) throws(CodingError) in try reader.text() })
        case 7:
            let key = try text()
            return .setting(key: key, value: try optional { (reader) throws(CodingError) in try reader.string() })
        case 8: return .times(try number(), accessed: try time(), modified: try time())
        case 9: return .directory(FileID(try fixed64()), is: FileID(try fixed64()))
        default: throw CodingError()
        }
    }

    mutating func event() throws(CodingError) -> FactEvent {
        switch try byte() {
        case 0: return .amended(try number())
        case 1: return .settled(try number())
        case 2: return .forgotten(try number())
        case 3: return .purged(try number())
        case 4: return .published(try number())
        case 5: return .attributes(try number(), try circumstances())
        case 6: return .lost(try number(), try circumstances())
        case 7: return .marked(try number(), try circumstances())
        case 8: return .labeled(try count(), try circumstances())
        case 9: return .origin(try fixed64())
        case 10:
            let version: VersionNumber = try number()
            let size = try optional { (reader) throws(CodingError) in try reader.count() }
            return .former(version, size: size, since: try time())
        case 11: return .refused(try number(), try circumstances())
        default: throw CodingError()
        }
    }

    private mutating func circumstances() throws(CodingError) -> FactEvent.Circumstances {
        FactEvent.Circumstances(time: try time(), actor: try actor())
    }
}
