// FileManager's methods for items in a container, as far as they apply to one device.

import ControlProtocol
import Foundation
import Glibc
import VersionsClient

extension FileManager {
    /// The variable with the default container of a program: its directory or its id.
    public static let ubiquityContainerVariable = "VERSIONS_CONTAINER"

    /// An object that stays equal as long as this user has containers; nil while no mounted container can be entered by
    /// this user. It never waits, because it calls no daemon.
    public var ubiquityIdentityToken: (any NSCoding & NSCopying & NSObjectProtocol)? {
        guard MountTable.current().contains(where: { $0.isOurs && $0.mayBeEntered }) else { return nil }
        return NSString(string: "versionsfs-user-\(geteuid())")
    }

    /// The directory of a mounted container; nil if it is not mounted. May wait for a daemon: do not call it on the
    /// main thread.
    /// - Parameter identifier: the container's directory, its id or the first digits of it, or its directory's name.
    ///   Nil: the container in the environment variable `VERSIONS_CONTAINER`, else the container of the current
    ///   directory.
    public func url(forUbiquityContainerIdentifier identifier: String?) -> URL? {
        guard let identifier = identifier ?? ProcessInfo.processInfo.environment[Self.ubiquityContainerVariable] else {
            return container(of: currentDirectoryPath)
        }
        if identifier.hasPrefix("/") { return container(of: identifier) }
        let mounts = MountTable.current().filter { $0.isOurs && $0.root.bytes == [47] }
        let isID = (6...32).contains(identifier.utf8.count) && identifier.allSatisfy(\.isHexDigit)
        let found = mounts.first { mount in
            isID && UbiquityAttribute.container.text(of: mount.point)?.hasPrefix(identifier.lowercased()) ?? false
        } ?? mounts.first { $0.point.lastComponent == Path(identifier) }
        return found.map { URL(file: $0.point, true) }
    }

    private func container(of path: String) -> URL? {
        guard let place = try? ContainerPlace.find(Path(path)), case .mounted = place.state else { return nil }
        return URL(file: place.root, true)
    }

    /// Whether an item is in a mounted container.
    public func isUbiquitousItem(at url: URL) -> Bool { (try? ItemFacts(url).isInContainer) ?? false }

    /// Moves an item into a container, or out of it, in a coordinated write of its own: do not call it inside another
    /// write of the same item. The versions do not move out of the container. They stay there with the deleted item.
    public func setUbiquitous(_ flag: Bool, itemAt url: URL, destinationURL: URL) throws {
        guard isUbiquitousItem(at: destinationURL.deletingLastPathComponent()) == flag,
            isUbiquitousItem(at: url) != flag
        else { throw CocoaError(.fileWriteInvalidFileName, userInfo: [NSURLErrorKey: destinationURL]) }
        var (refusal, failure): (NSError?, (any Error)?)
        NSFileCoordinator().coordinate(
            writingItemAt: url, options: .forMoving, writingItemAt: destinationURL, options: .forReplacing,
            error: &refusal
        ) { from, to in
            do { try moveItem(at: from, to: to) } catch { failure = error }
        }
        if let error = refusal ?? failure { throw error }
    }

    /// Downloads an item's content. On one device the content is always local, so this has no effect.
    /// - Throws: an error if the item does not exist, or is in no container.
    public func startDownloadingUbiquitousItem(at url: URL) throws { try requireUbiquitous(url) }

    /// Removes an item's local content. On one device there is no other copy, so this always fails.
    public func evictUbiquitousItem(at url: URL) throws {
        try requireUbiquitous(url)
        throw CocoaError(
            .ubiquitousFileUnavailable,
            userInfo: [
                NSURLErrorKey: url,
                NSLocalizedDescriptionKey: "the only copy is here: the container is attached to no hub",
            ])
    }

    /// A URL on the network from which other users can fetch a copy of an item. It needs a hub, so this always fails.
    /// - Parameter outDate: the expiration date, never set.
    public func url(
        forPublishingUbiquitousItemAt url: URL, expiration outDate: UnsafeMutablePointer<NSDate?>?
    ) throws -> URL {
        try requireUbiquitous(url)
        throw CocoaError(
            .ubiquitousFileUbiquityServerNotAvailable,
            userInfo: [
                NSURLErrorKey: url,
                NSLocalizedDescriptionKey: "it is nowhere but here: the container is attached to no hub",
            ])
    }

    private func requireUbiquitous(_ url: URL) throws {
        guard try ItemFacts(url).isInContainer else {
            throw CocoaError(.featureUnsupported, userInfo: [NSURLErrorKey: url])
        }
    }
}
