// The binary form of the model's values, for labels and catalog records.

import VersionModel

extension ByteWriter {
    mutating func identity<Subject>(_ value: Identifier<Subject>) {
        fixed(value.high)
        fixed(value.low)
    }

    mutating func time(_ value: Timestamp) { fixed(value.nanoseconds) }

    mutating func place(_ value: Place) {
        fixed(value.directory.number)
        string(value.name.bytes)
    }

    mutating func author(_ value: Author) {
        fixed(value.userID)
        text(value.user)
        text(value.program)
        fixed(UInt32(bitPattern: value.process))
    }

    mutating func attributes(_ value: Attributes) {
        fixed(value.mode)
        fixed(value.owner)
        fixed(value.group)
        optional(value.accessList) { $0.string($1) }
    }

    mutating func version(_ value: Version) {
        identity(value.id)
        identity(value.item)
        byte(value.kind.code)
        identity(value.content)
        count(value.size)
        time(value.modified)
        time(value.saved)
        time(value.time.wall)
        fixed(value.time.logical)
        identity(value.device)
        author(value.author)
        count(UInt64(value.parents.count))
        for parent in value.parents { identity(parent) }
        optional(value.base) { $0.identity($1) }
        optional(value.hash) { $0.string($1) }
        attributes(value.attributes)
        fixed(value.flags.rawValue)
    }

    mutating func deletion(_ value: Deletion) {
        identity(value.id)
        place(value.place)
        string(value.path.bytes)
        byte(value.type.code)
        fixed(value.file.number)
        optional(value.item) { $0.identity($1) }
        count(value.size)
        time(value.deleted)
        author(value.author)
        identity(value.group)
        time(value.parentAccessed)
        time(value.parentModified)
        attributes(value.attributes)
    }

    mutating func change(_ value: Change) {
        let detail = value.detail == Change.Detail() ? nil : value.detail
        byte(
            value.event.code | (value.origin == nil ? 0 : ChangeEvent.originFollows)
                | (value.directory == nil ? 0 : ChangeEvent.directoriesFollow)
                | (detail == nil ? 0 : ChangeEvent.detailFollows))
        string(value.path.bytes)
        optional(value.from) { $0.string($1.bytes) }
        optional(value.item) { $0.identity($1) }
        optional(value.version) { $0.identity($1) }
        time(value.time)
        optional(value.author) { $0.author($1) }
        if let origin = value.origin { fixed(origin) }
        if let directory = value.directory {
            fixed(directory.number)
            optional(value.fromDirectory) { $0.fixed($1.number) }
        }
        guard let detail else { return }
        byte((detail.isComingBack ? 1 : 0) | (detail.isExchange ? 2 : 0) | (detail.amended == nil ? 0 : 4))
        if let amended = detail.amended { fixed(amended) }
    }
}

extension ByteReader {
    mutating func identity<Subject>() throws(CodingError) -> Identifier<Subject> {
        Identifier(high: try fixed64(), low: try fixed64())
    }

    mutating func time() throws(CodingError) -> Timestamp { Timestamp(nanoseconds: try signed64()) }

    mutating func path() throws(CodingError) -> TreePath {
        guard let path = TreePath(bytes: try string()) else { throw CodingError() }
        return path
    }

    mutating func place() throws(CodingError) -> Place {
        let directory = FileID(try fixed64())
        guard let name = FileName(bytes: try string()) else { throw CodingError() }
        return Place(directory: directory, name: name)
    }

    mutating func author() throws(CodingError) -> Author {
        Author(
            userID: try fixed32(), user: try text(), program: try text(), process: Int32(bitPattern: try fixed32()))
    }

    mutating func attributes() throws(CodingError) -> Attributes {
        Attributes(
            mode: try fixed32() & 0o7777, owner: try fixed32(), group: try fixed32(),
            accessList: try optional { (reader) throws(CodingError) in try reader.string() })
    }

    /// A valid size of a file.
    mutating func size() throws(CodingError) -> UInt64 {
        let size = try count()
        guard size <= UInt64(Int64.max) else { throw CodingError() }
        return size
    }

