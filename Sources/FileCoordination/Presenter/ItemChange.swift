// What changed about an item, as presenters and those who follow changes are told.

import ControlProtocol
import VersionsClient

/// A change that a presenter is to hear of.
struct ItemChange: Sendable {
    enum Kind: Sendable {
        case created
        /// Its content, or what is known of it.
        case changed
        case moved
        case deleted
    }

    var kind: Kind
    /// What it is about, and of a move where that was; as the arbiter names it.
    var path: Path
    var from: Path?
    /// Where the presented item is behind the change.
    var place: Path
    /// Whether it is about the presented item itself, and not about something in it.
    var isOfItem: Bool
    /// Whether what is presented is a package that the item lies in.
    var isInPackage = false
}

/// Takes what one presenter is asked and told, in order; it passes it on and returns.
struct PresenterInlet: Sendable {
    var sink: PresenterSink
    var changed: @Sendable (ItemChange) -> Void
}
