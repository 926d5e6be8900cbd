// The binary form of the catalog's changes, for the redo log. The numbers are part of the format.

import VersionModel

extension ByteWriter {
    mutating func item(_ value: Item) {
        identity(value.id)
        count(UInt64(value.places.count))
        for place in value.places { self.place(place) }
        identity(value.current)
        fixed(value.file.id.number)
        count(value.file.size)
        time(value.file.modified)
        if let changed = value.file.changed { time(changed) }
    }

    mutating func mutation(_ mutation: VersionStore.Mutation) {
        switch mutation {
        case .item(let item): tagged(item.file.changed == nil ? 0 : 14) { $0.item(item) }
        case .forgetItem(let id): tagged(1) { $0.identity(id) }
        case .version(let version): tagged(2) { $0.version(version) }
        case .kind(let id, let kind): tagged(3) { $0.identity(id); $0.byte(kind.code) }
        case .flags(let id, let flags): tagged(4) { $0.identity(id); $0.fixed(flags.rawValue) }
        case .hash(let id, let hash): tagged(5) { $0.identity(id); $0.string(hash) }
        case .removeVersion(let id): tagged(6) { $0.identity(id) }
        case .deletion(let deletion): tagged(7) { $0.deletion(deletion) }
        case .removeDeletion(let id): tagged(8) { $0.identity(id) }
        case .directory(let directory): tagged(9) { $0.fixed(directory.id.number); $0.place(directory.place) }
        case .removeDirectory(let id): tagged(10) { $0.fixed(id.number) }
        case .change(let change): tagged(11) { $0.change(change) }
        case .parents(let id, let parents):
            tagged(13) { writer in
                writer.identity(id)
                writer.count(UInt64(parents.count))
                for parent in parents { writer.identity(parent) }
            }
        case .setting(let key, let value): tagged(12) { $0.text(key); $0.optional(value) { $0.string($1) } }
        case .content(let id, let content): tagged(15) { $0.identity(id); $0.identity(content) }
        }
    }

    private mutating func tagged(_ tag: UInt8, _ body: (inout ByteWriter) -> Void) {
        byte(tag)
        body(&self)
    }
}

extension ByteReader {
    mutating func item(hasChanged: Bool) throws(CodingError) -> Item {
        let id: ItemID = try identity()
        var places: [Place] = []
        for _ in 0..<(try count(ofAtLeast: 9)) { places.append(try place()) }
        let current: VersionID = try identity()
        let file = Item.LiveFile(
            id: FileID(try fixed64()), size: try size(), modified: try time(), changed: hasChanged ? try time() : nil)
        return Item(id: id, places: places, current: current, file: file)
    }

    mutating func mutation() throws(CodingError) -> VersionStore.Mutation {
        switch try byte() {
        case 0: return .item(try item(hasChanged: false))
        case 1: return .forgetItem(try identity())
        case 2: return .version(try version())
        case 3: return .kind(try identity(), try code(VersionKind.init(code:)))
        case 4: return .flags(try identity(), Version.Flags(rawValue: try fixed32()))
        case 5: return .hash(try identity(), try string())
        case 6: return .removeVersion(try identity())
        case 7: return .deletion(try deletion())
        case 8: return .removeDeletion(try identity())
        case 9: return .directory(Directory(id: FileID(try fixed64()), place: try place()))
        case 10: return .removeDirectory(FileID(try fixed64()))
        case 11: return .change(try change())
        case 12:
            let key = try text()
            return .setting(key: key, value: try optional { (reader) throws(CodingError) in try reader.string() })
        case 13:
            let id: VersionID = try identity()
            var parents: [VersionID] = []
            for _ in 0..<(try count(ofAtLeast: 16)) { parents.append(try identity()) }
            return .parents(id, parents)
        case 14: return .item(try item(hasChanged: true))
        case 15: return .content(try identity(), try identity())
        default: throw CodingError()
        }
    }
}
