// Opens that may have to wait, over a live container.

import Coordination
import Glibc
import SystemPackage
import VersionModel

extension LiveContainer {
    func readCoordinated(
        _ caller: Caller, _ node: Node, _ flags: Int32, _ waiting: any WaitingOpen
    ) throws(Errno) -> OpenReply? {
        guard let path = nodes.path(node) else { return try openForReading(caller, node, flags) }
        let access = Access(path: path, item: identity(of: node), kind: .reading([]))
        return try serving.openForReading(caller, access, waiting, turn(node) { [self] () throws(Errno) in
            try readInTurn(caller, node, flags)
        })
    }

    /// During the wait another file may have taken the name, usually by a save: that is the one to read.
    private func readInTurn(_ caller: Caller, _ node: Node, _ flags: Int32) throws(Errno) -> OpenReply {
        if isLive(node) { return try openForReading(caller, node, flags) }
        guard serving.hasLookedAgain(caller) else { throw Errno(rawValue: ESTALE) }
        return try openPlain(caller, node, flags)
    }

    private func turn(_ node: Node, _ open: @escaping @Sendable () throws(Errno) -> OpenReply) -> WaitingTurn {
        WaitingTurn(open: open, release: { [self] in release(node: node.id, handle: $0) })
    }

    func open(
        _ writing: OpenForWriting, of document: Document, as access: Access?, _ waiting: (any WaitingOpen)?
    ) throws(Errno) -> OpenReply? {
        try serving.open(writing, as: access, waiting, turn(writing.node) { [self] () throws(Errno) in
            try goOn(writing, document)
        })
    }
}
