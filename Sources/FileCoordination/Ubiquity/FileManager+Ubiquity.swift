// What FileManager offers for items in a container, as far as one device goes.

import ControlProtocol
import Foundation
import Glibc
import VersionsClient

extension FileManager {
    /// The variable that names the container which a program means by no identifier: its directory, or its id.
    public static let ubiquityContainerVariable = "VERSIONS_CONTAINER"

    /// Something that is equal as long as this user has containers, and nil while none is mounted that this user may
    /// enter. Found without asking a daemon: it never waits.
    public var ubiquityIdentityToken: (any NSCoding & NSCopying & NSObjectProtocol)? {
        guard MountTable.current().contains(where: { $0.isOurs && $0.mayBeEntered }) else { return nil }
        return NSString(string: "versionsfs-user-\(geteuid())")
    }

    /// Where a container is mounted; nil if it is not. May wait for a daemon: do not ask on the main thread.
    /// - Parameter identifier: the container's directory, its id or the first digits of it, or its directory's name.
    ///   Nil: what the environment's `VERSIONS_CONTAINER` names, else the container of the current directory.
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

    /// Whether an item lies in a container that is mounted.
    public func isUbiquitousItem(at url: URL) -> Bool { (try? ItemFacts(url).isInContainer) ?? false }

    /// Moves an item into a container, or out of it, by a coordinated write of its own: do not call it within another
    /// of the same item. Its versions do not move out with it: they stay with the container, where the item is deleted.
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

    /// Has an item's content brought here. On one device it always is: nothing happens.
    /// - Throws: if the item is not there, or in no container.
    public func startDownloadingUbiquitousItem(at url: URL) throws { try requireUbiquitous(url) }

    /// Has an item's content given up here. On one device nobody else has it, so this always fails.
    public func evictUbiquitousItem(at url: URL) throws {
        try requireUbiquitous(url)
        throw CocoaError(
            .ubiquitousFileUnavailable,
            userInfo: [
                NSURLErrorKey: url,
                NSLocalizedDescriptionKey: "the only copy is here: the container is attached to no hub",
            ])
    }

    /// A place on the network where others can fetch a copy of an item. There is none without a hub: this always fails.
    /// - Parameter outDate: would get until when.
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
