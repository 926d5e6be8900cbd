// The live tree as an operation looks at it and changes it for its caller: each change is one of the mount's requests.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

/// Names of the live tree, by paths. It is made for each use.
struct CallersTree {
    let finder: Finder
    let requests: any ContainerRequests

    // MARK: Looking

    /// The entries of a directory now, without the container's state.
    func entries(
        of path: TreePath
    ) throws -> (directory: FileID, entries: [(name: FileName, isDirectory: Bool)]) {
        try finder.looking(as: .container) { walk in
            let node = try walk.directory(path)
            let directory = try finder.tree.descriptor(of: node)
            let entries = try Backing.list(directory.raw).map { listed -> (FileName, Bool) in
                guard listed.type == 0 else { return (listed.name, listed.type == UInt32(S_IFDIR)) }
                let stat = try? Backing.stat(listed.name.bytes, in: directory.raw)
                return (listed.name, stat?.isDirectory ?? false)
            }
            return (node.file, entries.filter { path != .root || $0.0.bytes != LiveTree.stateName })
        }
    }

    /// The directory at a path, which the caller may pass through.
    func directory(at path: TreePath, as principal: Principal) throws -> FileID {
        try finder.looking(as: principal) { try $0.directory(path).file }
    }

    func times(ofDirectory path: TreePath) throws -> (directory: FileID, times: DirectoryTimes.Times) {
        try finder.looking(as: .container) { walk in
            let directory = try walk.directory(path)
            let descriptor = try finder.tree.descriptor(of: directory)
            return (directory.file, DirectoryTimes.Times(try Backing.stat(path: ".", in: descriptor.raw)))
        }
    }

    func isFree(_ path: TreePath, _ principal: Principal) throws -> Bool {
        do {
            return try finder.looking(as: principal) { try $0.spot(path).stat == nil }
        } catch let error as OperationError where error.kind == .notFound {
            return true
        }
    }

    /// Whether a program has it open for writing.
    func isBeingWritten(_ path: TreePath) throws -> Bool {
        try finder.looking(as: .container) { try $0.spot(path).node?.hasWriters ?? false }
    }

    // MARK: Rights

    /// Throws unless the caller may make, and with `removing` take away, a name.
    func requireChange(of path: TreePath, removing: Bool, as principal: Principal) throws {
        try finder.looking(as: principal) { try $0.requireChange(of: $0.spot(path), removing: removing) }
    }

    func requireWriting(to document: TreePath, as principal: Principal) throws {
        try finder.looking(as: principal) { try $0.require(.write, on: $0.document(document).spot) }
    }

    /// Throws unless the caller may take a name away with everything below it.
    /// - Parameter others: names that are moved elsewhere before that.
    func requireDisplacing(_ path: TreePath, except others: Set<TreePath>, as principal: Principal) throws {
        let names = try finder.looking(as: principal) { walk -> [FileName] in
            let spot = try walk.spot(path)
            try walk.requireChange(of: spot, removing: true)
            guard spot.stat?.isDirectory == true, !others.contains(path) else { return [] }
            let directory = try finder.tree.descriptor(of: walk.directory(path))
            return try Backing.list(directory.raw).map(\.name)
        }
        for name in names { try requireDisplacing(path.appending(name), except: others, as: principal) }
    }

    // MARK: Changing

    /// A name goes to the deleted area with everything below it; how many entries that were.
    func displace(_ path: TreePath, _ principal: Principal) throws -> Int {
        let found = try? finder.looking(as: principal) { walk -> (Bool, [FileName]) in
            let spot = try walk.spot(path)
            guard let stat = spot.stat else { throw OperationError.missing(path) }
            try walk.requireChange(of: spot, removing: true)
            guard stat.isDirectory else { return (false, []) }
            let directory = try finder.tree.descriptor(of: walk.directory(path))
            return (true, try Backing.list(directory.raw).map(\.name))
        }
        guard let (isDirectory, names) = found else {
            if try isFree(path, principal) { return 0 }
            throw OperationError.denied(path)
        }
        var count = 1
        for name in names { count += try displace(path.appending(name), principal) }
        try act(on: path, principal) { caller, spot in
            if isDirectory {
                try requests.removeDirectory(caller, parent: spot.parent.id, name: spot.name.bytes)
            } else {
                try requests.unlink(caller, parent: spot.parent.id, name: spot.name.bytes)
            }
        }
        return count
    }

    /// - Parameter prepare: is done when the new name is found to be free.
    func move(
        _ path: TreePath, to target: TreePath, _ principal: Principal, prepare: (Place) -> Void = { _ in }
    ) throws {
        try act(on: path, principal) { caller, spot in
            try act(on: target, principal) { _, new in
                prepare(new.place)
                try requests.rename(
                    caller, parent: spot.parent.id, name: spot.name.bytes, newParent: new.parent.id,
                    newName: new.name.bytes, flags: 0)
            }
        }
    }

    /// Gives a file one more name.
    func link(_ path: TreePath, to target: TreePath, _ principal: Principal) throws {
        try act(on: path, principal, removing: false) { caller, spot in
            guard let node = spot.node else { throw OperationError.missing(path) }
            try act(on: target, principal, removing: false) { _, new in
                _ = try requests.link(caller, node: node.id, parent: new.parent.id, name: new.name.bytes)
            }
        }
    }

    /// Runs one of the mount's own requests for the caller, with the nodes of a path held, and tells the kernel.
    func act(
        on path: TreePath, _ principal: Principal, removing: Bool = true, _ body: (Caller, Spot) throws -> Void
    ) throws {
        let walk = Walk(finder.tree, finder.host.passthrough, as: principal)
        defer { walk.end() }
        let spot = try finder.tree.names.reading { () throws -> Spot in
            let spot = try walk.spot(path)
            try walk.requireChange(of: spot, removing: removing)
            return spot
        }
        try body(Self.caller(principal), spot)
        finder.host.passthrough.kernel.tell([(spot.parent.id, spot.name)])
    }

    static func caller(_ principal: Principal) -> Caller {
        var caller = Caller(
            user: principal.user, group: principal.primaryGroup ?? principal.user, thread: principal.process)
        caller.isOperation = true
        return caller
    }

    /// Changes attributes of a document for the caller, whose right to this very file `edit` looks at.
    /// - Parameter edit: what they are to be; nil leaves them as they are.
    func change(
        document path: TreePath, as principal: Principal, _ edit: (FileStat) throws -> AttributeEdit?
    ) throws -> Bool {
        let walk = Walk(finder.tree, finder.host.passthrough, as: .container)
        defer { walk.end() }
        let (node, stat) = try finder.tree.names.reading {
            let found = try walk.document(path)
            return (found.node, found.stat)
        }
        guard let edit = try edit(stat) else { return false }
        _ = try requests.setAttributes(Self.caller(principal), node: node.id, handle: nil, edit)
        finder.host.passthrough.kernel.side?.invalidate(node: node.id, data: false)
        return true
    }
}
