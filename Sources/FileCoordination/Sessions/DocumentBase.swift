// The base content of an open document, and the marks that show whether the file still holds it.

import ControlProtocol
import Foundation
import Synchronization
import VersionModel
import VersionsClient

/// A base. Its content is in memory, so the document can be merged after any change of the file and of its versions.
struct DocumentBase: Sendable {
    let contents: Data
    /// The mark of the file with this content; nil if the file had other content by then.
    let mark: FileMark?
    private let pin: BasePin?

    /// - Parameter mark: taken in the coordinated access before the content was read, or after it was written.
    init(_ contents: Data, _ mark: FileMark?, of url: URL) {
        self.contents = contents
        self.mark = mark
        pin = mark?.version.flatMap { BasePin.take($0, of: url) }
    }

    /// Releases the base.
    func drop() { pin?.giveBack() }
}

/// The identity of a file's content, as far as it is known without a read.
enum FileMark: Hashable, Sendable {
    /// In a container: the version with its size and time, because a version is amended while a program writes it.
    case version(VersionID, size: UInt64, modified: Timestamp)
    /// Elsewhere: the file's attributes.
    case attributes(size: UInt64?, modified: Date?)
    case missing

    /// The present content. Waits for the daemon.
    init(of url: URL) {
        if let item = try? ServedItem.find(url),
            let info = try? item.client.callAndWait(ShowRequest(.path(item.path), version: nil)), info.kind == .current
        {
            // The daemon's answer counts, not the kernel's: the kernel may hear of a deletion later than presenters do.
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

/// A version that is pinned while a session of this process is based on it, so that thinning keeps it in the history.
/// Nothing else depends on the pin. A program that unpins or purges the version removes it, and so does the first of
/// several processes that releases it. A killed process leaves it behind.
struct BasePin: Sendable {
    private struct Key: Hashable {
        var container: ContainerID
        var item: ItemID
        var version: VersionID
    }

    private struct Holding {
        var count: Int
        /// Whether this process set the pin: another program's pin stays.
        let isOurs: Bool
    }

    private let key: Key
    private let item: ServedItem

    /// Guards the pins of this process. The daemon is called under it, so that no thread unpins a version that another
    /// thread has just taken. The only lock taken under it is the one of `ServedItem`'s connections.
    private static let held = Mutex<[Key: Holding]>([:])

    /// - Returns: nil if there is no version to pin.
    static func take(_ version: VersionID, of url: URL) -> BasePin? {
        held.withLock { held in
            guard let item = try? ServedItem.find(url),
                let info = try? item.client.callAndWait(ShowRequest(.path(item.path), version: .id(version.hex)))
            else { return nil }
            let key = Key(container: item.client.daemon.container, item: info.item, version: version)
            if held[key] != nil {
                held[key]?.count += 1
            } else {
                // By its path: an unsaved document has no known identity before it is pinned.
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
            // The daemon may have gone and come back meanwhile.
            let now = item.client.hasEnded ? (try? ServedItem.find(URL(file: item.root, true))) ?? item : item
            _ = Self.set(false, key, .id(key.item.hex), now)
        }
    }

    private static func set(_ isPinned: Bool, _ key: Key, _ target: Target, _ item: ServedItem) -> Bool {
        let request = PinRequest(target, version: .id(key.version.hex), pinned: isPinned)
        return (try? item.client.callAndWait(request)) != nil
    }
}
