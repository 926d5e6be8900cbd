// The way to a path for an operation: nodes held while it runs, and the caller's rights on each directory passed.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// A name in a directory for an operation, with its file.
struct Spot {
    var path: TreePath
    var parent: Node
    var name: FileName
    var directory: SharedDescriptor
    /// nil if the name is free.
    var stat: FileStat?
    var node: Node?

    var place: Place { Place(directory: parent.file, name: name) }
}

/// One walk; used by one thread, with the name lock held. Looks nodes up as
/// the kernel does, and forgets them at the end.
final class Walk {
    private let tree: LiveTree
    private let passthrough: Passthrough
    let principal: Principal
    private var held: [UInt64] = []

    init(_ tree: LiveTree, _ passthrough: Passthrough, as principal: Principal) {
        (self.tree, self.passthrough) = (tree, passthrough)
        self.principal = principal
    }

    /// Gives the nodes back.
    func end() {
        for id in held.reversed() {
            if let node = tree.forget(id, lookups: 1) { passthrough.dropForgotten(node) }
        }
        held = []
    }

    /// The node of a directory; the caller may pass through it and all above.
    func directory(_ path: TreePath) throws -> Node {
        var node = tree.nodes.root
        var passed = TreePath.root
        try require(.execute, on: node, passed)
        for name in path.names {
            passed = passed.appending(name)
            guard let (found, _) = try child(name, of: node) else { throw OperationError.missing(passed) }
            guard found.isDirectory else { throw OperationError(.notFound, "not a directory", path: passed) }
            node = found
            try require(.execute, on: node, passed)
        }
        return node
    }

    /// A name in a directory that exists; the name itself may be free.
    func spot(_ path: TreePath) throws -> Spot {
        guard let name = path.name, let above = path.parent else {
            throw OperationError(.invalid, "this is the container itself", path: path)
        }
        let parent = try directory(above)
        guard !parent.isForeign else {
            throw OperationError(.invalid, "on another file system, without versions", path: path,
                advice: "`versionsctl status` lists the file systems")
        }
        let found = try child(name, of: parent)
        return Spot(
            path: path, parent: parent, name: name, directory: try tree.descriptor(of: parent), stat: found?.1,
            node: found?.0)
    }

    /// A regular file with versions.
    func document(_ path: TreePath) throws -> (spot: Spot, node: Node, stat: FileStat) {
        guard path.name != nil else { throw notADocument(path, true) }
        let spot = try spot(path)
        guard let node = spot.node, let stat = spot.stat else { throw OperationError.missing(path) }
        guard node.isRegular else { throw notADocument(path, node.isDirectory) }
        guard !node.isForeign else {
            throw OperationError(.invalid, "on another file system, without versions", path: path,
                advice: "`versionsctl status` lists the file systems")
        }
        return (spot, node, stat)
    }

    private func notADocument(_ path: TreePath, _ isDirectory: Bool) -> OperationError {
        guard isDirectory else { return OperationError(.invalid, "not a regular file: it has no versions", path: path) }
        return OperationError(
            .invalid, "a directory has no versions of its own", path: path,
            advice: "name a file in it; `versionsctl restore DIR --at TIME` restores a directory")
    }

    private func child(_ name: FileName, of parent: Node) throws -> (Node, FileStat)? {
        guard name.bytes != LiveTree.browseName else { return nil }
        let name = try tree.name(name.bytes, in: parent)
        let directory = try tree.descriptor(of: parent)
        guard let stat = try Backing.statIfPresent(name.bytes, in: directory.raw) else { return nil }
        let node = tree.intern(stat, as: Node.Name(parent: parent, name: name), lookups: 1)
        held.append(node.id)
        return (node, stat)
    }

    // MARK: Rights

    /// A directory that the caller may list and pass through.
    func listable(_ path: TreePath) throws -> Node {
        let node = try directory(path)
        try require(.read, on: node, path)
        return node
    }

    /// Throws unless the caller may do this with the directory.
    func require(_ access: AccessRule.Access, on directory: Node, _ path: TreePath) throws {
        guard !principal.isRoot else { return }
        let descriptor = try tree.descriptor(of: directory)
        let attributes = try Attributes(below: [46], in: descriptor)
        guard AccessRule.allows(access, to: principal, on: attributes) else { throw OperationError.denied(path) }
    }

    /// Throws unless the caller may do this with what the name stands for.
    func require(_ access: AccessRule.Access, on spot: Spot) throws {
        guard !principal.isRoot else { return }
        let attributes = try spot.with { file throws(Errno) in try Attributes(held: file) }
        guard AccessRule.allows(access, to: principal, on: attributes) else { throw OperationError.denied(spot.path) }
    }

    /// Throws unless the caller may make, and with `removing` take away, the name in its directory.
    func requireChange(of spot: Spot, removing: Bool = false) throws {
        guard !principal.isRoot else { return }
        let directory = try Attributes(below: [46], in: spot.directory)
        guard AccessRule.allows([.write, .execute], to: principal, on: directory) else {
            throw OperationError.denied(spot.path)
        }
        guard removing, directory.mode & UInt32(S_ISVTX) != 0, directory.owner != principal.user else { return }
        guard spot.stat?.raw.user == principal.user else { throw OperationError.denied(spot.path) }
    }
}

extension LiveContainer {
    func walk(as principal: Principal) -> Walk { Walk(tree, serving.passthrough, as: principal) }

    func looking<Result>(as principal: Principal, _ body: (Walk) throws -> Result) throws -> Result {
        try finder.looking(as: principal, body)
    }

    /// Runs `body` with the name lock held for writing, then tells the kernel of the names it gave.
    func changing<Result>(
        as principal: Principal, _ body: (Walk, inout [Spot], borrowing NamesHeldAlone) throws -> Result
    ) throws -> Result {
        let walk = walk(as: principal)
        var changed: [Spot] = []
        defer {
            tellKernel(changed.map { ($0.parent.id, $0.name) })
            walk.end()
        }
        return try names.writing { names in try body(walk, &changed, names) }
    }

    func tellKernel(_ changed: [(parent: UInt64, name: FileName)]) { serving.passthrough.kernel.tell(changed) }
}
