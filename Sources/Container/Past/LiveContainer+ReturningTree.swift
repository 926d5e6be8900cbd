// What a return to the past changes in the live tree: each step a request of the mount, made for the caller.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer: ReturningTree {
    func requireChange(of path: TreePath, removing: Bool, as principal: Principal) throws {
        try looking(as: principal) { try $0.requireChange(of: $0.spot(path), removing: removing) }
    }

    func requireWriting(to document: TreePath, as principal: Principal) throws {
        try looking(as: principal) { try $0.require(.write, on: $0.document(document).spot) }
    }

    /// Throws unless the caller may take a name away with everything below it.
    /// - Parameter others: names that are moved elsewhere before that.
    func requireDisplacing(_ path: TreePath, except others: Set<TreePath>, as principal: Principal) throws {
        let names = try looking(as: principal) { walk -> [FileName] in
            let spot = try walk.spot(path)
            try walk.requireChange(of: spot, removing: true)
            guard spot.stat?.isDirectory == true, !others.contains(path) else { return [] }
            let directory = try descriptor(of: walk.directory(path))
            return try Backing.list(directory.raw).map(\.name)
        }
        for name in names { try requireDisplacing(path.appending(name), except: others, as: principal) }
    }

    /// A name goes to the deleted area with everything below it; how many entries that were.
    func displace(_ path: TreePath, _ principal: Principal) throws -> Int {
        let found = try? looking(as: principal) { walk -> (Bool, [FileName]) in
            let spot = try walk.spot(path)
            guard let stat = spot.stat else { throw OperationError.missing(path) }
            try walk.requireChange(of: spot, removing: true)
            guard stat.isDirectory else { return (false, []) }
            let directory = try descriptor(of: walk.directory(path))
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
                try removeDirectory(caller, parent: spot.parent.id, name: spot.name.bytes)
            } else {
                try unlink(caller, parent: spot.parent.id, name: spot.name.bytes)
            }
        }
        return count
    }

    func move(_ path: TreePath, to target: TreePath, _ principal: Principal) throws {
        try act(on: path, principal) { caller, spot in
            try act(on: target, principal) { _, new in
                // The name does not come back as what left it: the thing itself does.
                _ = tombstones.take(at: new.place, now: now) { _ in false }
                try rename(
                    caller, parent: spot.parent.id, name: spot.name.bytes, newParent: new.parent.id,
                    newName: new.name.bytes, flags: 0)
            }
        }
    }

    /// Runs one of the mount's own requests for the caller, with the nodes of a path held, and tells the kernel.
    func act(
        on path: TreePath, _ principal: Principal, removing: Bool = true, _ body: (Caller, Spot) throws -> Void
    ) throws {
        let walk = walk(as: principal)
        defer { walk.end() }
        let spot = try names.reading { () throws -> Spot in
            let spot = try walk.spot(path)
            try walk.requireChange(of: spot, removing: removing)
            return spot
        }
        var caller = Caller(
            user: principal.user, group: principal.primaryGroup ?? principal.user, thread: principal.process)
        caller.isOperation = true
        try body(caller, spot)
        tellKernel([(spot.parent.id, spot.name)])
    }

    /// chmod(2) of a document by the caller, whose right to this very file `mode` looks at.
    /// - Parameter mode: what it is to be; nil leaves it as it is.
    func changeMode(
        ofDocument path: TreePath, as principal: Principal, to mode: (FileStat) -> UInt32?
    ) throws -> Bool {
        let walk = walk(as: .container)
        defer { walk.end() }
        let (node, stat) = try names.reading {
            let found = try walk.document(path)
            return (found.node, found.stat)
        }
        guard let mode = mode(stat) else { return false }
        var caller = Caller(
            user: principal.user, group: principal.primaryGroup ?? principal.user, thread: principal.process)
        caller.isOperation = true
        var edit = AttributeEdit()
        edit.mode = mode_t(mode)
        _ = try setAttributes(caller, node: node.id, handle: nil, edit)
        serving.passthrough.kernel.side?.invalidate(node: node.id, data: false)
        return true
    }
}
