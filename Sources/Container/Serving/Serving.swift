// How open files are served: their handles, by the kernel itself or by us, and the opens that wait for a turn.

import Coordination
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel

/// The open files of a container and those that wait to be opened. Knows nothing of what an open keeps or saves.
final class Serving: Sendable {
    let files = OpenFileTable()
    let passthrough: Passthrough
    let arbiter: WriterArbiter
    /// Claims and presenters of clients.
    let coordinator: Coordinator
    let callers: Callers
    let policy: Policy
    let enrollment = Enrollment()
    /// Opens that have waited go on here.
    private let resumed = Scheduler()
    private let stale = StaleOpens()
    let shownNames: ShownNames

    init(nodes: NodeTable, callers: Callers, policy: Policy, timers: Scheduler, logger: Logger) {
        let settings = policy.settings
        (self.callers, self.policy) = (callers, policy)
        passthrough = Passthrough(nodes: nodes, timers: timers, logger: logger)
        shownNames = ShownNames(kernel: passthrough.kernel)
        arbiter = WriterArbiter(replaceWait: settings.replaceWaitNanoseconds, scheduler: timers, opens: resumed)
        coordinator = Coordinator(
            packages: Packages(extensions: settings.packageExtensions), scheduler: timers, opens: resumed)
    }

    func start() {
        resumed.start()
        shownNames.start()
    }

    func end() {
        shownNames.end()
        resumed.end()
    }

    /// Takes over what the settings say.
    func set(_ settings: Settings) {
        arbiter.set(replaceWait: settings.replaceWaitNanoseconds)
        coordinator.set(Packages(extensions: settings.packageExtensions))
    }

    // MARK: Opens that wait

    /// Whether an open for writing may go on now; it waits for others that are replacing the file in place. It has what
    /// is left of the patience that it has had with coordinated claims, so that it waits no longer than one of the two
    /// alone.
    /// - Parameter later: called if it may not.
    func takesTurn(
        _ writing: OpenForWriting, _ waiting: (any WaitingOpen)?, later: @escaping @Sendable () -> Void
    ) -> Bool {
        let isAdmitted = arbiter.admit(
            writing.claim, of: writing.node, writing.requester, truncates: writing.flags & O_TRUNC != 0,
            descriptor: writing.descriptor, until: writing.patience.deadline,
            mayWait: waiting != nil && !writing.patience.hasEnded, resume: later)
        guard !isAdmitted else { return true }
        if let waiting { letInterrupt(writing, waiting) }
        // The signal may have come just before this began to wait.
        if writing.patience.hasEnded { arbiter.interrupted(writing.claim, isFatal: false) }
        return false
    }

    /// What a signal does to an open for writing, wherever it waits.
    func letInterrupt(_ writing: OpenForWriting, _ waiting: any WaitingOpen) {
        waiting.onInterrupt { [self] in
            let isFatal = callers.hasFatalSignal(thread: writing.caller.thread)
            writing.patience.end()
            if let claim = writing.coordinated { coordinator.interrupted(claim, isFatal: isFatal) }
            arbiter.interrupted(writing.claim, isFatal: isFatal)
            if isFatal { _ = waiting.complete(.failure(.interrupted)) }
        }
    }

    /// The same for an open for reading, which waits for claims alone.
    func letInterrupt(_ claim: ClaimID, of caller: Caller, _ waiting: any WaitingOpen) {
        waiting.onInterrupt { [self] in
            let isFatal = callers.hasFatalSignal(thread: caller.thread)
            coordinator.interrupted(claim, isFatal: isFatal)
            if isFatal { _ = waiting.complete(.failure(.interrupted)) }
        }
    }

    // MARK: Names that another file has taken

    /// Whether the kernel has looked a name up again for the caller, after an ESTALE that this would be the second of.
    func hasLookedAgain(_ caller: Caller) -> Bool {
        let (wait, overflows) = policy.settings.replaceWaitNanoseconds.addingReportingOverflow(1_000_000_000)
        return stale.isSecond(caller.thread, now: Scheduler.now, patience: overflows ? .max : wait)
    }

    /// The caller has opened the file that it has looked up.
    func hasOpened(_ caller: Caller) { stale.settled(caller.thread) }

    // MARK: Handles

    /// Counts a reader of a file and says how the kernel serves it.
    /// It gets a handle of its own unless the kernel reads by itself.
    func admitReader(
        of node: Node, _ flags: Int32, _ descriptor: SharedDescriptor?, openPath: () throws(Errno) -> SharedDescriptor,
        openForReading: () throws(Errno) -> SharedDescriptor
    ) throws(Errno) -> OpenReply {
        node.openings.state.withLock { $0.readers += 1 }
        var (reply, isPassed) = reply(for: node, descriptor, isKept: true, openPath)
        reply.needsNoFlush = true
        if descriptor == nil, isPassed { return reply }
        let file: SharedDescriptor
        do throws(Errno) {
            if let descriptor { file = descriptor } else { file = try openForReading() }
        } catch {
            node.openings.state.withLock { $0.closeReader() }
            throw error
        }
        let noRequester = Requester(actor: nil, author: Author(userID: 0, user: "", program: "", process: 0))
        let opened = OpenFile(
            id: files.newHandle(), node: node, descriptor: file, flags: flags, requester: noRequester, claim: nil)
        files.add(opened)
        reply.handle = opened.id
        return reply
    }

    /// The same for a writer, who was counted already.
    func admitWriter(
        _ file: OpenFile, isMediated: Bool, openPath: () throws(Errno) -> SharedDescriptor
    ) -> (OpenReply, isPassed: Bool) {
        var (reply, isPassed) = reply(for: file.node, file.descriptor, isKept: !file.mayBeMapped, openPath)
        // A write that passes through goes where the file was opened to write, though O_APPEND may be taken away from
        // it.
        let isMediated = isMediated || file.flags & O_APPEND != 0
        reply.isMediated = isPassed && isMediated
        reply.handle = file.id
        file.state.withLock { ($0.isMediated, $0.isPassed) = (isMediated || !isPassed, isPassed) }
        files.add(file)
        return (reply, isPassed)
    }

    private func reply(
        for node: Node, _ descriptor: SharedDescriptor?, isKept: Bool, _ openPath: () throws(Errno) -> SharedDescriptor
    ) -> (OpenReply, isPassed: Bool) {
        var reply = OpenReply(handle: OpenFileTable.sharedReader)
        let backing = passthrough.registration(of: node, descriptor, isKept: isKept, open: openPath)
        reply.backing = backing
        // Without passthrough all changes of the content go through the kernel's pages.
        reply.keepsCache = backing == 0 && !passthrough.isInUse
        return (reply, backing != 0)
    }
}
