// What kept contents say of themselves, as settling reads it.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension KeptObjects: SettledContents {
    func labels(of content: Content) throws(Errno) -> [Lineage.Label] {
        let described: [ContentStore.Label]
        do throws(Errno) { described = try custodian.state.contents.labels(of: ContentID(content)) } catch {
            // One that cannot be read says nothing.
            if [.noData, .illegalByteSequence, .noSuchFileOrDirectory].contains(error) { return [] }
            throw error
        }
        let file: FileDescriptor
        do { file = try custodian.state.contents.open(ContentID(content)) } catch { return [] }
        let opened = SharedDescriptor(file.rawValue)
        var labels: [Lineage.Label] = []
        for label in described {
            if let label = try self.label(label, content, opened) { labels.append(label) }
        }
        return labels
    }

    func keep(
        _ copy: SharedDescriptor, of file: SharedDescriptor, as content: Content, _ labels: [Lineage.Label]
    ) throws(Errno) {
        let (label, others) = try described(labels, of: try Backing.stat(copy.raw), in: directory(of: file))
        try custodian.keep(copying: copy.raw, as: ContentID(content), label, also: others)
    }

    /// The bytes that a label tells of count, not what it says of them. A label of another core's version has another
    /// kind of identity, and tells nothing here.
    private func label(
        _ label: ContentStore.Label, _ content: Content, _ object: SharedDescriptor
    ) throws(Errno) -> Lineage.Label? {
        let version = label.version
        guard let number = facts.number(of: version.id), version.content == ContentID(content) else { return nil }
        let size = min(version.size, try Backing.stat(object.raw).size)
        let bytes: Fingerprint
        if size > FileLooks.hashedAtOnce {
            bytes = .unknown(size, in: content, modified: version.modified)
        } else {
            guard let hash = ContentHash.sha256(of: object.raw, size: size) else { return nil }
            bytes = Fingerprint(hash: hash, size: size)
        }
        let (place, author): (PlaceNumber, ActorNumber)
        do throws(StoreError) {
            place = try facts.number(of: label.place)
            author = try facts.number(of: ActorFacts(author: version.author, started: 0))
        } catch { throw .ioError }
        var row = VersionRow(
            number: number, time: version.saved, row: RowNumber(0), content: content,
            fingerprint: bytes, file: content.file, modified: version.modified, author: author)
        var parents = version.parents.compactMap { facts.number(of: $0) }[...]
        row.parents = Parents(parents.popFirst(), parents.popFirst())
        var told = Lineage.Label(version: row, place: place)
        let isHashed = size <= FileLooks.hashedAtOnce
        told.isPart = size < version.size || isHashed && label.row.map { $0.fingerprint != bytes } ?? false
        return told
    }
}

extension KeptObjects {
    /// An open content; nil if it is not kept.
    func open(_ content: Content) throws(Errno) -> SharedDescriptor? {
        do throws(Errno) {
            return SharedDescriptor(try custodian.state.contents.open(ContentID(content)).rawValue)
        } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// The versions of a kept content as it says, not as it has them.
    func stated(_ content: Content) -> [VersionRow] {
        ((try? custodian.state.contents.labels(of: ContentID(content))) ?? []).compactMap(\.row)
    }
}
