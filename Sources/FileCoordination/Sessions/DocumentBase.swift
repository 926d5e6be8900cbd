// The content that an open document goes on from: kept, whatever becomes of the file.

import ControlProtocol
import Foundation
import VersionModel
import VersionsClient

/// A base: in a container a version that is pinned, elsewhere a copy.
struct DocumentBase: Sendable {
    private enum Kind: Sendable {
        /// - Parameter isOurs: whether it was pinned for this: what somebody else has pinned stays so.
        case version(item: ServedItem, VersionInfo, isOurs: Bool)
        case copy(URL)
        /// There was no room for it, or nobody answered: the file can be saved and reloaded, and not merged.
        case none
    }

    private let kind: Kind
    private let stamp: Stamp

    /// What a file's attributes say of its content.
    private struct Stamp: Hashable {
        var size: UInt64?
        var modified: Date?
    }

    /// What is in the file now. Call it in a coordinated access.
    init(of url: URL) {
        stamp = Self.stamp(of: url)
        if let version = NSFileVersion.currentVersionOfItem(at: url), let info = version.info, let item = version.item {
            let request = PinRequest(.id(info.item.hex), version: info.id.hex, pinned: true)
            let isPinned = !info.pinned && (try? item.client.callAndWait(request)) != nil
            kind = .version(item: item, info, isOurs: isPinned)
            return
        }
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("base-\(UUID().uuidString)")
        let isCopied = (try? FileManager.default.copyItem(at: url, to: copy)) != nil
        kind = isCopied ? .copy(copy) : .none
    }

    /// Whether the file still holds it.
    func isCurrent(of url: URL) -> Bool {
        guard case .version(_, let info, _) = kind else { return Self.stamp(of: url) == stamp }
        return NSFileVersion.currentVersionOfItem(at: url)?.info?.id == info.id
    }

    /// Its content; nil if it could not be kept.
    func contents(of url: URL) throws -> Data? {
        switch kind {
        case .copy(let copy): return try Data(contentsOf: copy)
        case .none: return nil
        case .version(let item, let info, _):
            do throws(ControlError) {
                let version = try item.client.callAndWait(ShowRequest(.id(info.item.hex), version: info.id.hex))
                return try? Data(contentsOf: URL(file: version.file))
            } catch {
                throw error.cocoa(url)
            }
        }
    }

    /// It is not needed any more.
    func drop() {
        switch kind {
        case .none: break
        case .copy(let copy): try? FileManager.default.removeItem(at: copy)
        case .version(let item, let info, let isOurs):
            guard isOurs else { return }
            _ = try? item.client.callAndWait(PinRequest(.id(info.item.hex), version: info.id.hex, pinned: false))
        }
    }

    private static func stamp(of url: URL) -> Stamp {
        let attributes = (try? FileManager.default.attributesOfItem(atPath: url.path)) ?? [:]
        return Stamp(
            size: (attributes[.size] as? NSNumber)?.uint64Value, modified: attributes[.modificationDate] as? Date)
    }
}
