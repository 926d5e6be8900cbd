// A presenter that writes down what it is asked and told, and does meanwhile what a test wants.

import FileCoordination
import Foundation
import Synchronization

/// Its item and what it does may be set from any thread.
final class RecordingPresenter: NSObject, NSFilePresenter, Sendable {
    struct Behavior: Sendable {
        var relinquish: (@Sendable (Bool) -> Void)?
        var save: (@Sendable () -> (any Error)?)?
        var accommodate: (@Sendable () -> (any Error)?)?
        var changed: (@Sendable () -> Void)?
        var toldOfSubitem: (@Sendable () -> Void)?
        /// Whether questions are answered at all.
        var answers = true
    }

    private struct State {
        var url: URL?
        var words: [String] = []
        var wanted: (@Sendable ([String]) -> Bool, Gate)?
        var behavior = Behavior()
    }

    let presentedItemOperationQueue: OperationQueue
    private let state: Mutex<State>

    init(_ url: URL?, on queue: OperationQueue? = nil, _ behavior: Behavior = Behavior()) {
        presentedItemOperationQueue = queue ?? OperationQueue()
        if queue == nil { presentedItemOperationQueue.maxConcurrentOperationCount = 1 }
        state = Mutex(State(url: url, behavior: behavior))
        super.init()
    }

    var presentedItemURL: URL? {
        get { state.withLock { $0.url } }
        set { state.withLock { $0.url = newValue } }
    }
    var behavior: Behavior {
        get { state.withLock { $0.behavior } }
        set { state.withLock { $0.behavior = newValue } }
    }

    /// What it has been asked and told so far.
    var words: [String] { state.withLock { $0.words } }

    private func say(_ word: String) {
        let gate = state.withLock { state -> Gate? in
            state.words.append(word)
            guard let (isEnough, gate) = state.wanted, isEnough(state.words) else { return nil }
            state.wanted = nil
            return gate
        }
        gate?.open()
    }

    /// Waits until it was told enough; gives what that was.
    @discardableResult
    func await(_ isEnough: @escaping @Sendable ([String]) -> Bool) -> [String] {
        let gate = Gate()
        let isThere = state.withLock { state in
            if isEnough(state.words) { return true }
            state.wanted = (isEnough, gate)
            return false
        }
        if !isThere { gate.pass() }
        return words
    }

    /// Waits for a word.
    @discardableResult
    func await(_ word: String) -> [String] { self.await { $0.contains(word) } }

    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        say("relinquish to reader")
        behavior.relinquish?(false)
        if behavior.answers { reader { self.say("reacquire from reader") } }
    }

    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        say("relinquish to writer")
        behavior.relinquish?(true)
        if behavior.answers { writer { self.say("reacquire from writer") } }
    }

    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        say("save")
        let error = behavior.save?()
        if behavior.answers { completionHandler(error) }
    }

    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        say("accommodate")
        completionHandler(behavior.accommodate?())
    }

    func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        say("accommodate \(url.lastPathComponent)")
        completionHandler(behavior.accommodate?())
    }

    func presentedItemDidMove(to newURL: URL) {
        presentedItemURL = newURL
        say("moved to \(newURL.lastPathComponent)")
    }

    func presentedItemDidChange() {
        say("changed")
        behavior.changed?()
    }

    func presentedItemDidGain(_ version: NSFileVersion) {
        say(version.isConflict ? "gained a conflict" : "gained a version")
    }
    func presentedItemDidResolveConflict(_ version: NSFileVersion) { say("resolved") }
    func presentedItemDidLose(_ version: NSFileVersion) { say("lost") }
    func presentedSubitem(at url: URL, didGain version: NSFileVersion) {
        say("\(url.lastPathComponent) gained a \(version.isConflict ? "conflict" : "version")")
    }
    func presentedSubitem(at url: URL, didResolve version: NSFileVersion) { say("\(url.lastPathComponent) resolved") }
    func presentedSubitem(at url: URL, didLose version: NSFileVersion) { say("\(url.lastPathComponent) lost") }
    func presentedSubitemDidAppear(at url: URL) {
        say("\(url.lastPathComponent) appeared")
        behavior.toldOfSubitem?()
    }
    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
        say("\(oldURL.lastPathComponent) moved to \(newURL.lastPathComponent)")
    }
    func presentedSubitemDidChange(at url: URL) { say("\(url.lastPathComponent) changed") }
}

/// A gate that is opened once; who comes later goes through.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func open() { semaphore.signal() }
    func pass() {
        semaphore.wait()
        semaphore.signal()
    }
    /// For who fails rather than waits for ever.
    func isPassed(within seconds: Double) -> Bool {
        guard semaphore.wait(timeout: .now() + seconds) == .success else { return false }
        semaphore.signal()
        return true
    }
}

/// What threads bring together.
final class Collected<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])
    func add(_ value: Value) { state.withLock { $0.append(value) } }
    var all: [Value] { state.withLock { $0 } }
}

/// Runs something on so many threads of no pool, and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        Thread.detachNewThread {
            body(index)
            group.leave()
        }
    }
    group.wait()
}

/// Runs a test in a fresh directory.
func inDirectory(_ body: (URL) throws -> Void) throws {
    let directory = URL(fileURLWithPath: "/var/tmp/coordination-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try body(directory)
}

/// The same for a test that is a task.
func inDirectory(_ body: (URL) async throws -> Void) async throws {
    let directory = URL(fileURLWithPath: "/var/tmp/coordination-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(directory)
}
