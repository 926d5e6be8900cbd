// The virtual nodes that the kernel holds.

import Synchronization
import VersionModel

/// A directory or file under `.versions` that the kernel has looked up.
final class BrowseNode: Sendable {
    let id: UInt64
    let subject: BrowseSubject
    /// The live directory whose `.versions` it is under.
    let directory: Node
    /// nil for a `.versions` itself.
    let parent: BrowseNode?
    /// How the file is open; has its own lock.
    let openings = Openings()

    init(id: UInt64, subject: BrowseSubject, directory: Node, parent: BrowseNode?) {
        self.id = id
        self.subject = subject
        self.directory = directory
        self.parent = parent
    }
}

/// The nodes by number and subject, each as long as the kernel has look-ups of it. Lock order: last.
final class BrowseTable: Sendable {
    /// Numbers with this bit are virtual; those of the live tree count from 1 and never get there.
    static let mark: UInt64 = 1 << 62

    private struct Entry {
        var node: BrowseNode
        var lookups: UInt64
    }

    private struct State {
        var byID: [UInt64: Entry] = [:]
        var bySubject: [BrowseSubject: UInt64] = [:]
        var nextID = BrowseTable.mark + 1
    }

    private let state = RankedMutex(State())

    var count: Int { state.withLock { $0.byID.count } }

    subscript(id: UInt64) -> BrowseNode? { state.withLock { $0.byID[id]?.node } }

    /// The node of a subject, with one look-up more.
    func intern(_ subject: BrowseSubject, directory: Node, parent: BrowseNode?) -> BrowseNode {
        state.withLock { state in
            // A directory that was forgotten and found again is another node: what was under the old one is not reused.
            if let id = state.bySubject[subject], let known = state.byID[id]?.node, known.directory === directory,
                known.parent === parent
            {
                state.byID[id]?.lookups += 1
                return known
            }
            let node = BrowseNode(id: state.nextID, subject: subject, directory: directory, parent: parent)
            state.nextID += 1
            state.byID[node.id] = Entry(node: node, lookups: 1)
            state.bySubject[subject] = node.id
            return node
        }
    }

    func forget(_ id: UInt64, lookups: UInt64) {
        state.withLock { state in
            guard let entry = state.byID[id] else { return }
            guard entry.lookups <= lookups else {
                state.byID[id]?.lookups -= lookups
                return
            }
            state.byID[id] = nil
            if state.bySubject[entry.node.subject] == id { state.bySubject[entry.node.subject] = nil }
        }
    }
}
