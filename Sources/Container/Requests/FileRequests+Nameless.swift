// Files without a name that are opened for writing: by a descriptor that a program has (/proc/self/fd), or because
// another file has taken the name between the kernel's look-up and its open.

import Glibc
import Lineage
import SystemPackage
import VersionModel

extension FileRequests {
    /// Opens a file that has no name any more, or none yet. A program that came by its name is sent back once, to find
    /// the file that has the name now. What it writes then is no version: it changes no content that one has.
    func openNameless(_ caller: Caller, _ node: Node, _ flags: Int32) throws(Errno) -> OpenReply {
        if tree.nodes.lostName(of: node) != nil {
            guard serving.hasLookedAgain(caller), !engine.scene.remembers(node.file) else {
                throw Errno(rawValue: ESTALE)
            }
            if case .kept(let content) = tree.nodes.location(node).whereabouts {
                try unseen.kept.takeBack(node, from: content)
            }
        }
        let reply = try openPlainly(caller, node, flags, try openBelow(node, flags))
        serving.hasOpened(caller)
        return reply
    }
}