    mutating func code<Value>(_ decode: (UInt8) -> Value?) throws(CodingError) -> Value {
        guard let value = decode(try byte()) else { throw CodingError() }
        return value
    }

    mutating func version() throws(CodingError) -> Version {
        let id: VersionID = try identity()
        let item: ItemID = try identity()
        let kind = try code(VersionKind.init(code:))
        let content: ContentID = try identity()
        let size = try size()
        let modified = try time()
        let saved = try time()
        let hybrid = HybridTime(wall: try time(), logical: try fixed32())
        let device: DeviceID = try identity()
        let author = try author()
        var parents: [VersionID] = []
        for _ in 0..<(try count(ofAtLeast: 16)) { parents.append(try identity()) }
        return Version(
            id: id, item: item, kind: kind, content: content, size: size, modified: modified, saved: saved,
            time: hybrid, device: device, author: author, parents: parents,
            base: try optional { (reader) throws(CodingError) in try reader.identity() },
            hash: try optional { (reader) throws(CodingError) in try reader.string() },
            attributes: try attributes(), flags: Version.Flags(rawValue: try fixed32()))
    }

    mutating func deletion() throws(CodingError) -> Deletion {
        Deletion(
            id: try identity(), place: try place(), path: try path(), type: try code(EntryType.init(code:)),
            file: FileID(try fixed64()), item: try optional { (reader) throws(CodingError) in try reader.identity() },
            size: try size(), deleted: try time(), author: try author(), group: try identity(),
            parentAccessed: try time(), parentModified: try time(), attributes: try attributes())
    }

    mutating func change() throws(CodingError) -> Change {
        let code = try byte()
        let flags = ChangeEvent.originFollows | ChangeEvent.directoriesFollow | ChangeEvent.detailFollows
        guard let event = ChangeEvent(code: code & ~flags) else { throw CodingError() }
        var change = Change(
            event: event, path: try path(),
            from: try optional { (reader) throws(CodingError) in try reader.path() },
            item: try optional { (reader) throws(CodingError) in try reader.identity() },
            version: try optional { (reader) throws(CodingError) in try reader.identity() },
            time: try time(), author: try optional { (reader) throws(CodingError) in try reader.author() })
        if code & ChangeEvent.originFollows != 0 { change.origin = try fixed64() }
        if code & ChangeEvent.directoriesFollow != 0 {
            change.directory = FileID(try fixed64())
            change.fromDirectory = try optional { (reader) throws(CodingError) in FileID(try reader.fixed64()) }
        }
        if code & ChangeEvent.detailFollows != 0 {
            let detail = try byte()
            change.detail.isComingBack = detail & 1 != 0
            change.detail.isExchange = detail & 2 != 0
            if detail & 4 != 0 { change.detail.amended = try fixed64() }
        }
        return change
    }
}

// The numbers of cases on disk. They are part of the container's format: never change or reuse one.

extension VersionKind {
    var code: UInt8 {
        switch self {
        case .current: 0
        case .history: 1
        case .conflict: 2
        }
    }

    init?(code: UInt8) {
        guard let value = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = value
    }
}

extension EntryType {
    var code: UInt8 {
        switch self {
        case .file: 0
        case .directory: 1
        case .symlink: 2
        case .fifo: 3
        case .socket: 4
        case .device: 5
        case .link: 6
        }
    }

    init?(code: UInt8) {
        guard let value = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = value
    }
}

extension ChangeEvent {
    /// Set in the code of a change with an origin.
    static let originFollows: UInt8 = 0x80
    /// Set in the code of a change with known directories.
    static let directoriesFollow: UInt8 = 0x40
    /// Set in the code of a change with a detail.
    static let detailFollows: UInt8 = 0x20

    var code: UInt8 {
        switch self {
        case .created: 0
        case .saved: 1
        case .renamed: 2
        case .deleted: 3
        case .undeleted: 4
        case .conflict: 5
        case .resolved: 6
        case .versionLost: 7
        case .attributes: 8
        }
    }

    init?(code: UInt8) {
        guard let value = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = value
    }
}
