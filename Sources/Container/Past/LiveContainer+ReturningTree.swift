// What a return to the past changes in the live tree: each step a request of the mount, made for the caller.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer: ReturningTree {
    func requireChange(of path: TreePath, removing: Bool, as principal: Principal) throws {
        try callersTree.requireChange(of: path, removing: removing, as: principal)
    }

    func requireWriting(to document: TreePath, as principal: Principal) throws {
        try callersTree.requireWriting(to: document, as: principal)
    }

    func requireDisplacing(_ path: TreePath, except others: Set<TreePath>, as principal: Principal) throws {
        try callersTree.requireDisplacing(path, except: others, as: principal)
    }

    func displace(_ path: TreePath, _ principal: Principal) throws -> Int {
        try callersTree.displace(path, principal)
    }

    func move(_ path: TreePath, to target: TreePath, _ principal: Principal) throws {
        try callersTree.move(path, to: target, principal) { place in
            // The name does not come back as what left it: the thing itself does.
            _ = tombstones.take(at: place, now: now) { _ in false }
        }
    }

    func act(
        on path: TreePath, _ principal: Principal, removing: Bool = true, _ body: (Caller, Spot) throws -> Void
    ) throws {
        try callersTree.act(on: path, principal, removing: removing, body)
    }

    func changeMode(
        ofDocument path: TreePath, as principal: Principal, to mode: (FileStat) -> UInt32?
    ) throws -> Bool {
        try callersTree.change(document: path, as: principal) { stat in
            guard let mode = mode(stat) else { return nil }
            var edit = AttributeEdit()
            edit.mode = mode_t(mode)
            return edit
        }
    }
}
