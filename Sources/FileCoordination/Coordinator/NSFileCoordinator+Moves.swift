// What a coordinator says of what its accessor does.

import ControlProtocol
import Foundation

extension NSFileCoordinator {
    /// Says that an item is about to be renamed. Of use in a sandbox only, which there is none here.
    public func item(at oldURL: URL, willMoveTo newURL: URL) {}

    /// Says that an item has been renamed. The daemon of a container sees that by itself; elsewhere the presenters of this
    /// process hear of it from this alone.
    public func item(at oldURL: URL, didMoveTo newURL: URL) {
        guard let new = try? Places.locate(newURL), let old = try? Places.locate(oldURL),
            old.arbitration === new.arbitration
        else { return }
        new.arbitration.moved(old.path, to: new.path, by: token)
    }

    /// Says that what is known of an item's synchronisation has changed. On one device nothing is: nobody is told.
    public func item(at url: URL, didChangeUbiquityAttributes attributes: Set<URLResourceKey>) {}
}
