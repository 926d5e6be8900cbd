// A coordinator's reports about the work of its accessor.

import ControlProtocol
import Foundation

extension NSFileCoordinator {
    /// Announces a rename. It has an effect only in a sandbox, and Linux has none.
    public func item(at oldURL: URL, willMoveTo newURL: URL) {}

    /// Reports a rename. The daemon of a container sees renames itself. Elsewhere this report is the only way for
    /// presenters in this process to hear of it.
    public func item(at oldURL: URL, didMoveTo newURL: URL) {
        guard let new = try? Places.locate(newURL), let old = try? Places.locate(oldURL),
            old.arbitration === new.arbitration
        else { return }
        new.arbitration.moved(old.path, to: new.path, by: token)
    }

    /// Reports a changed synchronization state of an item. On one device no item has one, so the call has no effect.
    public func item(at url: URL, didChangeUbiquityAttributes attributes: Set<URLResourceKey>) {}
}
