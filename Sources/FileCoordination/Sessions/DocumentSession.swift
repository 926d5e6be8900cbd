// An open document: watches its file, keeps the content from the time of opening, and offers resolutions when other
// programs change or delete the file.

import Foundation
import Synchronization

/// The editor behind a ``DocumentSession``. Called on the session's queue, or on the thread that calls the session.
public protocol DocumentSessionDelegate: AnyObject, Sendable {
    /// Whether the document has changes that its file does not have.
    var hasUnsavedChanges: Bool { get }
    /// The document's content for the file. Called under the claim of the file. Edits between this call and
    /// ``sessionDidSave(_:)`` or ``session(_:show:)`` are not saved.
    func contents() throws -> Data
    /// Sets the document's content. The document has no unsaved changes afterwards.
    func session(_ session: DocumentSession, show contents: Data)
    /// Reports that the file holds the document's content.
    func sessionDidSave(_ session: DocumentSession)
    /// Other programs have changed or deleted the file, and the document has unsaved changes.
    /// - Returns: the resolution; nil to ask the user first, and to call ``DocumentSession/resolve(_:)`` later.
    func session(
        _ session: DocumentSession, chooseFor situation: DocumentSession.Situation
    ) -> DocumentSession.Resolution?
    /// The chosen resolution failed; the situation is unchanged.
    func session(_ session: DocumentSession, didFail error: any Error)
    /// The document is closed.
    func sessionDidClose(_ session: DocumentSession)
}

/// A document that is open in an editor.
///
/// Without unsaved changes the session acts by itself: it shows content that other programs save, and closes when the
/// file is deleted. With unsaved changes it asks its delegate. The delegate can close, save over the other content
/// (which stays a version), reload, or merge both with the content from the time of opening. That content, the *base*,
/// is in memory as long as the session is open. In a container its version is also pinned, so that it stays in the
/// history.
///
/// A save never silently replaces unknown content: if it finds other content in the file that the session has not
/// reported, it asks the delegate instead.
public final class DocumentSession: NSObject, @unchecked Sendable {
    // Sendable because `state` guards all that changes.

    /// The change of the file by other programs.
    public enum Situation: Hashable, Sendable {
        case changed, deleted

        /// The possible resolutions.
        public var resolutions: Set<Resolution> {
            switch self {
            case .changed: [.close, .save, .reload, .merge]
            case .deleted: [.close, .save]
            }
        }
    }

    /// A resolution of the situation.
    public enum Resolution: Hashable, Sendable {
        /// Close the document and discard its unsaved changes.
        case close
        /// Write the document over the other content, or create the file again.
        case save
        /// Discard the unsaved changes and show the file's content.
        case reload
        /// Merge both edits, if they do not overlap.
        case merge
    }

    struct State {
        var url: URL
        var base: DocumentBase?
        var situation: Situation?
        /// The mark of the file at the time of the delegate's question.
        var askedAbout: FileMark?
        var isClosed = false
    }

    /// Guards the state of the file. Neither the delegate nor a coordinator is called under it.
    let state: Mutex<State>
    private weak let delegate: (any DocumentSessionDelegate)?
    public let presentedItemOperationQueue = OperationQueue()

    /// Opens a document and shows its content before it returns.
    /// - Throws: the error of the read.
    public init(opening url: URL, for delegate: any DocumentSessionDelegate) throws {
        state = Mutex(State(url: url))
        self.delegate = delegate
        super.init()
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
        // Before the read, so that every later change is reported.
        NSFileCoordinator.addFilePresenter(self)
        do {
            try reload()
        } catch {
            NSFileCoordinator.removeFilePresenter(self)
            throw error
        }
    }

    /// The file's URL.
    public var url: URL { state.withLock(\.url) }
    /// The situation that waits for a decision.
    public var situation: Situation? { state.withLock(\.situation) }

    // MARK: Resolutions

    /// Carries out a resolution.
    public func resolve(_ resolution: Resolution) throws {
        switch resolution {
        case .close: close()
        case .save: try save()
        case .reload: try reload()
        case .merge: try merge()
        }
    }

    /// Closes the document without a write.
    public func close() {
        let (base, wasClosed) = state.withLock { state in
            defer { state.isClosed = true }
            return (state.base.take(), state.isClosed)
        }
        guard !wasClosed else { return }
        NSFileCoordinator.removeFilePresenter(self)
        base?.drop()
        delegate?.sessionDidClose(self)
    }

    /// Writes the document over the content that was shown last, or, in a ``situation``, over the content of the
    /// delegate's question, or creates the file again. The file's former content becomes a version.
    ///
    /// If other programs have changed the file since, the session writes nothing: without unsaved changes it acts by
    /// itself, otherwise it asks the delegate and carries out the choice. A closed document is not written.
    public func save() throws {
        guard let found = try write() else { return }
        // The file may just have been moved, and the notification is pending: no reason to close the document.
        if found == .missing, !delegateHasChanges { return }
        react(to: found)
    }

    /// Shows the file's content and discards unsaved changes.
    public func reload() throws {
        var contents = Data()
        try coordinate { url in
            // Before the read: after a change in between, the notification leads to another read.
            let mark = FileMark(of: url)
            contents = try Data(contentsOf: url)
            self.rebase(on: DocumentBase(contents, mark, of: url))
        }
        delegate?.session(self, show: contents)
    }

