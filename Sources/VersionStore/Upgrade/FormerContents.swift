// Where the contents of format 1 are, and what they are called in schema 2.

import Lineage
import VersionModel

/// A content of format 1 is found in one of these places; otherwise it is lost.
///
/// | place | content in schema 2 |
/// |---|---|
/// | `objects/` | the 16 bytes of its name, as they are |
/// | an entry of `deleted/` | the same: the entry becomes an object |
/// | a live file, in which it is current | that file's first generation |
struct FormerContents {
    private let files: any FormerFiles
    /// In the order of the contents.
    private var live: [(content: ContentID, file: FileID)] = []
    /// The deletion by which a content came to the deleted area.
    private(set) var entries: [ContentID: Int32] = [:]

    init(_ records: FormerRecords, _ names: FormerNames, _ files: any FormerFiles) {
        self.files = files
        var isLive = Array(repeating: Int32(-1), count: records.documents.count)
        for (index, stay) in names.stays.enumerated() where stay.end == Stay.none {
            if case .document(let document) = stay.subject { isLive[Int(document)] = Int32(index) }
        }
        for (document, stay) in isLive.enumerated() where stay >= 0 && !records.documents[document].isReturning {
            guard let current = records.current(of: Int32(document)) else { continue }
            let content = records.versions[Int(current)].content
            if !files.hasObject(content) { live.append((content, names.stays[Int(stay)].file)) }
        }
        live.sort { ($0.content, $0.file) < ($1.content, $1.file) }
        for (index, deletion) in records.deletions.enumerated() where deletion.type == .file {
            guard let document = names.documents[index], let current = records.current(of: document),
                files.status(of: deletion.id) != nil
            else { continue }
            entries[records.versions[Int(current)].content] = Int32(index)
        }
    }

    /// The live file that has a content.
    private func file(of content: ContentID) -> FileID? {
        let found = FormerRecords.search(live.count) { live[$0].content >= content }
        return found.flatMap { live[$0].content == content ? live[$0].file : nil }
    }

    func content(_ content: ContentID) -> Content {
        if let file = file(of: content) { return Content(file: file, generation: 0) }
        return Content(file: FileID(content.high), generation: content.low)
    }

    func isThere(_ content: ContentID) -> Bool {
        file(of: content) != nil || entries[content] != nil || files.hasObject(content)
    }
}
