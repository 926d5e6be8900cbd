// Coordinated reading and writing of files, as Apple's systems spell it.

import ControlProtocol
import Foundation
import Synchronization
import VersionsClient

/// What a coordinator's error goes to.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// Reads and writes files and directories so that other programs are asked first and wait meanwhile.
///
/// In a container of VersionsFS the daemon coordinates all processes; elsewhere the threads of this process are
/// coordinated with one another, and nobody else hears of it.
///
///     var error: NSError?
///     NSFileCoordinator().coordinate(writingItemAt: url, options: .forReplacing, error: &error) { url in
///         try? text.write(to: url, atomically: true, encoding: .utf8)
///     }
///
/// Make one for each operation. Accesses of one coordinator never wait for one another, nor do those of all coordinators
/// of one presenter.
open class NSFileCoordinator: NSObject, @unchecked Sendable {
    private struct State {
        var purpose: String
        var token: String
        var isCancelled = false
        /// What is being waited for.
        var acquisitions: [ObjectIdentifier: Acquisition] = [:]
        var heldUp: (@Sendable (Holder) -> Void)?
    }

    /// Whom the coordinator works for.
    private nonisolated(unsafe) let presenter: (any NSFilePresenter)?
    private let identity: PresenterIdentity?
    /// Guards what may be set while others use it. Nothing is called under it.
    private let state: Mutex<State>

    /// A coordinator for one operation.
    /// - Parameter filePresenterOrNil: the presenter that the operation is done for: it is neither asked nor told.
    public init(filePresenter filePresenterOrNil: (any NSFilePresenter)?) {
        presenter = filePresenterOrNil
        identity = filePresenterOrNil.map { PresenterCenter.shared.identity(of: $0) }
        let token = identity?.purpose ?? PurposeToken.random()
        state = Mutex(State(purpose: token, token: token))
        super.init()
    }

    /// A coordinator for one operation of nobody's.
    public override convenience init() { self.init(filePresenter: nil) }

    // MARK: Presenters

    /// Registers a presenter: from now on it is asked and told. It is kept until it is removed.
    ///
    /// Called inside a coordinated read of the item, nothing can happen between what was read and what is told.
    public class func addFilePresenter(_ filePresenter: any NSFilePresenter) { PresenterCenter.shared.add(filePresenter) }

    /// Takes a presenter back: no message of it is begun after this.
    public class func removeFilePresenter(_ filePresenter: any NSFilePresenter) {
        PresenterCenter.shared.remove(filePresenter)
    }

    /// The presenters of this process, in the order of their registration.
    public class var filePresenters: [any NSFilePresenter] { PresenterCenter.shared.presenters }

    // MARK: Purpose

    /// What this coordinator's accesses have in common with those of others that have the same: they never wait for one
    /// another, in whatever process of this user.
    ///
    /// Each coordinator begins with one of its own: 32 hexadecimal digits that nobody can guess, which may be handed to
    /// another process. Any other text, such as `com.example.sync`, stands for a secret that is made of it and of a key
    /// of this user's: other users' programs do not have it. Setting has no effect on a coordinator of a presenter,
    /// nor has an empty text.
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

    /// Gives up: what waits fails with `NSUserCancelledError`, what is asked for later does so at once, and what is being
    /// accessed already is not disturbed. From any thread.
    open func cancel() {
        let waiting = state.withLock { state in
            state.isCancelled = true
            return state.acquisitions.values
        }
        waiting.forEach { $0.cancel() }
    }

    // MARK: Who holds it up

    /// Somebody that an access has been waiting for for a second.
    public struct Holder: Hashable, Sendable {
        /// Its process.
        public let processIdentifier: Int32
        /// Its program.
        public let programName: String
        /// Whether it presents the item and has not answered; else it is accessing the item.
        public let isPresenter: Bool
    }

    /// Hears who holds up an access that waits. Called on a thread of the library's: it should return soon. There is no
    /// such thing on Apple's systems.
    public var heldUpHandler: (@Sendable (Holder) -> Void)? {
        get { state.withLock { $0.heldUp } }
        set { state.withLock { $0.heldUp = newValue } }
    }

    // MARK: Acquiring

    /// Whom accesses are made for.
    var claimant: Claimant {
        Claimant(
            purpose: state.withLock { $0.token }, links: presenter.map { PresenterCenter.shared.links(of: $0) } ?? [])
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Asks for an access, so that ``cancel()`` reaches it.
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

    /// What an access will be asked for with.
    func newAcquisition(_ wanted: [Wanted], isPreparation: Bool = false) throws(ControlError) -> Acquisition {
        var heldUp: (@Sendable (HeldUpNotification) -> Void)?
        if let handler = heldUpHandler { heldUp = { handler(Holder($0)) } }
        let claimant = claimant
        let wanted = wanted.map { item in
            var item = item
            // A name that is to be replaced is meant as a name.
            if !item.isReplacing { item.url = claimant.place(of: item.url) }
            return item
        }
        return try Acquisition(wanted, for: claimant, isPreparation: isPreparation, heldUp: heldUp)
    }

    /// Where the presenter's item, or something in it, is by now, though the presenter has not been told yet.
    func place(of url: URL) -> URL { claimant.place(of: url) }

    /// Asks for the access.
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

    /// An access on behalf of the presenter is over: it may have an item now.
    func lookAgain() {
        guard let presenter else { return }
        for link in PresenterCenter.shared.links(of: presenter) { link.look() }
    }

    /// Where the presenter stands with moves that it makes itself.
    var token: String { state.withLock { $0.token } }
}

extension NSFileCoordinator.Holder {
    init(_ notice: HeldUpNotification) {
        self.init(processIdentifier: notice.pid, programName: notice.program, isPresenter: !notice.isHolder)
    }
}
