// What the tree under `.versions` asks of a container over the engine.

import CLinux
import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// The history, read from the facts, with the contents that the store keeps.
final class EngineBrowsing: BrowsableContainer {
    let state: ContainerState
    let coordination: EngineCoordination
    let logger: Logger
    let told: ToldAttributes
    let versioned: VersionedNames
    private let names: NameRequests
    let past: FactHistory
    let removal: EngineRemoval
    let users = UserNames()
    /// The documents whose conflicts an operation is settling.
    let resolving = RankedMutex(Set<ItemID>())

    init(
        _ names: NameRequests, _ removal: EngineRemoval, _ past: FactHistory, _ state: ContainerState, logger: Logger
    ) {
        (self.names, versioned, coordination) = (names, names.versioned, names.coordination)
        (self.state, self.logger, self.removal, self.past) = (state, logger, removal, past)
        let recorded = names.recorded
        told = ToldAttributes(recorded, past, of: state.identity.container)
    }

    var recorded: RecordedTree { names.recorded }
    var ground: EngineGround { EngineGround(browsing: self, names: names) }
    var tree: LiveTree { recorded.tree }
    var serving: Serving { coordination.serving }
    var passthrough: Passthrough { serving.passthrough }
    func identity(of node: Node) -> ItemID? { coordination.identity(of: node) }
    var history: any ContainerHistory { past }
    var socketPath: String? { told.socketPath }
    func requester(_ caller: Caller) -> Requester { recorded.callers.requester(caller) }
    func toldOfOther(_ key: String, _ node: Node) throws(Errno) -> [UInt8] { try told.ofOther(key, node) }

    /// A deleted file is a version. A directory, a symlink or a special file is an entry of the deleted area.
    func content(of deletion: DeletionID) -> DeletedContent {
        do throws(StoreError) {
            if let version = try past.version(of: deletion) { return .version(version) }
        } catch { logger.error("the catalog did not answer: \(error)") }
        let entry = state.deletedArea.place(of: deletion)
        return .file(
            Location(directory: SharedDescriptor(borrowing: entry.directory.rawValue), path: Array(entry.name.utf8)))
    }

    /// A version in the last content of a file is there, if it is nowhere else.
    func file(holding version: Version) throws(Errno) -> SharedDescriptor? {
        let file = FileID(version.content.high)
        guard let last = recorded.facts.facts().lastContent(of: file), ContentID(last) == version.content,
            let found = recorded.find(file)
        else { return nil }
        let stat = try Backing.stat(found.raw)
        guard stat.isRegular, stat.size >= version.size else { return nil }
        return try withExtendedLifetime(found) { () throws(Errno) in
            SharedDescriptor(try Backing.openToRead(found.raw))
        }
    }

    func choose(_ loser: VersionID, at name: Node.Name, _ requester: Requester) throws(Errno) {
        do throws(OperationError) {
            try operation { try EngineResolving(ground: ground).choose(loser, at: name, requester) }
        } catch { throw error.asErrno }
    }

    func bringBack(_ deletion: DeletionID, to name: Node.Name, _ requester: Requester) throws(Errno) {
        do throws(OperationError) {
            try Undeleting(host: self).undelete(deletion, to: name, requester)
        } catch { throw error.asErrno }
    }
}

extension EngineBrowsing: UndeletingContainer {
    func requester(_ principal: Principal) -> Requester { recorded.callers.requester(principal) }
    func begunUndeletes() throws -> [UnfinishedUndelete] { try recorded.facts.unfinishedUndeletes() }

    func moveOut(
        _ deletion: Deletion, to path: TreePath, as principal: Principal, by requester: Requester, tells: Bool
    ) throws {
        try EngineReturning(ground: ground).moveOut(deletion, to: path, as: principal, by: requester, tells: tells)
    }

    func note(_ begun: UnfinishedUndelete) { change(begun.keptChange) }
    func forget(_ begun: UnfinishedUndelete) { change(begun.forgottenChange) }

    private func change(_ change: FactChange) {
        var transaction = FactTransaction()
        transaction.changes = [change]
        recorded.facts.commit(transaction)
    }
}
