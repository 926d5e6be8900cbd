// An item in a container whose daemon answers, found by its URL.

import ControlProtocol
import Foundation
import Glibc
import Synchronization
import VersionsClient

/// Where an item is, and who knows its versions.
struct ServedItem: Sendable {
    let client: VersionsClient
    /// Where the container is mounted.
    let root: Path
    /// The item's path in the container.
    let path: Path

    /// Guards the connections of this process, one for each container that it asked about. Held while one is made, so
    /// that there are not two.
    private static let clients = Mutex<[Path: VersionsClient]>([:])

    private static let registering = DispatchQueue(label: "file-coordination-presenters")

    /// Finds the daemon of an item; nil outside of any container that is mounted.
    /// - Throws: what keeps the daemon from answering.
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
            // A daemon that was away answers again: its presenters hear of it. Elsewhere, because locks may be held here.
            registering.async { PresenterCenter.shared.registerAgain() }
        }
        return client
    }

    /// Where a path of the container is for this process.
    func url(of path: Path, isDirectory: Bool = false) -> URL {
        URL(file: path.bytes.isEmpty ? root : Path(bytes: (root.bytes == [47] ? [] : root.bytes) + [47] + path.bytes), isDirectory)
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
    /// The absolute path that a file URL stands for; nil for other URLs.
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
    /// The URL of an absolute path; what is not UTF-8 in it cannot be said in a URL.
    init(file path: Path, _ isDirectory: Bool = false) {
        self = path.withCString { URL(fileURLWithFileSystemRepresentation: $0, isDirectory: isDirectory, relativeTo: nil) }
    }
}
