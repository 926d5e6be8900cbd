// What coordination asks of a live container.

import Coordination
import VersionModel
import VersionStore

extension LiveContainer {
    /// The document's identity; nil for other nodes.
    func identity(of node: Node) -> ItemID? {
        guard node.isRegular else { return nil }
        if let document = knownDocument(of: node) { return document.state.withLock(\.item) }
        return DerivedIdentity.item(node.file, in: store.identity.container)
    }

}
