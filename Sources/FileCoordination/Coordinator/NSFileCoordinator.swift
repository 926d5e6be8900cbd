// Coordinated reading and writing of files, with Apple's names.

import ControlProtocol
import Foundation
import Synchronization
import VersionsClient

/// The place for a coordinator's error.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// Reads and writes files and directories in turn with other programs: they are asked first, and they wait meanwhile.
///
/// In a container of VersionsFS the daemon coordinates all processes. Elsewhere the threads of this process are
/// coordinated with one another, and other processes are not.
///
///     var error: NSError?
///     NSFileCoordinator().coordinate(writingItemAt: url, options: .forReplacing, error: &error) { url in
///         try? text.write(to: url, atomically: true, encoding: .utf8)
///     }
///
/// Make one for each operation. Accesses of one coordinator never wait for one another, and neither do the accesses of
/// all coordinators of one presenter.
open class NSFileCoordinator: NSObject, @unchecked Sendable {
    private struct State {
        var purpose: String
        var token: String
        var isCancelled = false
        /// The running requests.
        var acquisitions: [ObjectIdentifier: Acquisition] = [:]
        var heldUp: (@Sendable (Holder) -> Void)?
    }

    /// The presenter of the coordinator.
    private nonisolated(unsafe) let presenter: (any NSFilePresenter)?
    private let identity: PresenterIdentity?
    /// Guards the properties that other threads may set or read. No callback runs under it.
    private let state: Mutex<State>

    /// A coordinator for one operation.
    /// - Parameter filePresenterOrNil: the presenter that makes the access. It gets no questions and no notifications
    ///   for it.
    public init(filePresenter filePresenterOrNil: (any NSFilePresenter)?) {
        presenter = filePresenterOrNil
        identity = filePresenterOrNil.map { PresenterCenter.shared.identity(of: $0) }
        let token = identity?.purpose ?? PurposeToken.random()
        state = Mutex(State(purpose: token, token: token))
        super.init()
    }

    /// A coordinator for one operation without a presenter.
    public override convenience init() { self.init(filePresenter: nil) }

    // MARK: Presenters

    /// Registers a presenter: from now on it gets questions and notifications. It is retained until it is removed.
    ///
    /// A call inside a coordinated read of the item misses no change after that read.
    public class func addFilePresenter(_ filePresenter: any NSFilePresenter) {
        PresenterCenter.shared.add(filePresenter)
    }

    /// Removes a presenter: it gets no message after this.
    public class func removeFilePresenter(_ filePresenter: any NSFilePresenter) {
        PresenterCenter.shared.remove(filePresenter)
    }

    /// The presenters of this process, in the order of their registration.
    public class var filePresenters: [any NSFilePresenter] { PresenterCenter.shared.presenters }

    // MARK: Purpose

    /// The purpose of this coordinator's accesses. Accesses with the same purpose never wait for one another, in any
    /// process of this user.
    ///
    /// Each coordinator starts with its own purpose: 32 hexadecimal digits that cannot be guessed. Another process can
    /// receive and use them. Any other text, such as `com.example.sync`, stands for a secret made from it and a key of
    /// this user, so programs of other users do not have it. A coordinator of a presenter ignores a new value, and an
    /// empty text is ignored too.
    open var purposeIdentifier: String {
        get { state.withLock { $0.purpose } }
        set {
            guard identity == nil, !newValue.isEmpty else { return }
            let token = PurposeToken.of(newValue)
            state.withLock { state in
                state.purpose = newValue
                state.token = token
            }
        }
    }

    // MARK: Cancelling

    /// Cancels the accesses: a waiting access fails with `NSUserCancelledError`, and so does every later one. A running
    /// accessor is not interrupted. From any thread.
    open func cancel() {
        let waiting = state.withLock { state in
            state.isCancelled = true
            return state.acquisitions.values
        }
        waiting.forEach { $0.cancel() }
    }

    // MARK: Holders

    /// A program that has kept an access waiting for a second.
    public struct Holder: Hashable, Sendable {
        /// The process of the holder.
        public let processIdentifier: Int32
        /// The program of the holder.
        public let programName: String
        /// True if the holder presents the item and has not answered; false if it accesses the item.
        public let isPresenter: Bool
    }

    /// Called with the holder when an access waits. Called on a thread of the library, so it should return soon. Apple
    /// has no such property.
    public var heldUpHandler: (@Sendable (Holder) -> Void)? {
        get { state.withLock { $0.heldUp } }
        set { state.withLock { $0.heldUp = newValue } }
    }

    // MARK: Acquiring

    /// The claimant of this coordinator's accesses.
    var claimant: Claimant {
        Claimant(
            purpose: state.withLock { $0.token }, links: presenter.map { PresenterCenter.shared.links(of: $0) } ?? [])
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Requests an access so that ``cancel()`` reaches it.
    func acquire(
        _ wanted: [Wanted], isPreparation: Bool = false, in context: CoordinationContext,
        then: @escaping Acquisition.Completion
    ) {
        do throws(ControlError) {
            start(try newAcquisition(wanted, isPreparation: isPreparation), in: context, then: then)
        } catch {
            then(.failure(error))
        }
    }

    /// A new acquisition for an access.
    func newAcquisition(_ wanted: [Wanted], isPreparation: Bool = false) throws(ControlError) -> Acquisition {
        var heldUp: (@Sendable (HeldUpNotification) -> Void)?
        if let handler = heldUpHandler { heldUp = { handler(Holder($0)) } }
        let claimant = claimant
        let wanted = wanted.map { item in
            var item = item
            // Replacement means the name itself.
            if !item.isReplacing { item.url = claimant.place(of: item.url) }
            return item
        }
        return try Acquisition(wanted, for: claimant, isPreparation: isPreparation, heldUp: heldUp)
    }

    /// The present place of the presenter's item, or of an item inside it, even before the presenter hears of its move.
    func place(of url: URL) -> URL { claimant.place(of: url) }

    /// Starts the acquisition.
    func start(_ acquisition: Acquisition, in context: CoordinationContext, then: @escaping Acquisition.Completion) {
        let key = ObjectIdentifier(acquisition)
        let isCancelled = state.withLock { state in
            state.acquisitions[key] = acquisition
            return state.isCancelled
        }
        if isCancelled { acquisition.cancel() }
        acquisition.start(in: context) { [self] result in
            state.withLock { _ = $0.acquisitions.removeValue(forKey: key) }
            then(result)
        }
    }

    /// Looks for the presenter's item after an access on behalf of the presenter: the item may be new.
    func lookAgain() {
        guard let presenter else { return }
        for link in PresenterCenter.shared.links(of: presenter) { link.look() }
    }

    /// The token that marks the moves of the presenter itself.
    var token: String { state.withLock { $0.token } }
}

extension NSFileCoordinator.Holder {
    init(_ notice: HeldUpNotification) {
        self.init(processIdentifier: notice.pid, programName: notice.program, isPresenter: !notice.isHolder)
    }
}
