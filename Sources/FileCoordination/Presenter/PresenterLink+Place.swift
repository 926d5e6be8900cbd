// The place of a presenter's item between its move and the notification of the move.

import ControlProtocol
import Foundation
import Synchronization
import VersionsClient

extension PresenterLink {
    /// The present place of an item that the presenter names by the former place of its own item. The presenter may
    /// have to save before it hears of the move.
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
