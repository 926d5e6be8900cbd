// Open documents: what becomes of them when others save or delete the file, in a container and outside.

import FileCoordination
import Foundation
import Support
import Synchronization
import Testing

/// An editor of a text. Counts as edited until it is saved or something is shown.
private final class Editor: DocumentSessionDelegate {
    struct State {
        var text = ""
        var isEdited = false
        var choice: DocumentSession.Resolution?
        var log: [String] = []
    }

    private let state = Mutex(State())
    let changed = DispatchSemaphore(value: 0)

    var text: String { state.withLock(\.text) }
    var log: [String] { state.withLock(\.log) }
    var hasUnsavedChanges: Bool { state.withLock(\.isEdited) }

    func edit(_ text: String, choosing choice: DocumentSession.Resolution? = nil) {
        state.withLock { state in
            (state.text, state.isEdited, state.choice) = (text, true, choice)
        }
    }

    private func note(_ what: String, _ change: (inout State) -> Void = { _ in }) {
        state.withLock { state in
            change(&state)
            state.log.append(what)
        }
        changed.signal()
    }

    /// Waits until something has been noted, so many times.
    func wait(for what: String, times: Int = 1) throws {
        let deadline = DispatchTime.now() + 60
        while log.filter({ $0 == what }).count < times {
            guard changed.wait(timeout: deadline) == .success else {
                throw Failure("it was never told: \(what); \(log)")
            }
        }
    }

    func contents() throws -> Data { Data(text.utf8) }
    func session(_ session: DocumentSession, show contents: Data) {
        let text = String(decoding: contents, as: UTF8.self)
        note("show \(text)") { ($0.text, $0.isEdited) = (text, false) }
    }
    func sessionDidSave(_ session: DocumentSession) { note("saved") { $0.isEdited = false } }
    func session(_ session: DocumentSession, chooseFor situation: DocumentSession.Situation) -> DocumentSession
        .Resolution?
    {
        note("choose: \(situation)")
        return state.withLock(\.choice)
    }
    func session(_ session: DocumentSession, didFail error: any Error) { note("failed: \(error)") }
    func sessionDidClose(_ session: DocumentSession) { note("closed") }
}

