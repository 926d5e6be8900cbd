// What the past is compared with: names, documents and rights of today.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer: PresentTree {
    /// The entries of a directory now, without the container's state.
    func entries(
        of path: TreePath
    ) throws -> (directory: FileID, entries: [(name: FileName, isDirectory: Bool)]) {
        try looking(as: .container) { walk in
            let node = try walk.directory(path)
            let directory = try descriptor(of: node)
            let entries = try Backing.list(directory.raw).map { listed -> (FileName, Bool) in
                guard listed.type == 0 else { return (listed.name, listed.type == UInt32(S_IFDIR)) }
                let stat = try? Backing.stat(listed.name.bytes, in: directory.raw)
                return (listed.name, stat?.isDirectory ?? false)
            }
            return (node.file, entries.filter { path != .root || $0.0.bytes != Self.stateName })
        }
    }

    func directory(at path: TreePath, as principal: Principal) throws -> FileID {
        try looking(as: principal) { try $0.directory(path).file }
    }

    func times(ofDirectory path: TreePath) throws -> (directory: FileID, times: DirectoryTimes.Times) {
        try looking(as: .container) { walk in
            let directory = try walk.directory(path)
            let descriptor = try descriptor(of: directory)
            return (directory.file, DirectoryTimes.Times(try Backing.stat(path: ".", in: descriptor.raw)))
        }
    }

    func isFree(_ path: TreePath, _ principal: Principal) throws -> Bool {
        do {
            return try looking(as: principal) { try $0.spot(path).stat == nil }
        } catch let error as OperationError where error.kind == .notFound {
            return true
        }
    }

    func isBeingWritten(_ path: TreePath) throws -> Bool {
        try looking(as: .container) { try $0.spot(path).node?.hasWriters ?? false }
    }

    /// Whether a document's content is equal to a version's, its own or its former document's: by the hashes if they
    /// are known, else by a comparison.
    func holds(_ then: Version, of former: DocumentRecord, _ document: DocumentRecord) -> Bool {
        guard let current = document.current, current.size == then.size else { return false }
        if document.isCurrent(then) { return true }
        if then.hash != nil, current.hash != nil { return false }
        guard let one = try? content(of: then, in: former), let other = try? content(of: current, in: document) else {
            return false
        }
        return Self.areEqual(one, other)
    }

    /// Whether two contents of one size are the same.
    private static func areEqual(_ one: OpenContent, _ other: OpenContent) -> Bool {
        let length = 1 << 17
        var (first, second) = ([UInt8](repeating: 0, count: length), [UInt8](repeating: 0, count: length))
        var offset: UInt64 = 0
        while offset < one.size {
            let wanted = Int(min(UInt64(length), one.size - offset))
            let count = pread(one.raw, &first, wanted, off_t(offset))
            guard count > 0, pread(other.raw, &second, count, off_t(offset)) == count,
                first.prefix(count) == second.prefix(count)
            else { return false }
            offset += UInt64(count)
        }
        return true
    }
}
