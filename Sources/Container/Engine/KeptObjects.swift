// The contents that the engine keeps are objects of the container's store.

import CLinux
import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// Objects by the names of Lineage's contents.
final class KeptObjects: KeptContents {
    let custodian: Custodian
    let facts: FactStore
    private let files: FilesInReach
    private let policy: Policy

    init(_ custodian: Custodian, facts: FactStore, files: FilesInReach, _ policy: Policy) {
        (self.custodian, self.facts, self.files, self.policy) = (custodian, facts, files, policy)
    }

    func mayKeep(size: UInt64) -> Bool { room(for: size) <= policy.settings.maxFile }
    func room(for size: UInt64) -> UInt64 { custodian.state.contents.canReflink ? 0 : size }

    func size(of content: Content) -> UInt64? {
        let place = custodian.state.contents.place(of: ContentID(content))
        return (try? Backing.stat(Array(place.name.utf8), in: place.directory.rawValue))?.size
    }

    func keep(
        copying file: Int32, as content: Content, _ labels: [Lineage.Label], isDurable: Bool
    ) throws(Errno) {
        let stat = try Backing.stat(file)
        let (label, others) = try described(labels, of: stat, in: home(of: stat) ?? path(of: file, isFile: true))
        let mayBeOvertaken = custodian.state.contents.mayBeOvertaken
        let isAlone = custodian.state.contents.synchronizesOneFile
        let isExposed = (mayBeOvertaken || isAlone) && isSynchronized(file, content, stat)
        try custodian.keep(
            copying: file, as: ContentID(content), label, also: others,
            isDurable: isDurable || isExposed && mayBeOvertaken)
        // A mapping, or a descriptor that synchronizes each write, makes the next content durable without a request.
        if isExposed, isAlone { custodian.state.contents.settle() }
    }

    /// Whether the file says that its content was synchronized, here or under the name that it had then
    /// (docs/decisions/0003).
    private func isSynchronized(_ file: Int32, _ content: Content, _ stat: FileStat) -> Bool {
        custodian.state.contents.labels(live: FileDescriptor(rawValue: file)).map(\.version).contains { version in
            version.content == ContentID(content) || version.size == stat.size && version.modified == stat.modified
        }
    }

    /// Keeps a file itself, which is about to lose its last name: by a second one, or by a copy where it can have none.
    /// - Parameter home: the directory of the document, if the file is in another one.
    func keep(
        _ whole: WholeContent, linking name: FileName, in directory: SharedDescriptor, _ stat: FileStat,
        of home: SharedDescriptor? = nil
    ) throws(Errno) {
        let known = home == nil ? self.home(of: stat) : nil
        let homeDirectory = home ?? directory
        let path = known ?? path(of: homeDirectory.raw, isFile: false)
        let (label, others) = try described(whole.labels, of: stat, in: path)
        let content = ContentID(whole.content)
        do throws(Errno) {
            return try custodian.keep(linking: name, in: directory, as: content, label, also: others)
        } catch {
            guard [.notPermitted, .tooManyLinks, .improperLink].contains(error) else { throw error }
        }
        let file = try files.open(whole.content.file)
        try custodian.keep(copying: file.raw, as: content, label, also: others)
    }

    /// A file that is an object itself is its program's again: the object is a copy from now on.
    /// - Throws: ESTALE if another request is at that, or the content was given up meanwhile.
    func takeBack(_ node: Node, from content: ContentID) throws(Errno) {
        let place = custodian.state.contents.place(of: content)
        let path = Array(place.name.utf8)
        func open(_ flags: Int32) throws(Errno) -> SharedDescriptor {
            do throws(Errno) {
                return SharedDescriptor(
                    try Backing.open(path, in: place.directory.rawValue, flags: flags | O_NOFOLLOW))
            } catch { throw error == .noSuchFileOrDirectory ? Errno(rawValue: ESTALE) : error }
        }
        let (held, file) = (try open(linux_O_PATH), try open(O_RDONLY))
        let keys = (try Backing.stat(held.raw).key, try Backing.stat(file.raw).key)
        let labels = try custodian.state.contents.labels(of: content)
        guard keys == (custodian.nodes.key(of: node), custodian.nodes.key(of: node)), let first = labels.first else {
            throw Errno(rawValue: ESTALE)
        }
        try custodian.keep(
            copying: file.raw, as: content, first, also: Array(labels.dropFirst()), isDurable: true)
        custodian.nodes.detach(node, held)
    }

    func setTime(of content: Content, _ modified: Timestamp) {
        let place = custodian.state.contents.place(of: ContentID(content))
        try? Backing.setTimes(
            Array(place.name.utf8), in: place.directory.rawValue, accessed: modified.timespec,
            modified: modified.timespec)
    }

    /// The time that a file had when this content was kept of it: a program may have set it since the save. nil if the
    /// content has another size than the version.
    func modified(_ version: VersionRow) -> Timestamp? {
        let place = custodian.state.contents.place(of: ContentID(version.content))
        guard let stat = try? Backing.stat(Array(place.name.utf8), in: place.directory.rawValue), stat.isRegular,
            stat.size == version.fingerprint.size
        else { return nil }
        return stat.modified
    }

    /// The event that it was kept for was not carried out, or settling has found that no version needs it.
    func drop(_ content: Content) { custodian.drop(ContentID(content)) }