@Suite("Document sessions", .timeLimit(.minutes(2))) struct DocumentSessionTests {
    private func play(
        _ text: String = "1\n2\n3\n4\n5\n", _ body: (TestContainer, URL, Editor, DocumentSession) throws -> Void
    ) throws {
        try withContainer(named: "session", files: ["a.txt": text]) { container in
            let editor = Editor()
            let url = URL(fileURLWithPath: container.file("a.txt"))
            let session = try DocumentSession(opening: url, for: editor)
            defer { session.close() }
            #expect(editor.log == ["show \(text)"])
            try body(container, url, editor, session)
            return []
        }
    }

    private func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

    @Test("without unsaved changes others' saves are shown, moves are followed, and a deletion closes")
    func defaults() throws {
        try play { container, url, editor, session in
            try shell("echo new > a.txt", in: container.path)
            try editor.wait(for: "show new\n")
            try shell("mv a.txt b.txt; echo newer > b.txt", in: container.path)
            try editor.wait(for: "show newer\n")
            #expect(session.url.lastPathComponent == "b.txt")
            try shell("rm b.txt", in: container.path)
            try editor.wait(for: "closed")
        }
    }

    @Test("with unsaved changes it asks; saving keeps the other's as a version, and makes no conflict") func saving()
        throws
    {
        try play { container, url, editor, session in
            editor.edit("mine\n")
            try shell("echo theirs > a.txt", in: container.path)
            try editor.wait(for: "choose: changed")
            #expect(session.situation == .changed)
            try session.resolve(.save)
            #expect(try text(url) == "mine\n" && session.situation == nil && !editor.hasUnsavedChanges)
            #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: url) == [])
            let others = try (NSFileVersion.otherVersionsOfItem(at: url) ?? []).map { try text($0.url) }
            #expect(others.first == "theirs\n")
        }
    }

    @Test("reloading gives up one's own, and closing writes nothing") func reloading() throws {
        try play { container, url, editor, session in
            editor.edit("mine\n", choosing: .reload)
            try shell("echo theirs > a.txt", in: container.path)
            try editor.wait(for: "show theirs\n")
            editor.edit("mine again\n", choosing: .close)
            try shell("echo theirs again > a.txt", in: container.path)
            try editor.wait(for: "closed")
            #expect(try text(url) == "theirs again\n")
        }
    }

    @Test("merging joins edits that do not overlap with the base; those that do are refused, and nothing has changed")
    func merging() throws {
        try play { container, url, editor, session in
            editor.edit("1 mine\n2\n3\n4\n5\n", choosing: .merge)
            try shell("sed -i 's/5/5 theirs/' a.txt", in: container.path)
            try editor.wait(for: "show 1 mine\n2\n3\n4\n5 theirs\n")
            #expect(try text(url) == "1 mine\n2\n3\n4\n5 theirs\n")
            editor.edit("1 mine\n2\n3 mine\n4\n5 theirs\n", choosing: .merge)
            try shell("sed -i 's/3/3 theirs/' a.txt", in: container.path)
            try editor.wait(for: "failed: overlap")
            #expect(try text(url) == "1 mine\n2\n3 theirs\n4\n5 theirs\n")
            #expect(editor.hasUnsavedChanges && session.situation == .changed)
        }
    }

    @Test("a deleted file comes back when its document is saved") func deletion() throws {
        try play { container, url, editor, session in
            editor.edit("mine\n")
            try shell("rm a.txt", in: container.path)
            try editor.wait(for: "choose: deleted")
            #expect(DocumentSession.Situation.deleted.resolutions == [.close, .save])
            try session.resolve(.save)
            #expect(try text(url) == "mine\n")
        }
    }

    @Test("others who read have the document saved first; the base is pinned as long as it is open") func pinning()
        throws
    {
        try play { container, url, editor, session in
            editor.edit("mine\n")
            let read = try container.must("coordinate", "read", "a.txt", "--", "cat", "a.txt")
            #expect(read.text == "mine")
            #expect(try container.history(of: "a.txt").versions.map(\.pinned) == [true, false])
            session.close()
            #expect(try container.history(of: "a.txt").versions.map(\.pinned) == [false, false])
        }
    }

    /// Does something while the session hears nothing.
    private func whileDeaf(_ session: DocumentSession, _ body: () throws -> Void) throws {
        let gate = Gate()
        session.presentedItemOperationQueue.addOperation { gate.pass() }
        defer { gate.open() }
        try body()
    }

    @Test("a save finds what others have just put there, asks, and writes over that alone") func overtaken() throws {
        try play { container, url, editor, session in
            try whileDeaf(session) {
                editor.edit("mine\n")
                try shell("echo theirs > t; mv t a.txt", in: container.path)
                try session.save()
                #expect(try text(url) == "theirs\n" && session.situation == .changed)
                #expect(editor.log.last == "choose: changed" && editor.hasUnsavedChanges)
                // Somebody else is quicker than the decision.
                try shell("echo others > t; mv t a.txt", in: container.path)
                try session.resolve(.save)
                #expect(try text(url) == "others\n" && editor.log.last == "choose: changed" && editor.log.count == 3)
                try session.resolve(.save)
                #expect(try text(url) == "mine\n" && editor.log.last == "saved")
            }
            #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: url) == [])
        }
    }

    @Test("who is asked to save before it is told of others' content leaves that, and its editor is asked once")
    func overtakenWhenAsked() throws {
        try play { container, url, editor, session in
            try whileDeaf(session) {
                editor.edit("mine\n")
                try shell("echo theirs > t; mv t a.txt", in: container.path)
                let answer = Collected<Bool>()
                session.savePresentedItemChanges { answer.add($0 == nil) }
                #expect(try answer.all == [true] && text(url) == "theirs\n")
            }
            try editor.wait(for: "choose: changed")
            try shell("echo again > t; mv t a.txt", in: container.path)
            try editor.wait(for: "choose: changed", times: 2)
            #expect(editor.log.dropFirst() == ["choose: changed", "choose: changed"])
        }
    }

    @Test("a save that is renamed at once is no deletion: the session shows it by its new name")
    func renamedAtOnce() throws {
        try play { container, url, editor, session in
            try whileDeaf(session) { try shell("echo new > t; mv t a.txt; mv a.txt b.txt", in: container.path) }
            try editor.wait(for: "show new\n")
            #expect(session.url.lastPathComponent == "b.txt" && !editor.log.contains("closed"))
        }
    }

    @Test("sessions of one file share the pin of their base until the last one goes") func sharing() throws {
        try play { container, url, editor, session in
            func isPinned() throws -> [Bool] { try container.history(of: "a.txt").versions.map(\.pinned) }
            let other = try DocumentSession(opening: url, for: editor)
            #expect(try isPinned() == [true])
            try session.reload()
            #expect(try isPinned() == [true])
            other.close()
            #expect(try isPinned() == [true])
            session.close()
            #expect(try isPinned() == [false])
            // What somebody else has pinned stays so.
            try container.must("pin", "a.txt", "--version", container.history(of: "a.txt").versions[0].id)
            let third = try DocumentSession(opening: url, for: editor)
            third.close()
            #expect(try isPinned() == [true])
        }
    }

    @Test("the base can be merged with after its version was removed for good") func removedBase() throws {
        try play { container, url, editor, session in
            editor.edit("1 mine\n2\n3\n4\n5\n")
            try shell("sed 's/5/5 theirs/' a.txt > t; mv t a.txt", in: container.path)
            try editor.wait(for: "choose: changed")
            try NSFileVersion.removeOtherVersionsOfItem(at: url)
            #expect(NSFileVersion.otherVersionsOfItem(at: url) == [])
            try session.resolve(.merge)
            #expect(try text(url) == "1 mine\n2\n3\n4\n5 theirs\n")
        }
    }

    @Test("asked to save before it is told of its move, a document is saved where it is by then")
    func savingBehindMove() throws {
        try inDirectory { directory in
            let (old, new) = (directory.appendingPathComponent("a"), directory.appendingPathComponent("b"))
            try Data("old".utf8).write(to: old)
            let editor = Editor()
            let session = try DocumentSession(opening: old, for: editor)
            defer { session.close() }
            editor.edit("mine")
            let queue = session.presentedItemOperationQueue
            #expect(readBehindMove(of: old, to: new, presentedOn: queue) == "mine")
            queue.waitUntilAllOperationsAreFinished()
            #expect(session.url.path == new.path && session.situation == nil && !editor.hasUnsavedChanges)
        }
    }

    @Test("outside of a container it merges, too") func outside() throws {
        let directory = try Workplace.fresh("session")
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let url = URL(fileURLWithPath: directory + "/a.txt")
        try Data("1\n2\n3\n4\n5\n".utf8).write(to: url)
        let editor = Editor()
        let session = try DocumentSession(opening: url, for: editor)
        defer { session.close() }
        editor.edit("1 mine\n2\n3\n4\n5\n", choosing: .merge)
        var error: NSError?
        NSFileCoordinator().coordinate(writingItemAt: url, error: &error) { url in
            try? Data("1\n2\n3\n4\n5 theirs\n".utf8).write(to: url)
        }
        try editor.wait(for: "show 1 mine\n2\n3\n4\n5 theirs\n")
        #expect(error == nil)
    }
}
