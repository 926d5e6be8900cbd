// What a container of format 1 has recorded, as its upgrade needs it in memory.

import VersionModel

/// A version of format 1 without what only its own row needs: there may be millions.
struct FormerVersion {
    /// Its row in the table.
    var row: Int64
    var id: VersionID
    /// The index of its document.
    var document: Int32
    var content: ContentID
    var size: UInt64
    var time: HybridTime
    var kind: VersionKind
    var flags: Version.Flags
    /// Where its parents are in ``FormerRecords/parents``.
    var parents: Range<Int32>
}

/// A document of format 1.
struct FormerDocument {
    /// nil for a deleted file without versions that is no item.
    var id: ItemID?
    var current: VersionID?
    var file = Item.LiveFile(id: FileID(0), size: 0, modified: Timestamp(nanoseconds: 0))
    var places: [Place] = []
    /// The deletion whose entry is all that there is of it; its index.
    var entry: Int32?
    /// Its versions in ``FormerRecords/order``, oldest first.
    var versions: Range<Int32> = 0..<0

    /// Whether a name has come back with a file that was not saved yet.
    var isReturning: Bool {
        !places.isEmpty && file.id.number == 0 && file.size == 0 && file.modified.nanoseconds == 0
    }
}

/// The records of format 1, in memory.
struct FormerRecords {
    /// In the order of their rows.
    private(set) var versions: [FormerVersion] = []
    private(set) var parents: [VersionID] = []
    var documents: [FormerDocument] = []
    var deletions: [Deletion] = []
    var directories: [Directory] = []
    /// In the order of their sequence numbers.
    var changes: [(sequence: UInt64, change: Change)] = []
    /// The last sequence number that the feed has given, also of a row that is gone.
    var lastSequence: UInt64 = 0
    /// When the directory became a container, if that is known.
    var adoption: Timestamp?

    /// The versions of each document, from oldest to newest, one document after the other: their indexes.
    private(set) var order: [Int32] = []
    /// The indexes of versions in the order of their ids.
    private var versionsByID: [Int32] = []
    /// The first documents are in the order of their ids; the others are found here.
    private var ordered = 0
    private var otherDocuments: [ItemID: Int32] = [:]
    private var documentsOfEntries: [Int32: Int32] = [:]

    mutating func reserve(versions count: Int, documents: Int) {
        versions.reserveCapacity(count)
        self.documents.reserveCapacity(documents)
    }

    // MARK: Filling

    /// Items come before versions, in the order of their ids.
    mutating func add(_ item: Item) {
        if ordered == documents.count, documents.last?.id.map({ $0 < item.id }) ?? true {
            ordered += 1
        } else {
            otherDocuments[item.id] = Int32(documents.count)
        }
        documents.append(
            FormerDocument(id: item.id, current: item.current, file: item.file, places: item.places))
    }

    /// A version of an item without a record makes one without a name.
    mutating func add(_ version: Version, row: Int64) {
        let document = index(of: version.item) ?? Int32(documents.count)
        if Int(document) == documents.count {
            otherDocuments[version.item] = document
            documents.append(FormerDocument(id: version.item))
        }
        let start = Int32(parents.count)
        parents += version.parents
        versions.append(
            FormerVersion(
                row: row, id: version.id, document: document, content: version.content, size: version.size,
                time: version.time, kind: version.kind, flags: version.flags,
                parents: start..<Int32(parents.count)))
    }

    /// Called once, after all versions.
    mutating func sortVersions() {
        versionsByID = (0..<Int32(versions.count)).sorted { versions[Int($0)].id < versions[Int($1)].id }
        order = (0..<Int32(versions.count)).sorted { left, right in
            let (one, other) = (versions[Int(left)], versions[Int(right)])
            if one.document != other.document { return one.document < other.document }
            return one.time != other.time ? one.time < other.time : left < right
        }
        var start = 0
        while start < order.count {
            let document = versions[Int(order[start])].document
            var end = start + 1
            while end < order.count, versions[Int(order[end])].document == document { end += 1 }
            documents[Int(document)].versions = Int32(start)..<Int32(end)
            start = end
        }
    }

