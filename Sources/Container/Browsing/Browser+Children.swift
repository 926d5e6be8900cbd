// What is in a directory under `.versions`.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

/// One entry of a virtual directory.
struct BrowseChild: Sendable {
    var name: FileName
    var subject: BrowseSubject
    /// `st_mode & S_IFMT`
    var type: UInt32
}

extension Browser {
    /// The entry of that name; nil if there is none.
    func child(_ name: FileName, of node: BrowseNode) throws(Errno) -> BrowseSubject? {
        switch node.subject {
        case .top(let directory): return try child(name, ofTop: directory)
        case .document(let place):
            return BrowseSubject.Section.allCases.first { $0.name == name }.map { .section(place, $0) }
        case .section(let place, let section):
            return try version(named: name, at: place, in: section).map { .version(place, section, $0.id) }
        case .deletions(let directory): return try deletions(in: directory)[name]
        case .deletion(let id, let directory):
            // A deleted entry's name, even one that no mount allows.
            if let found = try deletions(in: directory)[name] { return found }
            guard name.bytes == Self.name else { return nil }
            let deletion = try query { history throws(StoreError) in try history.deletion(id) }
            return deletion?.type == .directory ? .deletedTop(id, file: directory) : nil
        case .deletedTop(_, let directory): return try document(name, in: directory)
        case .version, .socket: throw .notDirectory
        }
    }

    /// The entries of a directory, in the order they are listed.
    func children(of node: BrowseNode) throws(Errno) -> [BrowseChild] {
        switch node.subject {
        case .top(let directory): return try documents(in: directory)
        case .deletedTop(_, let directory): return try deletedDocuments(in: directory)
        case .document(let place):
            return BrowseSubject.Section.allCases.map { section in
                BrowseChild(name: section.name, subject: .section(place, section), type: UInt32(S_IFDIR))
            }
        case .section(let place, let section):
            return try versions(at: place, in: section).compactMap { version in
                fileName(of: version, at: place).map { name in
                    BrowseChild(name: name, subject: .version(place, section, version.id), type: UInt32(S_IFREG))
                }
            }
        case .deletions(let directory), .deletion(_, let directory): return try deletions(in: directory).children
        case .version, .socket: throw .notDirectory
        }
    }

    // MARK: Documents

    private func documents(in directory: FileID) throws(Errno) -> [BrowseChild] {
        var children: [BrowseChild] = []
        for item in try query({ history throws(StoreError) in try history.itemsWithOtherVersions(in: directory) }) {
            for place in item.places where place.directory == directory {
                guard let name = BrowsedName.of(place.name) else { continue }
                children.append(BrowseChild(name: name, subject: .document(place), type: UInt32(S_IFDIR)))
            }
        }
        if let name = FileName(bytes: BrowsedName.deleted), try hasDeletions(directory) {
            children.append(BrowseChild(name: name, subject: .deletions(directory), type: UInt32(S_IFDIR)))
        }
        return children.sorted { $0.name < $1.name }
    }

    private func child(_ name: FileName, ofTop directory: FileID) throws(Errno) -> BrowseSubject? {
        // There, if empty, though it is listed only where it is not.
        if name.bytes == BrowsedName.deleted { return .deletions(directory) }
        if name.bytes == BrowsedName.socket, directory == .root, container.socketPath != nil { return .socket }
        return try document(name, in: directory)
    }

    /// A name here of a document with other versions, or of one that had them when it was deleted.
    private func document(_ shown: FileName, in directory: FileID) throws(Errno) -> BrowseSubject? {
        guard let name = BrowsedName.document(shown) else { return nil }
        let place = Place(directory: directory, name: name)
        if try !documents(at: place).isEmpty { return .document(place) }
        // A database's current version may lie here, beside the document: it is found, but not listed.
        let deleted = try deletions(in: directory).documents[name] ?? []
        let candidates = try item(at: place).map { [$0.id] + deleted } ?? deleted
        let isKept = candidates.contains { container.history.isDatabaseKept($0, as: name, in: state) }
        return isKept ? .document(place) : nil
    }

    /// The documents with other versions that were deleted from a directory which is gone itself.
    private func deletedDocuments(in directory: FileID) throws(Errno) -> [BrowseChild] {
        var children: [BrowseChild] = []
        for name in try deletions(in: directory).documents.keys.compactMap({ BrowsedName.of($0) }).sorted() {
            guard let subject = try document(name, in: directory) else { continue }
            children.append(BrowseChild(name: name, subject: subject, type: UInt32(S_IFDIR)))
        }
        return children
    }

    /// The documents with other versions that have a name, or had it when they were deleted: the live one, then the one
    /// that was deleted last. Deleted ones are found by their names; a live directory does not list them.
    func documents(at place: Place) throws(Errno) -> [ItemID] {
        let live = try item(at: place).map { [$0.id] } ?? []
        let candidates = live + (try deletions(in: place.directory).documents[place.name] ?? [])
        var documents: [ItemID] = []
        for item in candidates {
            let hasOthers = try query { history throws(StoreError) in try history.hasOtherVersions(item) }
            if hasOthers { documents.append(item) }
        }
        return documents
    }

    private func hasDeletions(_ directory: FileID) throws(Errno) -> Bool {
        try !deletions(in: directory).children.isEmpty
    }

    func item(at place: Place) throws(Errno) -> Item? {
        try query { history throws(StoreError) in try history.item(at: place) }
    }

    // MARK: Versions

