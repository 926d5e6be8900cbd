// A program that takes part in coordination as a test tells it to: a request a line in, what happens a line out.

import FileCoordination
import Foundation
import Synchronization

/// Lines go out whole.
private let output = Mutex(())

func say(_ words: String) {
    output.withLock { _ in FileHandle.standardOutput.write(Data((words + "\n").utf8)) }
}

/// An editor: it shows a file, may have unsaved changes, and says what it is asked and told.
final class Editor: NSObject, NSFilePresenter, Sendable {
    private let state: Mutex<(url: URL?, unsaved: String?, isSilent: Bool)>
    let presentedItemOperationQueue: OperationQueue

    init(_ url: URL, unsaved: String?, isSilent: Bool) {
        state = Mutex((url, unsaved, isSilent))
        presentedItemOperationQueue = OperationQueue()
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
        super.init()
    }

    var presentedItemURL: URL? { state.withLock { $0.url } }
    private var isSilent: Bool { state.withLock { $0.isSilent } }

    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        say("relinquish to reader")
        if isSilent { return hold(reader) }
        reader { say("reacquire from reader") }
    }

    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        say("relinquish to writer")
        if isSilent { return hold(writer) }
        writer { say("reacquire from writer") }
    }

    /// Keeps a question without answering it.
    private func hold(_ question: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        kept.withLock { $0.append(question) }
    }
    private let kept = Mutex<[@Sendable ((@Sendable () -> Void)?) -> Void]>([])

    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        let (url, unsaved, _) = state.withLock { $0 }
        guard let url, let unsaved else { return completionHandler(nil) }
        say("save")
        var error: NSError?
        var failure: (any Error)?
        NSFileCoordinator(filePresenter: self).coordinate(
            writingItemAt: url, options: .forReplacing, error: &error
        ) { url in
            do {
                try Data(unsaved.utf8).write(to: url, options: .atomic)
            } catch {
                failure = error
            }
        }
        state.withLock { $0.unsaved = nil }
        completionHandler(error ?? failure)
    }

    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        say("close")
        completionHandler(nil)
    }

    func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        say("close \(url.lastPathComponent)")
        completionHandler(nil)
    }

    func presentedItemDidMove(to newURL: URL) {
        state.withLock { $0.url = newURL }
        say("moved to \(newURL.path)")
    }

    func presentedItemDidChange() { say("changed") }
    func presentedItemDidGain(_ version: NSFileVersion) {
        say("gained \(version.isConflict ? "conflict" : "version") \(text(of: version.url))")
    }
    func presentedItemDidResolveConflict(_ version: NSFileVersion) {
        say("resolved")
        // It shows the losers until there is none.
        let left = presentedItemURL.flatMap { NSFileVersion.unresolvedConflictVersionsOfItem(at: $0) } ?? []
        if left.isEmpty { say("view closed") }
    }
    func presentedItemDidLose(_ version: NSFileVersion) { say("lost") }
    func presentedSubitemDidAppear(at url: URL) { say("appeared \(url.lastPathComponent)") }
    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
        say("moved \(oldURL.lastPathComponent) to \(newURL.lastPathComponent)")
    }
    func presentedSubitemDidChange(at url: URL) { say("changed \(url.lastPathComponent)") }
}

/// What its coordinators have in common with those of others.
let purpose = Mutex<String?>(nil)

/// A coordinator of nobody's.
func coordinator() -> NSFileCoordinator {
    let coordinator = NSFileCoordinator()
    if let purpose = purpose.withLock({ $0 }) { coordinator.purposeIdentifier = purpose }
    return coordinator
}

func text(of url: URL) -> String { (try? String(contentsOf: url, encoding: .utf8)) ?? "nothing" }

func told(_ error: NSError?) -> String {
    error.map { "failed \($0.domain) \($0.code) \($0.localizedDescription)" } ?? "done"
}

/// Carries out a request; what waits is done on a thread of its own, so that the next can be given meanwhile.
func perform(_ words: [String]) {
    let url = URL(fileURLWithPath: words.count > 1 ? words[1] : "/")
    let rest = words.dropFirst(2).joined(separator: " ")
    var error: NSError?
    switch words[0] {
    case "present", "present-silently":
        NSFileCoordinator.addFilePresenter(
            Editor(url, unsaved: rest.isEmpty ? nil : rest, isSilent: words[0] == "present-silently"))
        say("presenting")
    case "withdraw":
        for presenter in NSFileCoordinator.filePresenters { NSFileCoordinator.removeFilePresenter(presenter) }
        say("withdrawn")
    case "purpose":
        purpose.withLock { $0 = words.count > 1 ? words[1] : nil }
        say("done")
    case "read":
        var seen = ""
        coordinator().coordinate(readingItemAt: url, error: &error) { seen = text(of: $0) }
        say(error == nil ? "read \(seen)" : told(error))
    case "write":
        coordinator().coordinate(writingItemAt: url, error: &error) { try? Data(rest.utf8).write(to: $0) }
        say(told(error))
    case "write-as-editor":
        let editor = NSFileCoordinator.filePresenters.first
        NSFileCoordinator(filePresenter: editor).coordinate(writingItemAt: url, error: &error) {
            try? Data(rest.utf8).write(to: $0)
        }
        say(told(error))
    case "delete":
        coordinator().coordinate(writingItemAt: url, options: .forDeleting, error: &error) {
            try? FileManager.default.removeItem(at: $0)
        }
        say(told(error))
    case "count":
        // Adds to a number so many times, each time in an access of its own.
        for _ in 0..<(Int(rest) ?? 0) where error == nil {
            coordinator().coordinate(writingItemAt: url, error: &error) { url in
                try? Data("\((Int(text(of: url)) ?? -1_000_000) + 1)".utf8).write(to: url)
            }
        }
        say(told(error))
    case "hold":
        coordinator().coordinate(writingItemAt: url, error: &error) { url in
            say("holding")
            released.wait()
        }
        say(told(error))
    case "measure":
        // The median of so many accesses that nobody else wants, in microseconds: as such, and of finding out who
        // coordinates.
        var times: [Double] = []
        for _ in 0..<(Int(rest) ?? 0) {
            let begin = DispatchTime.now().uptimeNanoseconds
            coordinator().coordinate(writingItemAt: url, error: &error) { _ in }
            times.append(Double(DispatchTime.now().uptimeNanoseconds - begin) / 1000)
        }
        times.sort()
        say("median \(times[times.count / 2]) 90% \(times[times.count * 9 / 10])")
    default: say("unknown \(words[0])")
    }
}

/// What a `hold` waits for.
let released = DispatchSemaphore(value: 0)

while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    if words.first == "release" {
        released.signal()
    } else if !words.isEmpty {
        Thread.detachNewThread { perform(words) }
    }
}
