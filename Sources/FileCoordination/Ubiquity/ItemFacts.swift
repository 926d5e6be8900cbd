// The facts of an item from a mount, or from the file system alone: the values of resource keys that Foundation lacks.

import CLinux
import ControlProtocol
import Foundation
import Glibc
import VersionModel
import VersionsClient

/// An existing item, and its facts without the daemon's socket.
struct ItemFacts {
    let url: URL
    let path: Path
    private let status: stat
    /// The nearest path with the attributes: the item itself, or the parent directory of a link and the like, because
    /// Linux allows the attributes only on files and directories.
    private let told: Path

    /// - Throws: if the item does not exist.
    init(_ url: URL) throws {
        guard let path = Path(url) else {
            throw CocoaError(.fileReadUnsupportedScheme, userInfo: [NSURLErrorKey: url])
        }
        var status = stat()
        guard path.withCString({ lstat($0, &status) }) == 0 else {
            let code: CocoaError.Code = switch errno {
            case ENOENT, ENOTDIR: .fileReadNoSuchFile
            case EACCES: .fileReadNoPermission
            default: .fileReadUnknown
            }
            let reason = NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
            throw CocoaError(code, userInfo: [NSURLErrorKey: url, NSUnderlyingErrorKey: reason])
        }
        (self.url, self.path, self.status) = (url, path, status)
        let hasAttributes = [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
        told = hasAttributes ? path : Path(url.deletingLastPathComponent()) ?? path
    }

    /// Whether the item is in a mounted container.
    var isInContainer: Bool { UbiquityAttribute.container.text(of: told) != nil }

    private func own(_ attribute: UbiquityAttribute) -> String? { told == path ? attribute.text(of: path) : nil }

    /// A text that stays equal as long as the content does.
    var generation: String {
        if let generation = own(.generation) { return generation }
        // A change of the content changes one of these, unless a program sets the time back.
        let time = status.st_mtim
        return "\(status.st_ino)-\(status.st_size)-\(time.tv_sec).\(time.tv_nsec)"
    }

    /// The item's identity in its container, in the bits of a nonnegative `Int`.
    var documentIdentifier: Int? {
        own(.item).flatMap { ItemID(hex: $0) }.map { Int(truncatingIfNeeded: ($0.high ^ $0.low) & UInt64(Int.max)) }
    }

    /// The values of those keys that this type knows, without missing values.
    func values(of keys: some Sequence<URLResourceKey>) -> [URLResourceKey: Any] {
        var values: [URLResourceKey: Any] = [:]
        let isInContainer = isInContainer
        for key in keys {
            switch key {
            case .generationIdentifierKey: values[key] = NSString(string: generation)
            case .documentIdentifierKey: values[key] = documentIdentifier
            case .isUbiquitousItemKey: values[key] = isInContainer
            default: if isInContainer { values[key] = containerValue(of: key) }
            }
        }
        return values
    }

    private func containerValue(of key: URLResourceKey) -> Any? {
        let state = own(.state) ?? "current"
        switch key {
        case .ubiquitousItemHasUnresolvedConflictsKey: return (own(.conflicts) ?? "0") != "0"
        case .ubiquitousItemDownloadingStatusKey:
            let isAway = state == "evicted" || state == "downloading"
            return isAway ? URLUbiquitousItemDownloadingStatus.notDownloaded : .current
        case .ubiquitousItemIsDownloadingKey, .ubiquitousItemDownloadRequestedKey: return state == "downloading"
        case .ubiquitousItemIsUploadingKey: return state == "uploading"
        case .ubiquitousItemIsUploadedKey: return false
        case .ubiquitousItemContainerDisplayNameKey:
            return FileManager.default.url(forUbiquityContainerIdentifier: told.description)?.lastPathComponent
        default: return nil
        }
    }

    /// The keys that this type answers instead of Foundation.
    static let keys: Set<URLResourceKey> = [
        .generationIdentifierKey, .documentIdentifierKey, .isUbiquitousItemKey,
        .ubiquitousItemHasUnresolvedConflictsKey, .ubiquitousItemDownloadingStatusKey,
        .ubiquitousItemIsDownloadingKey, .ubiquitousItemDownloadRequestedKey, .ubiquitousItemIsUploadingKey,
        .ubiquitousItemIsUploadedKey, .ubiquitousItemContainerDisplayNameKey, .ubiquitousItemDownloadingErrorKey,
        .ubiquitousItemUploadingErrorKey,
    ]
}

/// The attributes of items in a container, read through the mount.
enum UbiquityAttribute: String {
    case container = "user.versions.container"
    case conflicts = "user.versions.conflicts"
    case state = "user.versions.state"
    case item = "user.versions.item"
    case generation = "user.versions.generation"

    /// Nil if the item has no such attribute: it is in no container.
    func text(of path: Path) -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = path.withCString { name in
            buffer.withUnsafeMutableBytes { linux_lgetxattr(name, rawValue, $0.baseAddress, $0.count) }
        }
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
}
