// Files without a name that are opened for writing: by a descriptor that a program has (/proc/self/fd), or because
// another file has taken the name between the kernel's look-up and its open.

import Glibc
import Lineage
import SystemPackage
import VersionModel

extension FileRequests {
    /// Opens a file that has no name any more, or none yet. A program that came by its name is sent back once, to find
    /// the file that has the name now.
    func openNameless(
        _ caller: Caller, _ node: Node, _ flags: Int32, by program: RecordedTree.Program
    ) throws(Errno) -> OpenReply {
        // Of one that was made without a name no fact tells before it has one.
        guard tree.nodes.lostName(of: node) != nil else {
            return try openPlainly(caller, node, flags, try openBelow(node, flags))
        }
        guard serving.hasLookedAgain(caller) else { throw Errno(rawValue: ESTALE) }
        if case .kept(let content) = tree.nodes.location(node).whereabouts {
            try unseen.kept.takeBack(node, from: content)
        }
        let file = OpenFile(
            id: serving.files.newHandle(), node: node, descriptor: try openBelow(node, flags), flags: flags,
            requester: program.requester, claim: nil, isReplacing: flags & O_TRUNC != 0)
        let event = Event.openNameless(program.number, node.file, file.number, Self.mode(flags), isUnseen: false)
        try admit(file, event, [], caller)
        // Facts tell of no versions of it.
        if !isKnown(file) { recorded.files.letGo(node.file) }
        serving.hasOpened(caller)
        return serve(file, isMediated: true)
    }
}