    /// Merges the document with the file's content over their common base, then writes and shows the result.
    /// - Throws: ``DocumentMergeError``; the document and the file are then unchanged.
    public func merge() throws {
        guard let delegate else { return }
        var merged = Data()
        try coordinate(writing: []) { url in
            guard let base = state.withLock(\.base)?.contents else { throw DocumentMergeError.noBase }
            merged = try DocumentMerge.merge(mine: delegate.contents(), base: base, theirs: Data(contentsOf: url))
            try self.write(merged, to: url)
        }
        delegate.session(self, show: merged)
    }

    // MARK: The file

    private func coordinate(
        writing options: NSFileCoordinator.WritingOptions? = nil, _ body: (URL) throws -> Void
    ) throws {
        var (refusal, failure): (NSError?, (any Error)?)
        let coordinator = NSFileCoordinator(filePresenter: self)
        func run(_ url: URL) { do { try body(url) } catch { failure = error } }
        if let options {
            coordinator.coordinate(writingItemAt: url, options: options, error: &refusal, byAccessor: run)
        } else {
            coordinator.coordinate(readingItemAt: url, error: &refusal, byAccessor: run)
        }
        if let error = refusal ?? failure { throw error }
    }

    /// Writes the document, unless the file has content that the delegate was not asked about.
    /// - Returns: the mark of that content; nil if the document was written.
    private func write() throws -> FileMark? {
        guard let delegate, !state.withLock(\.isClosed) else { return nil }
        var unknown: FileMark?
        let place = NSFileCoordinator(filePresenter: self).place(of: url)
        try coordinate(writing: FileManager.default.fileExists(atPath: place.path) ? [] : .forReplacing) { url in
            let found = FileMark(of: url)
            let (isBase, isDecided) = state.withLock { state in
                (state.base?.mark == found, state.situation != nil && state.askedAbout == found)
            }
            guard isBase || isDecided else { return unknown = found }
            let contents = try delegate.contents()
            // A decision was made, so this write is no conflict: a program that has read the current content does not
            // make one.
            if isDecided, let file = try? FileHandle(forReadingFrom: url) { try? file.close() }
            try self.write(contents, to: url)
        }
        if unknown == nil { delegate.sessionDidSave(self) }
        return unknown
    }

    private func write(_ contents: Data, to url: URL) throws {
        try contents.write(to: url, options: .atomic)
        // A program without coordination may have written at the same moment; then the file does not hold the base.
        let mark = FileMark(of: url)
        let isThere = (try? Data(contentsOf: url)) == contents
        rebase(on: DocumentBase(contents, isThere ? mark : nil, of: url))
        if !isThere { lookSoon() }
    }

    /// Sets the base of the document.
    private func rebase(on base: DocumentBase) {
        let former = state.withLock { state in
            (state.situation, state.askedAbout) = (nil, nil)
            return state.isClosed ? base : exchange(&state.base, base)
        }
        former?.drop()
    }

    private func exchange(_ old: inout DocumentBase?, _ new: DocumentBase) -> DocumentBase? {
        defer { old = new }
        return old
    }
}

// MARK: - Notifications of the file

extension DocumentSession: NSFilePresenter, DeletionHearing {
    public var presentedItemURL: URL? { url }

    public func presentedItemDidMove(to newURL: URL) {
        state.withLock { $0.url = newURL }
        // Notifications under the old name could not be checked.
        look()
    }

    /// While a decision is pending, other programs read the file's content.
    public func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        guard situation == nil, delegateHasChanges else { return completionHandler(nil) }
        do {
            let unknown = try write()
            completionHandler(nil)
            // Other programs were first. They do not wait for the decision.
            if unknown != nil { lookSoon() }
        } catch {
            completionHandler(error)
        }
    }

    public func presentedItemDidChange() { look() }

    func presentedItemMayBeGone() {
        let (url, isClosed) = state.withLock { ($0.url, $0.isClosed) }
        if !isClosed, FileMark(of: url) == .missing { react(to: .missing) } else { look() }
    }

    private var delegateHasChanges: Bool { delegate?.hasUnsavedChanges ?? false }

    private func lookSoon() {
        presentedItemOperationQueue.add(
            { [weak self] in self?.look() }, ifCancelled: { [weak self] in self?.lookSoon() })
    }

    /// Compares the file with the content that was shown last. A missing file has been moved or deleted; the next
    /// notification tells which.
    private func look() {
        let (url, isClosed) = state.withLock { ($0.url, $0.isClosed) }
        guard !isClosed else { return }
        let found = FileMark(of: url)
        guard found != .missing else { return }
        let isBase = state.withLock { state in
            guard state.base?.mark == found else { return false }
            // Only attributes have changed, or the content is shown already, or another program has undone its change.
            (state.situation, state.askedAbout) = (nil, nil)
            return true
        }
        if !isBase { react(to: found) }
    }

    private func react(to found: FileMark) {
        let situation: Situation = found == .missing ? .deleted : .changed
        var choice: Resolution? = situation == .deleted ? .close : .reload
        if delegateHasChanges {
            let isNew = state.withLock { state in
                defer { (state.situation, state.askedAbout) = (situation, found) }
                return state.situation != situation || state.askedAbout != found
            }
            // A save may have found this content before the notification.
            guard isNew else { return }
            choice = delegate?.session(self, chooseFor: situation)
        }
        guard let choice else { return }
        do { try resolve(choice) } catch { delegate?.session(self, didFail: error) }
    }
}
