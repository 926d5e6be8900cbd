// Extended attributes under `.versions`: what the mount tells of versions, access lists, and what deleted things had.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension Browser {
    private static let accessListName = Array("system.posix_acl_access".utf8)
    private static let toldPrefix = Array("user.versions.".utf8)
    private static let hiddenPrefix = Array("user.versionsfs.".utf8)
    private static let userPrefix = Array("user.".utf8)

    public func extendedAttribute(_ caller: Caller, node id: UInt64, name: [UInt8]) throws(Errno) -> [UInt8] {
        let node = try node(id)
        if name == Self.accessListName {
            guard let list = try accessList(of: node) else { throw .noData }
            return list
        }
        if name.starts(with: Self.hiddenPrefix) { throw .noData }
        if name.starts(with: Self.toldPrefix) {
            return try told(String(decoding: name.dropFirst(Self.toldPrefix.count), as: UTF8.self), of: node)
        }
        guard name.starts(with: Self.userPrefix), case .deletion(let deletion, _) = node.subject,
            case .file(let place) = container.content(of: deletion), let value = try value(of: name, at: place)
        else { throw .noData }
        return value
    }

    /// The names, each ended by a NUL; those of `user.versions.*` are not among them (copies must not carry them).
    public func extendedAttributes(_ caller: Caller, node id: UInt64) throws(Errno) -> [UInt8] {
        let node = try node(id)
        var names: [UInt8] = []
        if case .deletion(let deletion, _) = node.subject, case .file(let place) = container.content(of: deletion) {
            let path = Backing.descriptorPath(place.directory.raw, place.path)
            let all = try Self.value { buffer, size in
                CText.lend(path) { linux_llistxattr($0, buffer?.assumingMemoryBound(to: CChar.self), size) }
            }
            for name in all.split(separator: 0)
            where name.starts(with: Self.userPrefix) && !name.starts(with: Self.hiddenPrefix) {
                names += name + [0]
            }
        }
        if try accessList(of: node) != nil { names += Self.accessListName + [0] }
        return names
    }

    // MARK: Told

    private func told(_ key: String, of node: BrowseNode) throws(Errno) -> [UInt8] {
        switch key {
        case "container": return Array(state.identity.container.hex.utf8)
        case "socket":
            guard let path = container.socketPath else { throw .noData }
            return Array(path.utf8)
        case "state": return Array("current".utf8)
        case "item", "version", "generation", "conflicts": break
        default: throw .noData
        }
        switch node.subject {
        // What is said of a directory's versions, and of what was deleted from it, is said of the directory.
        case .top, .deletions, .deletedTop, .socket: return try container.toldOfOther(key, node.directory)
        case .version(_, _, let id):
            let version = try query { history throws(StoreError) in try history.version(id) }
            guard let version else { throw .noData }
            return try told(key, version.item, id)
        case .document(let place), .section(let place, _):
            if let item = try item(at: place) { return try told(key, item.id, item.current) }
            guard let id = try documents(at: place).first,
                let item = try query({ history throws(StoreError) in try history.item(id) })
            else { throw .noData }
            return try told(key, id, item.current)
        case .deletion(let id, let file): return try told(key, of: id, file)
        }
    }

    private func told(_ key: String, of id: DeletionID, _ file: FileID) throws(Errno) -> [UInt8] {
        guard let deletion = try query({ history throws(StoreError) in try history.deletion(id) }) else {
            throw .noSuchFileOrDirectory
        }
        let item = try deletion.item.flatMap { id throws(Errno) in
            try query { history throws(StoreError) in try history.item(id) }
        }
        if let item { return try told(key, item.id, item.current) }
        let derived = deletion.item ?? DerivedIdentity.item(file, in: state.identity.container)
        switch key {
        case "item": return Array(derived.hex.utf8)
        case "version", "generation":
            guard case .file(let place) = container.content(of: id) else { throw .noData }
            let stat = try Backing.stat(place.path, in: place.directory.raw)
            return Array(VersionID(derivedFrom: derived, size: stat.size, modified: stat.modified).hex.utf8)
        default: return Array("0".utf8)
        }
    }

    private func told(_ key: String, _ item: ItemID, _ version: VersionID) throws(Errno) -> [UInt8] {
        switch key {
        case "item": return Array(item.hex.utf8)
        // What is kept of a version never changes.
        case "version", "generation": return Array(version.hex.utf8)
        default:
            return Array(String(try query { history throws(StoreError) in try history.conflicts(of: item) }.count).utf8)
        }
    }

    // MARK: Access lists

    private func accessList(of node: BrowseNode) throws(Errno) -> [UInt8]? {
        switch node.subject {
        case .document(let place) where place.directory != node.directory.file,
            .section(let place, _) where place.directory != node.directory.file:
            return nil
        case .deletedTop(let id, _):
            guard case .file(let place) = container.content(of: id) else { return nil }
            return try value(of: Self.accessListName, at: place).flatMap(AccessListEditing.withoutWriting)
        case .top, .document, .section(_, .history), .section(_, .base):
            return try liveAccessList(nil, in: node.directory).flatMap(AccessListEditing.withoutWriting)
        case .section(let place, .conflicts):
            return try liveAccessList(place.name, in: node.directory).flatMap { list in
                AccessListEditing.changed(list, Self.directoryAccess)
            }
        case .deletions: return try liveAccessList(nil, in: node.directory)
        case .version(_, _, let id):
            guard let version = try query({ history throws(StoreError) in try history.version(id) }) else { return nil }
            return try accessList(of: version).flatMap(AccessListEditing.withoutWriting)
        case .deletion(let id, _):
            switch container.content(of: id) {
            case .version(let version):
                return try accessList(of: version).flatMap(AccessListEditing.withoutWriting)
            case .file(let place):
                // The file of a noted name is elsewhere, and its mode is that file's.
                let list = try value(of: Self.accessListName, at: place)
                let stat = try Backing.stat(place.path, in: place.directory.raw)
                return stat.isRegular ? list.flatMap(AccessListEditing.withoutWriting) : list
            }
        case .socket: return nil
        }
    }

    private func accessList(of version: Version) throws(Errno) -> [UInt8]? {
        if let list = version.attributes.accessList { return list }
        let place = state.contents.place(of: version.content)
        let path = Backing.descriptorPath(place.directory.rawValue, Array(place.name.utf8))
        if state.contents.contains(version.content) { return try value(of: Self.accessListName, at: path) }
        guard let content = try? VersionContent(version, in: container) else { return nil }
        let descriptor = content.descriptor
        return try value(of: Self.accessListName, at: Array("/proc/self/fd/\(descriptor.raw)".utf8), follows: true)
    }

    /// The access list of a live directory or of a name in it.
    private func liveAccessList(_ name: FileName?, in directory: Node) throws(Errno) -> [UInt8]? {
        try tree.names.reading { () throws(Errno) in
            var place = try tree.location(of: directory)
            if let name {
                let holder = try tree.descriptor(of: directory)
                if try Backing.statIfPresent(name.bytes, in: holder.raw) == nil { return nil }
                place = Location(directory: holder, path: name.bytes)
            }
            let path = Backing.descriptorPath(place.directory.raw, place.path)
            let list = try value(of: Self.accessListName, at: path)
            // The path says nothing to the optimizer about the descriptor in it.
            return withExtendedLifetime(place) { list }
        }
    }

    // MARK: Below

    private func value(of name: [UInt8], at place: Location) throws(Errno) -> [UInt8]? {
        // The path says nothing to the optimizer about the descriptor in it.
        try withExtendedLifetime(place) { () throws(Errno) in
            try value(of: name, at: Backing.descriptorPath(place.directory.raw, place.path))
        }
    }

    /// An attribute of a file below; nil if it has none of that name, or cannot have any.
    private func value(of name: [UInt8], at path: [UInt8], follows: Bool = false) throws(Errno) -> [UInt8]? {
        do throws(Errno) {
            return try Self.value { buffer, size in
                CText.lend(path) { path in
                    CText.lend(name) { name in
                        follows ? getxattr(path, name, buffer, size) : linux_lgetxattr(path, name, buffer, size)
                    }
                }
            }
        } catch {
            switch error {
            case .noData, .notSupported: return nil
            default: throw error
            }
        }
    }

    /// Calls once for the size and once for the value, again if it grew in between.
    static func value(_ call: (UnsafeMutableRawPointer?, Int) -> Int) throws(Errno) -> [UInt8] {
        while true {
            let size = try Backing.check { call(nil, 0) }
            guard size > 0 else { return [] }
            var buffer = [UInt8](repeating: 0, count: size)
            do throws(Errno) {
                let count = try Backing.check { buffer.withUnsafeMutableBytes { call($0.baseAddress, size) } }
                return Array(buffer.prefix(count))
            } catch {
                guard error == .outOfRange else { throw error }
            }
        }
    }
}