    /// A document's versions in one section, newest first.
    func versions(at place: Place, in section: BrowseSubject.Section) throws(Errno) -> [Version] {
        var known = try item(at: place)?.id
        if known == nil { known = try documents(at: place).first }
        if known == nil { known = try deletions(in: place.directory).documents[place.name]?.first }
        guard let item = known else { throw .noSuchFileOrDirectory }
        return try query { history throws(StoreError) in
            switch section {
            case .conflicts: return try history.conflicts(of: item)
            case .history:
                return try history.versions(of: item).filter { $0.kind == .history && !$0.flags.contains(.contentLost) }
            case .base:
                if try history.conflicts(of: item).isEmpty { return [] }
                let versions = try history.versions(of: item)
                let bases = Set(MergeBase.ofConflicts(in: versions).values)
                return versions.filter { bases.contains($0.id) && !$0.flags.contains(.contentLost) }
            }
        }
    }

    /// The version whose file has a name. Found by the id in it: a look-up costs the same however long the history is.
    /// It may be one of a document that was deleted under this name. One without its content is found, but not listed:
    /// opening it says so.
    func version(
        named name: FileName, at place: Place, in section: BrowseSubject.Section
    ) throws(Errno) -> Version? {
        guard let parts = VersionFileName(name) else { return nil }
        let candidates = try query { history throws(StoreError) in
            try history.versions(withPrefix: parts.id, at: place)
        }
        for version in candidates where fileName(of: version, at: place) == name {
            let fits = try query { history throws(StoreError) in
                switch section {
                case .conflicts: return version.kind == .conflict
                // A current version is the document itself, but for a database with a log.
                case .history:
                    return version.kind == .history
                        || version.kind == .current && state.contents.contains(version.content)
                case .base:
                    if try history.conflicts(of: version.item).isEmpty { return false }
                    return MergeBase.ofConflicts(in: try history.versions(of: version.item)).values.contains(version.id)
                }
            }
            if fits, try hasOrHad(place, version.item) { return version }
        }
        return nil
    }

    /// Whether a document has a name, or was deleted under it.
    private func hasOrHad(_ place: Place, _ item: ItemID) throws(Errno) -> Bool {
        try query { history throws(StoreError) in
            if try history.item(item)?.places.contains(place) ?? false { return true }
            return try history.deletions(of: item).contains { $0.place == place }
        }
    }

    /// The name of a version's file.
    func fileName(of version: Version, at place: Place) -> FileName? {
        let identity = state.identity
        let device = version.device == identity.device ? identity.deviceName : version.device.short
        return VersionFileName(version: version.id, saved: version.saved, device: device, document: place.name).name
    }

    /// Where the version's file is now, relative to the document's directory: `.versions/NAME/SECTION/FILE`; nil for a
    /// current version, which is the document itself.
    public func path(of version: Version, at place: Place) -> TreePath? {
        guard version.kind != .current, let top = FileName(bytes: Self.name),
            let name = BrowsedName.of(place.name), let file = fileName(of: version, at: place)
        else { return nil }
        let section: BrowseSubject.Section = version.kind == .conflict ? .conflicts : .history
        return TreePath(names: [top, name, section.name, file])
    }

    // MARK: Deletions

    /// What was deleted from a directory.
    func deletions(in directory: FileID) throws(Errno) -> DeletionListing {
        let sequence = try query { history throws(StoreError) in try history.lastNumber() }
        if let known = deletionListings[directory, sequence] { return known }
        let found = try query { history throws(StoreError) in try history.deletions(in: directory) }
        var documents: [FileName: [ItemID]] = [:]
        for deletion in found where deletion.type == .file || deletion.type == .link {
            if let item = deletion.item { documents[deletion.place.name, default: []].append(item) }
        }
        let listing = DeletionListing(Self.named(found), documents: documents)
        deletionListings[directory, sequence] = listing
        return listing
    }

    /// The last thing of each name gets that name, older ones `NAME@STAMP`.
    private static func named(_ newestFirst: [Deletion]) -> [BrowseChild] {
        var taken: Set<FileName> = []
        var children: [BrowseChild] = []
        var older: [Deletion] = []
        for deletion in newestFirst {
            if taken.insert(deletion.place.name).inserted {
                children.append(BrowseChild(deletion, as: deletion.place.name))
            } else {
                older.append(deletion)
            }
        }
        for deletion in older {
            var time = deletion.deleted
            var name = DeletedFileName.older(deletion.place.name, deleted: time)
            // Two of one name within a millisecond.
            while !taken.insert(name).inserted {
                time = time.advanced(byNanoseconds: 1_000_000)
                name = DeletedFileName.older(deletion.place.name, deleted: time)
            }
            children.append(BrowseChild(deletion, as: name))
        }
        return children
    }
}

extension BrowseChild {
    fileprivate init(_ deletion: Deletion, as name: FileName) {
        self.init(name: name, subject: .deletion(deletion.id, file: deletion.file), type: deletion.type.mode)
    }
}

extension EntryType {
    /// `st_mode & S_IFMT`; 0 for a device, whose kind the record does not tell.
    fileprivate var mode: UInt32 {
        switch self {
        case .file, .link: UInt32(S_IFREG)
        case .directory: UInt32(S_IFDIR)
        case .symlink: UInt32(S_IFLNK)
        case .fifo: UInt32(S_IFIFO)
        case .socket: UInt32(S_IFSOCK)
        case .device: 0
        }
    }
}
