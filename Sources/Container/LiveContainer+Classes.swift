// Which documents are not like others: ignored, in a repository, quiet, part of a database.

import Coordination
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// gitignore patterns of what gets no versions, beside the settings; only at the root.
    static let ignoreFileName = FileName(".versionsignore")

    /// The settings in force; setting them takes effect at once, but for `actors.boundaries`.
    public var settings: Settings {
        get { policy.settings }
        set {
            policy.settings = newValue
            serving.set(newValue)
        }
    }

    /// Whether a name gets no versions by the settings.
    func isIgnored(_ name: FileName, in parent: Node) -> Bool { policy.ignores(path(of: name, in: parent)) }

    /// Whether a document has versions. One that was ignored when it was made is asked about again: the patterns may
    /// have gone since.
    func isVersioned(_ state: inout Document.State, _ name: FileName, in parent: Node) -> Bool {
        guard state.isUnversioned else { return true }
        // A journal is part of its database, whatever the patterns say.
        guard DatabaseRule.database(ofJournal: name) == nil, !isIgnored(name, in: parent) else { return false }
        state.isUnversioned = false
        if state.current == nil, state.maker == nil { state.created = now }
        return true
    }

    /// Prepares a write to a file that is no longer ignored: its present content becomes its first version.
    func beginHistory(
        _ state: inout Document.State, _ node: Node, _ name: Node.Name, file: Int32, _ stat: FileStat
    ) throws(Errno) {
        guard state.isUnversioned, isVersioned(&state, name.name, in: name.parent), stat.size > 0 else { return }
        state.stamp = nil
        try save(
            &state, node, in: name.parent, name.name, file: file,
            PendingSave(kind: .replacing, requester: nil, isSealed: !node.hasWriters), stat: stat)
    }

    /// Reads `.versionsignore` if it is the file that was saved, renamed, linked or removed.
    func noteIgnoreFile(_ name: FileName, in parent: Node) {
        guard parent.id == Node.rootID, name == Self.ignoreFileName else { return }
        policy.ignoreFile = IgnoreFile(name, in: root.raw)
    }

    /// Reads `.versionsignore` again if it is the file that has another owner, mode or access list now; or if that is
    /// the root, on whose owner it depends whether the file counts.
    func noteIgnoreFile(rightsOf node: Node) {
        if node.id == Node.rootID {
            if let name = Self.ignoreFileName { noteIgnoreFile(name, in: node) }
        } else if node.isRegular {
            for name in nodes.names(node) { noteIgnoreFile(name.name, in: name.parent) }
        }
    }

    /// `.versionsignore` at the root as it was read last; nil if there is none.
    public var ignoreFile: IgnoreFile? { policy.ignoreFile }

    /// The whole of a small file; nil if there is none.
    private func smallFile(_ name: [UInt8], in directory: SharedDescriptor) -> [UInt8]? {
        guard let raw = try? Backing.open(name, in: directory.raw, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
            return nil
        }
        let file = SharedDescriptor(raw)
        guard let stat = try? Backing.stat(raw), stat.isRegular else { return nil }
        return try? ContentText.read(file.raw, size: min(stat.size, ThreeWayMerge.maximumSize))
    }

    /// Whether a directory is, or lies in, a version-control system's own.
    func isRepositoryInternal(_ directory: Node) -> Bool {
        nodes.path(directory).map { QuietRule.isInRepositoryData($0) } ?? false
    }

    /// Whether conflicts never arise for a document (DESIGN 6.1). Asked only when one is about to.
    func isQuiet(_ parent: Node, _ name: FileName) -> Bool {
        policy.isQuiet(path(of: name, in: parent), isIgnoredByRepository: isIgnoredByRepository(name, in: parent))
    }

    /// Whether the repository that a document lies in ignores it: the `.gitignore` files from the repository's root
    /// down to the document's directory.
    private func isIgnoredByRepository(_ name: FileName, in parent: Node) -> Bool {
        var lists: [IgnoreLists.List] = []
        var isRepository = false
        for directory in nodes.chain(parent).map(\.node) + [nodes.root] {
            guard let descriptor = try? descriptor(of: directory), let path = nodes.path(directory) else {
                return false
            }
            if let text = smallFile(Array(".gitignore".utf8), in: descriptor) {
                lists.append(.init(directory: path, patterns: IgnorePatterns(file: text)))
            }
            if (try? Backing.stat(Array(".git".utf8), in: descriptor.raw)) != nil {
                isRepository = true
                break
            }
        }
        return isRepository
            && IgnoreLists(lists.reversed()).ignores(path(of: name, in: parent), isDirectory: false)
    }
}
