// NSFileVersion: the versions of a file in the container's history, with the names of Apple's Foundation.

import ControlProtocol
import Foundation
import Synchronization
import VersionModel
import VersionsClient

/// One version of a file: the current one, an older one, or the loser of a conflict.
///
///     for version in NSFileVersion.unresolvedConflictVersionsOfItem(at: url) ?? [] {
///         show(version.url, version.localizedNameOfSavingComputer, version.modificationDate)
///         version.isResolved = true
///     }
///     try NSFileVersion.removeOtherVersionsOfItem(at: url)
///
/// The container of a file keeps its versions. Outside of containers a file has only its current version. These calls
/// do not coordinate: make them in a coordinated read, and calls that change versions in a coordinated write. Every
/// call to the daemon waits for its answer: do not make it on the main thread. `docs/apple-differences.md` lists the
/// differences from Apple's class.
open class NSFileVersion: NSObject, @unchecked Sendable {
    /// The daemon's description of the version; nil outside of a container.
    let info: VersionInfo?
    let item: ServedItem?
    /// The file of this version.
    let documentURL: URL
    private let modified: Date?

    private struct State {
        var isResolved: Bool
        var isDiscardable = false
        /// The last known place of the content.
        var place: URL
    }

    /// Guards the mutable state. No callback runs under it.
    private let state: Mutex<State>

    init(_ info: VersionInfo, of url: URL, in item: ServedItem) {
        self.info = info
        self.item = item
        documentURL = url
        modified = Date(info.modified)
        let place = info.kind == .current ? url : URL(file: info.file)
        state = Mutex(State(isResolved: info.kind != .conflict, place: place))
        super.init()
    }

    /// The current version of a file outside of a container.
    init(plain url: URL, modified: Date?) {
        info = nil
        item = nil
        documentURL = url
        self.modified = modified
        state = Mutex(State(isResolved: true, place: url))
        super.init()
    }

    // MARK: - Properties

    /// The place of the content: for the current version the file itself, for others a read-only file under
    /// `.versions`. That name changes when the document is renamed or the version's conflict is resolved: read it again
    /// then.
    open var url: URL {
        let place = state.withLock(\.place)
        guard let info, info.kind != .current, (try? place.checkResourceIsReachable()) != true else { return place }
        return findPlace() ?? place
    }

    /// Asks the daemon for the present place of a noncurrent version's content; nil if the version is gone.
    private func findPlace() -> URL? {
        guard let info, let item,
            let now = try? item.client.callAndWait(ShowRequest(.id(info.item.hex), version: .id(info.id.hex)))
        else { return nil }
        let place = URL(file: now.file)
        state.withLock { $0.place = place }
        return place
    }

    /// The file's name at the time of the lookup.
    open var localizedName: String? { documentURL.lastPathComponent }

    /// The name of the device that saved the version.
    open var localizedNameOfSavingComputer: String? { info?.device ?? ProcessInfo.processInfo.hostName }

    /// The user that saved the version; nil for the user of this process.
    open var originatorNameComponents: PersonNameComponents? {
        guard let user = info?.user, !user.isEmpty, user != NSUserName() else { return nil }
        var components = PersonNameComponents()
        components.nickname = user
        return components
    }

    /// The file's modification time in this version.
    open var modificationDate: Date? { modified }

    /// The identity for ``version(itemAt:forPersistentIdentifier:)``, also in another process.
    open var persistentIdentifier: any NSCoding { NSString(string: info?.id.hex ?? "current") }

    /// Whether the version was the loser of a conflict at the time of the lookup.
    open var isConflict: Bool { info?.kind == .conflict }

    /// Whether the conflict is resolved. True resolves it: the version is then listed only among the other versions,
    /// and no version is removed. It cannot be set to false. If the daemon refuses, it stays as it is: ``resolve()``
    /// throws the error.
    open var isResolved: Bool {
        get { state.withLock(\.isResolved) }
        set { if newValue { try? resolve() } }
    }

    /// Resolves the conflict that the version lost: the file stays unchanged, the version becomes history.
    /// - Throws: the daemon's error. A resolved conflict is no error.
    open func resolve() throws {
        guard let info, let item, !isResolved else { return }
        do throws(ControlError) {
            _ = try item.client.callAndWait(ResolveRequest(.id(info.item.hex), keep: .current, seen: [info.id]))
        } catch {
            guard error.code == .nothingToDo else { throw error.cocoa(documentURL) }
        }
        state.withLock { $0.isResolved = true }
        // The version is now among the others, under another name.
        _ = findPlace()
    }

    /// Whether the version may be discarded. True removes a pin; the version goes with the next thinning of the
    /// history. It cannot be set for the current version, and cannot be undone.
    open var isDiscardable: Bool {
        get { state.withLock(\.isDiscardable) }
        set {
            guard newValue, let info, let item, info.kind != .current else { return }
            let request = PinRequest(.id(info.item.hex), version: .id(info.id.hex), pinned: false)
            guard (try? item.client.callAndWait(request)) != nil else { return }
            state.withLock { $0.isDiscardable = true }
        }
    }

    /// Whether the content is on this device.
    open var hasLocalContents: Bool { info.map { $0.local && !$0.lost } ?? true }

    /// Versions have no thumbnails on Linux.
    open var hasThumbnail: Bool { false }

    // MARK: - Equality

    /// Versions of one file with one identity are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSFileVersion else { return false }
        guard let info, let theirs = other.info else {
            return info == nil && other.info == nil && documentURL == other.documentURL && modified == other.modified
        }
        return info.id == theirs.id && info.item == theirs.item
    }

    open override var hash: Int {
        var hasher = Hasher()
        if let info { hasher.combine(info.id) } else { hasher.combine(documentURL) }
        return hasher.finalize()
    }

    open override var description: String {
        let conflict = isConflict ? ", conflict" : ""
        return "<NSFileVersion \(info?.id.short ?? "current") of \(documentURL.lastPathComponent)\(conflict)>"
    }
}

extension Date {
    init(_ timestamp: Timestamp) { self.init(timeIntervalSince1970: Double(timestamp.nanoseconds) / 1e9) }
}

extension ControlError {
    /// The error for Foundation: Cocoa's code if there is one, the daemon's message, the path as a URL.
    func cocoa(_ url: URL) -> any Error {
        let code: CocoaError.Code
        switch self.code {
        case .notFound, .contentMissing: code = .fileReadNoSuchFile
        case .denied: code = .fileWriteNoPermission
        case .exists: code = .fileWriteFileExists
        case .cancelled: code = .userCancelled
        case .busy: code = .fileLocking
        default: code = errno == 28 ? .fileWriteOutOfSpace : .fileWriteUnknown
        }
        var words = [NSLocalizedDescriptionKey: message, NSURLErrorKey: url] as [String: Any]
        if let advice { words[NSLocalizedRecoverySuggestionErrorKey] = advice }
        words[NSUnderlyingErrorKey] = self
        return CocoaError(code, userInfo: words)
    }
}
