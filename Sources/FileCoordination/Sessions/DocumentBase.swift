// The content that an open document goes on from, and by what the file is known to hold it still.

import ControlProtocol
import Foundation
import Synchronization
import VersionModel
import VersionsClient

/// A base. Its content is in memory: whatever becomes of the file and of its versions, the document can be merged.
struct DocumentBase: Sendable {
    let contents: Data
    /// What the file was seen to be with it; nil if it was something else by then.
    let mark: FileMark?
    private let pin: BasePin?

    /// - Parameter mark: taken in the coordinated access before the content was read, or after it was written.
    init(_ contents: Data, _ mark: FileMark?, of url: URL) {
        self.contents = contents
        self.mark = mark
        pin = mark?.version.flatMap { BasePin.take($0, of: url) }
    }

    /// It is not needed any more.
    func drop() { pin?.giveBack() }
}

/// What a file holds, as far as that can be told without reading it.
enum FileMark: Hashable, Sendable {
    /// In a container: which version, and its size and time, since a version that somebody still writes is amended.
    case version(VersionID, size: UInt64, modified: Timestamp)
    /// Elsewhere: what the file's attributes say.
    case attributes(size: UInt64?, modified: Date?)
    case missing

    /// What is there now. Waits for the daemon.
    init(of url: URL) {
        if let item = try? ServedItem.find(url),
            let info = try? item.client.callAndWait(ShowRequest(.path(item.path), version: nil)), info.kind == .current
        {
            // The daemon is believed, and not the kernel: that may hear of a deletion later than presenters do.
            let isDeleted = info.file.isUnderVersions
            self = isDeleted ? .missing : .version(info.id, size: info.size, modified: info.modified)
        } else if let attributes = try? FileManager.default.attributesOfItem(atPath: url.path) {
            self = .attributes(
                size: (attributes[.size] as? NSNumber)?.uint64Value, modified: attributes[.modificationDate] as? Date)
        } else {
            self = .missing
        }
    }

    var version: VersionID? { if case .version(let id, _, _) = self { id } else { nil } }
}

/// A version that is pinned as long as a session of this process goes on from it, so that thinning leaves it in the
/// history. Nothing hangs on it but that: it is taken away by whoever unpins or purges the version, or by the first of
/// several processes that lets go of it; and a process that is killed leaves it behind.
struct BasePin: Sendable {
    private struct Key: Hashable {
        var container: ContainerID
        var item: ItemID
        var version: VersionID
    }

    private struct Holding {
        var count: Int
        /// Whether it was pinned for this: what somebody else has pinned stays so.
        let isOurs: Bool
    }

    private let key: Key
    private let item: ServedItem

    /// Guards what this process holds. The daemon is asked under it, so that nobody unpins what another has just taken;
    /// no other lock is taken under it but that of `ServedItem`'s connections.
    private static let held = Mutex<[Key: Holding]>([:])

    /// - Returns: nil where there is nothing to pin.
    static func take(_ version: VersionID, of url: URL) -> BasePin? {
        held.withLock { held in
            guard let item = try? ServedItem.find(url),
                let info = try? item.client.callAndWait(ShowRequest(.path(item.path), version: .id(version.hex)))
            else { return nil }
            let key = Key(container: item.client.daemon.container, item: info.item, version: version)
            if held[key] != nil {
                held[key]?.count += 1
            } else {
                // By its path: a document that nobody has saved yet is not known by its identity before it is pinned.
                held[key] = Holding(count: 1, isOurs: !info.pinned && set(true, key, .path(item.path), item))
            }
            return BasePin(key: key, item: item)
        }
    }

    func giveBack() {
        Self.held.withLock { held in
            guard var holding = held[key] else { return }
            holding.count -= 1
            held[key] = holding.count > 0 ? holding : nil
            guard holding.count == 0, holding.isOurs else { return }
            // Its daemon may have gone and come back since.
            let now = item.client.hasEnded ? (try? ServedItem.find(URL(file: item.root, true))) ?? item : item
            _ = Self.set(false, key, .id(key.item.hex), now)
        }
    }

    private static func set(_ isPinned: Bool, _ key: Key, _ target: Target, _ item: ServedItem) -> Bool {
        let request = PinRequest(target, version: .id(key.version.hex), pinned: isPinned)
        return (try? item.client.callAndWait(request)) != nil
    }
}