    func copy(_ content: Content, size: UInt64, to file: FileID, isDurable: Bool) throws(Errno) {
        let object: FileDescriptor
        do { object = try custodian.state.contents.open(ContentID(content)) } catch { throw error }
        try copy(SharedDescriptor(object.rawValue), size: size, to: file, isDurable: isDurable)
    }

    /// The file is in reach, and its maker may write it. What an earlier plan has put into it goes.
    func copy(_ source: SharedDescriptor, size: UInt64, to file: FileID, isDurable: Bool) throws(Errno) {
        guard let target = files.inReach(file) else { throw .noSuchFileOrDirectory }
        try Backing.check { ftruncate(target.raw, 0) }
        if try Backing.stat(source.raw).size == size, linux_clone_file(target.raw, source.raw) == 0 { return }
        try StagedFile.copy(from: source.raw, to: target.raw, size: size)
        // Less than the version had: nothing that may be one.
        guard try Backing.stat(target.raw).size == size else { throw .ioError }
        guard isDurable else { return }
        try custodian.state.contents.synchronizing { () throws(Errno) in _ = try Backing.check { fsync(target.raw) } }
    }

    // MARK: Removing

    /// A content goes, or its end, as far as no version needs it. What stays says that it is of those that are left.
    /// - Returns: the freed bytes.
    func keepOnly(_ left: [VersionRow], of content: Content) throws(Errno) -> UInt64 {
        guard let size = size(of: content) else { return 0 }
        guard let longest = left.map(\.fingerprint.size).max() else {
            drop(content)
            return size
        }
        // Of versions in memory alone nothing is known yet: they need it as it is.
        guard let labels = try labels(left, of: content) else { return 0 }
        guard longest < size else {
            write(labels, to: content)
            return 0
        }
        try custodian.cut(ContentID(content), to: longest, labels)
        return size - longest
    }

    /// - Returns: nil if one of the versions is in memory alone.
    private func labels(_ left: [VersionRow], of content: Content) throws(Errno) -> [ContentStore.Label]? {
        var labels: [Lineage.Label] = []
        for version in left {
            let row: NameRow? = facts.facts().row(version.row)
            if let row { labels.append(Lineage.Label(version: version, at: row)) }
        }
        guard labels.count == left.count else { return nil }
        let object: FileDescriptor
        do { object = try custodian.state.contents.open(ContentID(content)) } catch { throw error }
        let held = SharedDescriptor(object.rawValue)
        let stat = try withExtendedLifetime(held) { () throws(Errno) in try Backing.stat(held.raw) }
        let former = try? custodian.state.contents.label(of: ContentID(content)).path.parent
        let described = try described(labels, of: stat, in: former ?? .root)
        return [described.0] + described.also
    }

    // MARK: Labels

    /// - Parameter directory: where the content was, if that is known.
    func described(
        _ labels: [Lineage.Label], of stat: FileStat, in directory: TreePath
    ) throws(Errno) -> (ContentStore.Label, also: [ContentStore.Label]) {
        var described: [ContentStore.Label] = []
        for label in labels { described.append(try self.described(label, Attributes(stat), in: directory)) }
        guard let first = described.first else { throw .ioError }
        return (first, Array(described.dropFirst()))
    }

    func described(
        _ label: Lineage.Label, _ attributes: Attributes, in directory: TreePath
    ) throws(Errno) -> ContentStore.Label {
        do { return try facts.label(of: label.version, label.rows, attributes, in: directory) } catch {
            throw .ioError
        }
    }

    func label(_ version: VersionRow, isConflict: Bool) {
        let content = ContentID(version.content)
        guard var labels = try? custodian.state.contents.labels(of: content), let first = labels.first else { return }
        var version = version
        version.beside = isConflict ? .conflict : version.beside == .conflict ? .history : version.beside
        labels = labels.map { $0.amended(by: version) }
        guard labels.first != first || labels.count > 1 else { return }
        write(labels, to: version.content)
    }

    /// A label that cannot be written matters only if the catalog is lost.
    private func write(_ labels: [ContentStore.Label], to content: Content) {
        do throws(Errno) { try custodian.write(labels, to: ContentID(content)) } catch {
            let object = "\(ContentID(content))"
            custodian.logger.warning("a kept content could not be labeled: \(error)", metadata: ["object": "\(object)"])
        }
    }

    /// A content says of which version it is the content, once that has a number.
    func relabel(_ version: VersionRow, _ attributes: Attributes, in directory: TreePath) throws(Errno) {
        guard let row = facts.facts().row(version.row) else { return }
        let label = try described(Lineage.Label(version: version, at: row), attributes, in: directory)
        try custodian.write([label], to: ContentID(version.content))
    }

    /// The path of the directory that a file is in; nil if the kernel does not know the file by a name.
    private func home(of file: FileStat) -> TreePath? {
        let nodes = custodian.nodes
        return nodes.node(file.key).flatMap { nodes.location($0).name }.flatMap { nodes.path($0.parent) }
    }

    /// The path of the directory that an open file is in.
    func directory(of file: SharedDescriptor) -> TreePath { path(of: file.raw, isFile: true) }

    /// The path of an open directory, or of the one that an open file is in; the root's for a file that has no name.
    private func path(of descriptor: Int32, isFile: Bool) -> TreePath {
        guard let root = Backing.path(of: custodian.state.root.rawValue), let path = Backing.path(of: descriptor),
            path.starts(with: root + [47]), let found = TreePath(bytes: path.dropFirst(root.count + 1))
        else { return .root }
        return isFile ? found.parent ?? .root : found
    }
}
