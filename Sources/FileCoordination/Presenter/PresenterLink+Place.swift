// Where a presenter's item is while it has not been told yet that it was moved.

import ControlProtocol
import Foundation
import Synchronization
import VersionsClient

extension PresenterLink {
    /// Where something is that the presenter names by the place of its item: elsewhere, if that was moved and the presenter
    /// is still to be told. It may be asked to save before that.
    func place(of url: URL) -> URL {
        let (from, now, arbitration) = state.withLock { state in
            (state.moves.first ?? nil, state.standing?.path, state.registration?.arbitration)
        }
        guard let from, let now, let arbitration, let item = presenter.presentedItemURL,
            url.path == item.path || url.path.hasPrefix(item.path + "/"),
            let said = try? Places.locate(presented: item), said.arbitration === arbitration, said.path == from,
            let place = arbitration.url(of: now, isDirectory: item.hasDirectoryPath)
        else { return url }
        let below = url.path.dropFirst(item.path.count + 1)
        return below.isEmpty ? place : place.appendingPathComponent(String(below), isDirectory: url.hasDirectoryPath)
    }
}
