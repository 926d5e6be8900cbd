// What the operations over the engine stand on: who asks, with which rights, and what the kernel is told behind it.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// The tree with its facts, for operations.
struct EngineGround: Sendable {
    let browsing: EngineBrowsing
    let names: NameRequests

    var recorded: RecordedTree { names.recorded }
    var tree: LiveTree { names.tree }
    var engine: Engine { recorded.engine }
    var facts: FactStore { recorded.facts }
    var past: FactHistory { browsing.past }
    var state: ContainerState { browsing.state }
    var finder: Finder { Finder(browsing) }
    var removal: EngineRemoval { browsing.removal }

    func requester(_ principal: Principal) -> Requester { recorded.callers.requester(principal) }

    // MARK: Changes

    /// Changes the tree; begun anew as long as a name has another file by the time that the names are taken. The kernel
    /// is told behind it.
    func changing<Result>(as principal: Principal, _ body: (EngineChange) throws -> Result) throws -> Result {
        let requester = requester(principal)
        return try changing(as: principal, by: requester, body)
    }

    func changing<Result>(
        as principal: Principal, by requester: Requester, _ body: (EngineChange) throws -> Result
    ) throws -> Result {
        let program = try recorded.program(requester)
        var attempts = 0
        while true {
            let change = EngineChange(self, Walk(tree, browsing.passthrough, as: principal), program)
            defer { change.end() }
            do { return try body(change) } catch let error as Errno where error.rawValue == ESTALE {
                attempts += 1
                if attempts == Self.patience { throw error }
            }
        }
    }

    private static let patience = 100

    // MARK: Versions

    /// The number of a version of a document. A file of which no fact tells gets a document by this.
    func number(of version: Version, _ document: DocumentRecord) throws -> VersionNumber {
        if let number = try facts.version(version.id) { return number }
        let current = try changing(as: .container) { change -> VersionRow? in
            let (_, entry) = try change.document(document.path)
            let found = try recorded.adopt(entry)
            defer { recorded.files.letGo(found.file) }
            guard let row = try engine.names(of: found.file).first(where: { $0.place == found.place }) else {
                return nil
            }
            return try engine.current(of: row.document)
        }
        guard let current, current.fingerprint.size == version.size, current.modified == version.modified else {
            throw OperationError.savedMeanwhile(document.path)
        }
        return current.number
    }
}

/// One change by an operation. Used by one thread.
final class EngineChange {
    let walk: Walk
    let program: RecordedTree.Program
    private let ground: EngineGround
    private var told: [(parent: UInt64, name: FileName)] = []
    /// An error in words that has ended a request of the engine.
    private var problem: (any Error)?

    init(_ ground: EngineGround, _ walk: Walk, _ program: RecordedTree.Program) {
        (self.ground, self.walk, self.program) = (ground, walk, program)
    }

    func tell(_ spot: Spot) { tell(spot.parent, spot.name) }
    func tell(_ parent: Node, _ name: FileName) { told.append((parent.id, name)) }

    /// Tells the kernel, and lets the nodes go. Called with no lock held.
    func end() {
        ground.browsing.passthrough.kernel.tell(told)
        walk.end()
    }

    /// The document at a path, which the caller may use like this.
    func document(_ path: TreePath, _ access: AccessRule.Access? = nil) throws -> (spot: Spot, entry: FoundName) {
        let (spot, entry) = try found(path, access)
        if try ground.names.versioned.isLeftOut(entry) { throw OperationError.unversioned(path) }
        return (spot, entry)
    }

    private func found(_ path: TreePath, _ access: AccessRule.Access?) throws -> (Spot, FoundName) {
        try ground.tree.names.reading { () throws -> (Spot, FoundName) in
            let spot = try walk.document(path).spot
            if let access { try walk.require(access, on: spot) }
            guard let entry = try ground.recorded.entryLocked(spot.name, in: spot.parent) else {
                throw OperationError.missing(path)
            }
            return (spot, entry)
        }
    }

    /// A free name, which the caller may give.
    func free(_ path: TreePath) throws -> Spot {
        try ground.tree.names.reading { () throws -> Spot in
            let spot = try walk.spot(path)
            guard spot.stat == nil else { throw OperationError.taken(path) }
            _ = try ground.tree.name(spot.name.bytes, in: spot.parent, forChange: true)
            try walk.requireChange(of: spot)
            return spot
        }
    }

    /// A request of the engine, in which operations throw errors in words.
    @discardableResult
    func performing<Result>(_ request: () throws(Errno) -> Result) throws -> Result {
        problem = nil
        do throws(Errno) { return try request() } catch { throw problem ?? error }
    }

    /// A part of such a request that is not repeated where it finds no room: none is made by giving up other contents.
    func once(_ body: () throws(Errno) -> Void) throws(Errno) {
        do throws(Errno) { try body() } catch {
            problem = error
            throw .canceled
        }
    }

    /// A part of such a request.
    func part<Result>(_ body: () throws -> Result) throws(Errno) -> Result {
        do { return try body() } catch let error as Errno { throw error } catch {
            problem = error
            throw .canceled
        }
    }
}

extension KernelLink {
    /// Tells the kernel that names have changed below it. Called with no lock held.
    func tell(_ changed: [(parent: UInt64, name: FileName)]) {
        guard let side else { return }
        for (parent, name) in changed { side.invalidate(entry: name.bytes, in: parent) }
        // A name that it has never asked for is in no listing that it keeps, and forgets none by itself.
        for parent in Set(changed.map(\.parent)) { side.invalidate(node: parent, data: true) }
    }
}
