// An open document: watches its file, keeps the content that it was opened with, and knows what can be done when others
// change or delete the file meanwhile.

import Foundation
import Synchronization

/// The editor behind a ``DocumentSession``. Called on the session's queue, or on the thread that calls the session.
public protocol DocumentSessionDelegate: AnyObject, Sendable {
    /// Whether the document has changes that its file has not.
    var hasUnsavedChanges: Bool { get }
    /// The document as it is to be written. Called when the file is claimed for it; what is edited between this and
    /// ``sessionDidSave(_:)`` or ``session(_:show:)`` is not saved.
    func contents() throws -> Data
    /// The document has this content from now on, and no unsaved changes.
    func session(_ session: DocumentSession, show contents: Data)
    /// What the document has is in its file now.
    func sessionDidSave(_ session: DocumentSession)
    /// Others have changed or deleted the file, and the document has unsaved changes.
    /// - Returns: what to do; nil if somebody has to be asked first, who then calls
    ///   ``DocumentSession/resolve(_:)``.
    func session(_ session: DocumentSession, chooseFor situation: DocumentSession.Situation) -> DocumentSession.Resolution?
    /// What was chosen could not be done; the situation is as before.
    func session(_ session: DocumentSession, didFail error: any Error)
    /// The document is closed.
    func sessionDidClose(_ session: DocumentSession)
}

/// A document that is open in an editor.
///
/// Without unsaved changes the session acts by itself: it shows what others have saved, and closes when the file is deleted.
/// Else it asks its delegate, who may close, save over what others have made (which stays a version), reload, or merge the
/// two with the content that the document was opened with. That content, the *base*, is kept in memory as long as the
/// session is open; in a container its version is pinned besides, so that it stays in the history.
///
/// Nothing is written over what nobody has been asked about: a save that finds others' content in the file, of which the
/// session has not been told yet, asks the delegate instead.
public final class DocumentSession: NSObject, @unchecked Sendable {
    // Sendable because what changes is guarded by `state`.

    /// What others have done to the file.
    public enum Situation: Hashable, Sendable {
        case changed, deleted

        /// What can be done about it.
        public var resolutions: Set<Resolution> {
            switch self {
            case .changed: [.close, .save, .reload, .merge]
            case .deleted: [.close, .save]
            }
        }
    }

    /// What can be done.
    public enum Resolution: Hashable, Sendable {
        /// The document is closed; what it has unsaved is given up.
        case close
        /// What the document has is written over what others have made, or makes the file anew.
        case save
        /// What the document has unsaved is given up for what is in the file.
        case reload
        /// The edits of both are joined, if they do not overlap.
        case merge
    }

    struct State {
        var url: URL
        var base: DocumentBase?
        var situation: Situation?
        /// What was in the file when the delegate was asked about the situation.
        var askedAbout: FileMark?
        var isClosed = false
    }

    /// Guards what is known of the file. Neither the delegate nor a coordinator is called under it.
    let state: Mutex<State>
    private weak let delegate: (any DocumentSessionDelegate)?
    public let presentedItemOperationQueue = OperationQueue()

    /// Opens a document: its content is shown before this returns.
    /// - Throws: what keeps the file from being read.
    public init(opening url: URL, for delegate: any DocumentSessionDelegate) throws {
        state = Mutex(State(url: url))
        self.delegate = delegate
        super.init()
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
        // Before it is read: what is changed after that is heard of.
        NSFileCoordinator.addFilePresenter(self)
        do {
            try reload()
        } catch {
            NSFileCoordinator.removeFilePresenter(self)
            throw error
        }
    }

    /// Where the file is.
    public var url: URL { state.withLock(\.url) }
    /// What waits for a decision.
    public var situation: Situation? { state.withLock(\.situation) }

    // MARK: What can be done

    /// Does what was chosen.
    public func resolve(_ resolution: Resolution) throws {
        switch resolution {
        case .close: close()
        case .save: try save()
        case .reload: try reload()
        case .merge: try merge()
        }
    }

    /// Closes the document: nothing is written.
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

    /// Writes the document over what was shown last, or, if there is a ``situation``, over what the delegate was asked
    /// about, or makes the file anew. What was in it is a version of it.
    ///
    /// If others have been at the file since, nothing is written: without unsaved changes the session acts by itself, else
    /// the delegate is asked, and what it chooses is done. A document that is closed is not written.
    public func save() throws {
        guard let found = try write() else { return }
        // It may just have been moved, which the session is told next: that is no reason to close it.
        if found == .missing, !delegateHasChanges { return }
        react(to: found)
    }

    /// Shows what is in the file; what the document has unsaved is given up.
    public func reload() throws {
        var contents = Data()
        try coordinate { url in
            // Before it is read: if others change it in between, it is read again when that is told.
            let mark = FileMark(of: url)
            contents = try Data(contentsOf: url)
            self.rebase(on: DocumentBase(contents, mark, of: url))
        }
        delegate?.session(self, show: contents)
    }

    /// Joins what the document has with what others have made of the same base, writes and shows it.
    /// - Throws: ``DocumentMergeError``; then nothing has changed.
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

    private func coordinate(writing options: NSFileCoordinator.WritingOptions? = nil, _ body: (URL) throws -> Void) throws {
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

    /// Writes the document, unless there is something in the file that nobody has been asked about.
    /// - Returns: what that is; nil if the document was written.
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
            // Who has seen what is in the file does not make a conflict by writing over it: it was decided to.
            if isDecided, let file = try? FileHandle(forReadingFrom: url) { try? file.close() }
            try self.write(contents, to: url)
        }
        if unknown == nil { delegate.sessionDidSave(self) }
        return unknown
    }

    private func write(_ contents: Data, to url: URL) throws {
        try contents.write(to: url, options: .atomic)
        // Whoever does not coordinate may have written in the same moment: then the file does not hold the base.
        let mark = FileMark(of: url)
        let isThere = (try? Data(contentsOf: url)) == contents
        rebase(on: DocumentBase(contents, isThere ? mark : nil, of: url))
        if !isThere { lookSoon() }
    }

    /// What the document goes on from.
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

// MARK: - What the session is told

extension DocumentSession: NSFilePresenter, DeletionHearing {
    public var presentedItemURL: URL? { url }

    public func presentedItemDidMove(to newURL: URL) {
        state.withLock { $0.url = newURL }
        // What was told of it by its old name could not be looked at.
        look()
    }

    /// As long as nobody has decided, what is in the file is what others may read.
    public func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        guard situation == nil, delegateHasChanges else { return completionHandler(nil) }
        do {
            let unknown = try write()
            completionHandler(nil)
            // Others were first. They are not kept waiting until somebody has decided.
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

    /// Compares the file with what was shown last. One that is not there has been moved or deleted, and which of the two
    /// is told next.
    private func look() {
        let (url, isClosed) = state.withLock { ($0.url, $0.isClosed) }
        guard !isClosed else { return }
        let found = FileMark(of: url)
        guard found != .missing else { return }
        let isBase = state.withLock { state in
            guard state.base?.mark == found else { return false }
            // Attributes, or what has been shown already; what others did is undone.
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
            // A save may have found it before it was told.
            guard isNew else { return }
            choice = delegate?.session(self, chooseFor: situation)
        }
        guard let choice else { return }
        do { try resolve(choice) } catch { delegate?.session(self, didFail: error) }
    }
}
