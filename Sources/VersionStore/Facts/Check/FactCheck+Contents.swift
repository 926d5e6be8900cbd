// The check of contents: each version has its bytes.

import Glibc
import Lineage
import SystemPackage
import VersionModel

/// | the bytes of (file, generation) are | if |
/// |---|---|
/// | an object | `objects/` has it: it must begin with each of its versions |
/// | in the file | that is there, and no version is in a later generation of it |
/// | lost | otherwise |
///
/// A file below is not read: where it has changed unseen, the container makes a version of that once the file is
/// touched, and marks what is lost.
extension FactCheck {
    func checkContents(_ progress: (Int, Int) -> Void) throws(StoreError) {
        let count = try facts.lists.countOfVersions()
        var (done, at) = (0, Content?.none)
        repeat {
            let page = try facts.lists.contents(after: at, limit: Self.portion)
            for use in page.elements {
                progress(done, max(count, done))
                try check(use.content)
                done += use.versions
            }
            at = page.next
        } while at != nil
        progress(done, done)
    }

    private func check(_ content: Content) throws(StoreError) {
        guard try !problems(content).isEmpty else { return }
        // Programs go on: it may have been kept, amended or given up meanwhile.
        let present = try problems(content)
        for (number, problem) in present.sorted(by: { $0.key < $1.key }) {
            try report(
                problem == Self.missing ? .contentMissing : .contentChanged, hex(number), path: path(of: number),
                problem, repair: "mark the version's content as lost; the file stays"
            ) {
                var transaction = FactTransaction()
                transaction.lose([number], at: facts.options.clock.now())
                facts.commit(transaction)
            }
        }
    }

    private static let missing = "the content is missing"

    /// The versions of a content that do not have their bytes, and why.
    private func problems(_ content: Content) throws(StoreError) -> [VersionNumber: String] {
        let versions = try prefixes(of: content)
        guard !versions.isEmpty else { return [:] }
        if let found = problems(versions, inObjectOf: content) { return found }
        if try isInFile(content) { return [:] }
        // It may have been kept since.
        return problems(versions, inObjectOf: content) ?? Self.all(versions, Self.missing)
    }

    private static func all(_ versions: [ContentPrefix], _ problem: String) -> [VersionNumber: String] {
        Dictionary(versions.map { ($0.number, problem) }) { first, _ in first }
    }

    /// - Returns: nil if there is no object.
    private func problems(
        _ versions: [ContentPrefix], inObjectOf content: Content
    ) -> [VersionNumber: String]? {
        do throws(Errno) {
            guard let object = try object(content) else { return nil }
            defer { System.close(object) }
            return try problems(versions, object, content)
        } catch { return Self.all(versions, "the content cannot be read: \(error)") }
    }

    /// - Returns: nil if there is none.
    private func object(_ content: Content) throws(Errno) -> FileDescriptor? {
        do throws(Errno) { return try store.contents.open(ContentID(content)) } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    private func isInFile(_ content: Content) throws(StoreError) -> Bool {
        let log = facts.facts()
        let last = log.lastContent(of: content.file)
        if let failure = log.failure { throw CatalogConnection.storeError(failure) }
        guard last == content else { return false }
        return switch container.look(for: content.file) {
        case .there, .unknown: true
        case .gone: false
        }
    }

    private func problems(
        _ versions: [ContentPrefix], _ object: FileDescriptor, _ content: Content
    ) throws(Errno) -> [VersionNumber: String] {
        let length = UInt64(clamping: try System.status(object).st_size)
        var problems: [VersionNumber: String] = [:]
        for version in versions where version.size > length { problems[version.number] = "the content is too short" }
        let whole = versions.filter { $0.size <= length }
        let digests = try ContentPrefix.digests(of: object, whole.filter { $0.digest != nil }.map(\.size))
        for version in whole {
            guard let wanted = version.digest, let found = digests[version.size], !found.starts(with: wanted) else {
                continue
            }
            problems[version.number] = "the content is not what was saved"
        }
        // A program that still has the file open may be writing: what it writes becomes a version at its close.
        return problems.isEmpty || container.isOpen(content.file) ? [:] : problems
    }

    /// The versions of a content that are not lost.
    private func prefixes(of content: Content) throws(StoreError) -> [ContentPrefix] {
        try facts.lists.look { look in
            var found: [ContentPrefix] = []
            for version in look.stored.versions(in: content) where version.fingerprint.size > 0 {
                let detail = try FactTables.detail(of: version.number, look.database) ?? VersionDetail()
                if detail.marks.contains(.lost) { continue }
                found.append(ContentPrefix(version, detail))
            }
            return found
        }
    }
}
