// NSFileVersion: the versions of a file, as Apple's Foundation spells them, on the container's history.

import ControlProtocol
import Foundation
import Synchronization
import VersionModel
import VersionsClient

/// One version of a file: the one in the file, an older one, or one that lost a conflict.
///
///     for version in NSFileVersion.unresolvedConflictVersionsOfItem(at: url) ?? [] {
///         show(version.url, version.localizedNameOfSavingComputer, version.modificationDate)
///         version.isResolved = true
///     }
///     try NSFileVersion.removeOtherVersionsOfItem(at: url)
///
/// Versions are kept by the container that the file lies in; outside of any, a file has its current version and no
/// others. Getting versions does not coordinate by itself: do it in a coordinated read, and what changes them in a
/// coordinated write. Every call that asks the daemon waits for its answer: do not make it on the main thread.
/// `docs/apple-differences.md` lists where this differs from Apple's class.
open class NSFileVersion: NSObject, @unchecked Sendable {
    /// What is known of the version; nil outside of a container.
    let info: VersionInfo?
    let item: ServedItem?
    /// The file that this is a version of.
    let documentURL: URL
    private let modified: Date?

    private struct State {
        var isResolved: Bool
        var isDiscardable = false
        /// Where the content was found last.
        var place: URL
    }

    /// Guards what can be set. Nothing is called under it.
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

    // MARK: - What it is

    /// Where the content is: for the current version the file itself, for others a file under `.versions` that can be
    /// read and not be written. That one has another name when the document is renamed or the version's conflict is
    /// resolved: ask again then.
    open var url: URL {
        let place = state.withLock(\.place)
        guard let info, info.kind != .current, (try? place.checkResourceIsReachable()) != true else { return place }
        return findPlace() ?? place
    }

    /// Asks the daemon where the content of a version that is not the file is by now; nil if it is gone.
    private func findPlace() -> URL? {
        guard let info, let item,
            let now = try? item.client.callAndWait(ShowRequest(.id(info.item.hex), version: .id(info.id.hex)))
        else { return nil }
        let place = URL(file: now.file)
        state.withLock { $0.place = place }
        return place
    }

    /// The file's name when the version was found.
    open var localizedName: String? { documentURL.lastPathComponent }

    /// The name of the device that saved it.
    open var localizedNameOfSavingComputer: String? { info?.device ?? ProcessInfo.processInfo.hostName }

    /// Who saved it; nil if that was the user of this process.
    open var originatorNameComponents: PersonNameComponents? {
        guard let user = info?.user, !user.isEmpty, user != NSUserName() else { return nil }
        var components = PersonNameComponents()
        components.nickname = user
        return components
    }

    /// The file's modification time of the version.
    open var modificationDate: Date? { modified }

    /// What finds the version again with ``version(itemAt:forPersistentIdentifier:)``, also in another process.
    open var persistentIdentifier: any NSCoding { NSString(string: info?.id.hex ?? "current") }

    /// Whether it was found as the loser of a conflict.
    open var isConflict: Bool { info?.kind == .conflict }

    /// Whether its conflict is settled. Setting it to true resolves it, so that it is listed among the other versions
    /// only; nothing is removed. It cannot be set to false, and stays as it is where the daemon refuses: use
    /// ``resolve()`` to learn why.
    open var isResolved: Bool {
        get { state.withLock(\.isResolved) }
        set { if newValue { try? resolve() } }
    }

    /// Resolves the conflict that the version lost: the file stays as it is, the version becomes history.
    /// - Throws: why it could not be done. That it is resolved already is no error.
    open func resolve() throws {
        guard let info, let item, !isResolved else { return }
        do throws(ControlError) {
            _ = try item.client.callAndWait(ResolveRequest(.id(info.item.hex), keep: .current, seen: [info.id]))
        } catch {
            guard error.code == .nothingToDo else { throw error.cocoa(documentURL) }
        }
        state.withLock { $0.isResolved = true }
        // It is among the others now, under another name.
        _ = findPlace()
    }

    /// Whether the version need not be kept. Setting it takes a pin away; the version goes when history is thinned, not
    /// sooner. It cannot be set for the current version, nor be taken back.
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

    /// Versions have no thumbnails here.
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
        "<NSFileVersion \(info?.id.short ?? "current") of \(documentURL.lastPathComponent)\(isConflict ? ", conflict" : "")>"
    }
}

extension Date {
    init(_ timestamp: Timestamp) { self.init(timeIntervalSince1970: Double(timestamp.nanoseconds) / 1e9) }
}

extension ControlError {
    /// The error as Foundation has it: its code where Cocoa has one for it, our words, the path as a URL.
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
