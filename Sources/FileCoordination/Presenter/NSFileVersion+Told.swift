// The version of a change. It may be gone before a presenter hears of the change.

import ControlProtocol
import Foundation
import VersionModel
import VersionsClient

extension NSFileVersion {
    /// The version of a change. If it is gone, only its identity is known. Waits for the daemon.
    convenience init?(_ event: WatchEvent, of url: URL, in container: ContainerArbitration) {
        guard let id = event.version else { return nil }
        let item = ServedItem(client: container.client, root: container.root, path: event.path)
        let found = try? container.client.callAndWait(ShowRequest(.path(event.path), version: .id(id.hex)))
        self.init(found ?? VersionInfo(gone: id, event.path), of: url, in: item)
    }
}

extension VersionInfo {
    /// A version that is gone.
    fileprivate init(gone id: VersionID, _ path: Path) {
        self.init(
            id: id, item: ItemID(high: 0, low: 0), path: path, kind: .history, size: 0,
            modified: Timestamp(nanoseconds: 0), saved: Timestamp(nanoseconds: 0), device: "",
            deviceID: DeviceID(high: 0, low: 0), user: "", program: "", pid: 0,
            parents: [], hash: nil, pinned: false, sealed: true, file: Path(""), lost: true)
    }
}
