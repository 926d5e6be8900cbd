// An item in a container with a running daemon, found by its URL.

import ControlProtocol
import Foundation
import Glibc
import Synchronization
import VersionsClient

/// The place of an item, and the client for its versions.
struct ServedItem: Sendable {
    let client: VersionsClient
    /// The container's mount point.
    let root: Path
    /// The item's path in the container.
    let path: Path

    /// Guards the connections of this process, one for each container. Held during a new connection, so that there are
    /// not two.
    private static let clients = Mutex<[Path: VersionsClient]>([:])

    private static let registering = DispatchQueue(label: "file-coordination-presenters")

    /// Finds the daemon of an item; nil outside of mounted containers.
    /// - Throws: the error that keeps the daemon from answering.
    static func find(_ url: URL, followingLastLink: Bool = true) throws(ControlError) -> ServedItem? {
        guard let typed = Path(url) else { return nil }
        let place: ContainerPlace
        do throws(ControlError) {
            place = try ContainerPlace.find(typed, followingLastLink: followingLastLink)
        } catch {
            if error.code == .noContainer { return nil }
            throw error
        }
        if case .unmounted = place.state { return nil }
        return ServedItem(client: try client(of: place), root: place.root, path: place.path)
    }

    private static func client(of place: ContainerPlace) throws(ControlError) -> VersionsClient {
        let (client, isNew) = try clients.withLock { clients throws(ControlError) in
            if let known = clients[place.root] { return (known, false) }
            let new = try VersionsClient.connectAndWait(
                to: place, program: ProcessInfo.processInfo.processName, version: ProductVersion.current)
            clients[place.root] = new
            return (new, true)
        }
        if isNew {
            client.whenEnded { [weak client] _ in
                clients.withLock { if $0[place.root] === client { $0[place.root] = nil } }
            }
            // A daemon that was away answers again, so its presenters are registered. On another thread, because this
            // one may hold locks.
            registering.async { PresenterCenter.shared.registerAgain() }
        }
        return client
    }

    /// The URL of a container's path in this process.
    func url(of path: Path, isDirectory: Bool = false) -> URL {
        let prefix = root.bytes == [47] ? [] : root.bytes
        return URL(file: path.bytes.isEmpty ? root : Path(bytes: prefix + [47] + path.bytes), isDirectory)
    }

    /// The path of another file in the same container; nil if it is elsewhere.
    func path(of other: URL) -> Path? {
        guard let typed = Path(other), let place = try? ContainerPlace.find(typed, followingLastLink: false),
            place.root == root
        else { return nil }
        return place.path
    }
}

extension Path {
    /// The absolute path of a file URL; nil for other URLs.
    init?(_ url: URL) {
        guard url.isFileURL else { return nil }
        let bytes = url.absoluteURL.withUnsafeFileSystemRepresentation { name in
            name.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
        guard let bytes, !bytes.isEmpty else { return nil }
        self.init(bytes: bytes)
    }
}

extension URL {
    /// The URL of an absolute path. A URL cannot express bytes that are not UTF-8.
    init(file path: Path, _ isDirectory: Bool = false) {
        self = path.withCString {
            URL(fileURLWithFileSystemRepresentation: $0, isDirectory: isDirectory, relativeTo: nil)
        }
    }
}