    /// Deleted files of which the entry is all that there is: each becomes a document with one version.
    ///
    /// | the deletion of a file | its document |
    /// |---|---|
    /// | names no item, or one that goes on or has another entry | is one of its own |
    /// | names an item without a record | has that identity |
    /// | names an item without versions | is that |
    mutating func addEntryDocuments() {
        var taken: Set<Int32> = []
        for (index, deletion) in deletions.enumerated() where deletion.type == .file {
            let known = deletion.item.flatMap { self.index(of: $0) }
            if let known, documents[Int(known)].places.isEmpty, taken.insert(known).inserted {
                if documents[Int(known)].versions.isEmpty { documents[Int(known)].entry = Int32(index) }
                continue
            }
            let id = known == nil ? deletion.item : nil
            documentsOfEntries[Int32(index)] = Int32(documents.count)
            if let id {
                otherDocuments[id] = Int32(documents.count)
                taken.insert(Int32(documents.count))
            }
            documents.append(FormerDocument(id: id, entry: Int32(index)))
        }
    }

    // MARK: Asking

    /// The document that was made for an entry.
    func document(ofEntry deletion: Int32) -> Int32? { documentsOfEntries[deletion] }

    /// A number for the file of a document whose file is not recorded.
    func substitute(_ document: Int32) -> FileID {
        guard let id = documents[Int(document)].id else { return FileID(UInt64(document) + 2) }
        return FileID(max(2, BitMixing.mix(id.high ^ id.low)))
    }

    func index(of version: VersionID) -> Int32? {
        Self.search(versionsByID.count) { versions[Int(versionsByID[$0])].id >= version }.flatMap { found in
            versions[Int(versionsByID[found])].id == version ? versionsByID[found] : nil
        }
    }

    func index(of item: ItemID) -> Int32? {
        let found = Self.search(ordered) { documents[$0].id.map { $0 >= item } ?? true }
        return found.flatMap { documents[$0].id == item ? Int32($0) : nil } ?? otherDocuments[item]
    }

    /// The first number below a count for which something holds; it holds for all behind it.
    static func search(_ count: Int, _ holds: (Int) -> Bool) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low < count ? low : nil
    }

    /// The indexes of a document's versions, oldest first.
    func versions(of document: Int32) -> ArraySlice<Int32> {
        let range = documents[Int(document)].versions
        return order[Int(range.lowerBound)..<Int(range.upperBound)]
    }

    func parents(of version: Int32) -> ArraySlice<VersionID> {
        let range = versions[Int(version)].parents
        return parents[Int(range.lowerBound)..<Int(range.upperBound)]
    }

    /// The version that a document's names showed last: the recorded one, else the newest that was shown.
    func current(of document: Int32) -> Int32? {
        if let id = documents[Int(document)].current, let index = index(of: id),
            versions[Int(index)].document == document
        {
            return index
        }
        let own = versions(of: document)
        return own.last { versions[Int($0)].kind != .conflict && !versions[Int($0)].flags.contains(.beside) }
            ?? own.last
    }
}

/// What the upgrade asks of the files of a container of format 1.
protocol FormerFiles: AnyObject {
    /// What a path has; nil if there is nothing.
    func entry(_ path: TreePath) -> (file: FileID, type: EntryType)?
    /// Whether `objects/` has a content.
    func hasObject(_ content: ContentID) -> Bool
    /// What a kept content says of a version; nil if it says nothing.
    func label(of version: VersionID, in content: ContentID) -> ContentStore.Label?
    /// The times and the size of the entry of a deletion; nil if there is none.
    func status(of deletion: DeletionID) -> (size: UInt64, modified: Timestamp)?
}
