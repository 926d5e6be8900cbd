// Coordinators and presenters in several processes, on a real mount.

import ControlProtocol
import FileCoordination
import Foundation
import Support
import Testing
import VersionModel
import VersionsClient

@Suite("Coordination between processes, in a container", .serialized, .timeLimit(.minutes(5)))
struct MountedCoordinationTests {
    @Test("an editor with unsaved changes is made to save before a coordinated read, and has its file back afterwards")
    func unsaved() throws {
        try withContainer(files: ["a": "old"]) { container in
            let (editor, reader) = (try CoordinationProcess(), try CoordinationProcess())
            try editor.ask("present \(container.file("a")) new", "presenting")
            let read = try reader.ask("read \(container.file("a"))", "read")
            // Each once.
            for line in ["relinquish to reader", "save", "reacquire from reader"] { try editor.hear(line) }
            // What it saved is its own: it hears nothing of that.
            try editor.ask("withdraw", "withdrawn")
            return (read == "read new" ? [] : [read]) + editor.lines
        }
    }

    @Test("others' writes, moves and deletions reach presenters of the item, of its directory and deep inside")
    func telling() throws {
        try withContainer(files: ["d/e/a": "1", "d/b": "1"]) { container in
            let (deep, around, writer) = (
                try CoordinationProcess(), try CoordinationProcess(), try CoordinationProcess()
            )
            try deep.ask("present \(container.file("d/e/a"))", "presenting")
            try around.ask("present \(container.file("d"))", "presenting")
            try writer.ask("write \(container.file("d/e/a")) 22")
            try deep.hear("relinquish to writer")
            try deep.hear("changed")
            try deep.hear("reacquire from writer")
            try around.hear("changed a")
            // A plain program's rename of a directory above.
            try mustRun("mv", ["d/e", "d/f"], in: container.path)
            let moved = try deep.hear("moved to")
            try around.hear("moved e to f")
            try writer.ask("write \(container.file("d/new")) 1")
            try around.hear("appeared new")
            try writer.ask("delete \(container.file("d/f/a"))")
            try deep.hear("close")
            try around.hear("changed a")
            return moved == "moved to " + container.file("d/f/a") ? [] : [moved]
        }
    }

    @Test("a presenter does not hear of what it writes itself")
    func own() throws {
        try withContainer(files: ["a": "1"]) { container in
            let (editor, other) = (try CoordinationProcess(), try CoordinationProcess())
            try editor.ask("present \(container.file("a"))", "presenting")
            try editor.ask("write-as-editor \(container.file("a")) 22")
            try other.ask("write \(container.file("a")) 333")
            try editor.hear("reacquire from writer")
            let told = editor.lines.filter { $0 == "changed" }.count
            return told == 1 ? [] : ["it heard of \(told) changes"]
        }
    }

    @Test("two processes that count in one file, each in threads of its own, miss no number")
    func contention() throws {
        try withContainer(files: ["count": "0"]) { container in
            let processes = [try CoordinationProcess(), try CoordinationProcess()]
            for process in processes {
                for _ in 0..<8 { try process.begin("count \(container.file("count")) 10") }
            }
            for process in processes {
                for _ in 0..<8 { try process.hear("done") }
            }
            let count = try String(contentsOfFile: container.file("count"), encoding: .utf8)
            return count == "160" ? [] : ["they counted to \(count)"]
        }
    }

    @Test("a presenter that is killed while it is asked holds nobody up, and neither does a holder that is killed")
    func killed() throws {
        try withContainer(files: ["a": "1"]) { container in
            let (editor, holder, reader) = (
                try CoordinationProcess(), try CoordinationProcess(), try CoordinationProcess()
            )
            try editor.ask("present-silently \(container.file("a"))", "presenting")
            try reader.begin("read \(container.file("a"))")
            try editor.hear("relinquish to reader")
            editor.kill()
            try reader.hear("read 1")
            try holder.ask("hold \(container.file("a"))", "holding")
            try reader.begin("read \(container.file("a"))")
            holder.kill()
            try reader.hear("read 1")
            return []
        }
    }

    @Test(
        "programs of one user that name their purpose alike do not exclude one another, and one with another name waits"
    )
    func purposes() throws {
        try withContainer(files: ["a": "1"]) { container in
            let (holder, friend, other) = (
                try CoordinationProcess(), try CoordinationProcess(), try CoordinationProcess()
            )
            for process in [holder, friend] { try process.ask("purpose com.example.sync") }
            try other.ask("purpose com.example.other")
            try holder.ask("hold \(container.file("a"))", "holding")
            try friend.ask("write \(container.file("a")) 22")
            try other.begin("read \(container.file("a"))")
            // Held up: it has said nothing by the time that another round is through.
            try friend.ask("write \(container.file("a")) 333")
            let tooEarly = other.lines
            try holder.begin("release")
            let read = try other.hear("read")
            return tooEarly + (read == "read 333" ? [] : [read])
        }
    }

    @Test("a key of purposes that was not written to its end is made anew, the same for all")
    func brokenKey() throws {
        try withContainer(files: ["a": "1"]) { container in
            let state = URL(fileURLWithPath: container.path).deletingLastPathComponent().path + "/state"
            let key = state + "/versionsfs/purposes"
            try FileManager.default.createDirectory(atPath: state + "/versionsfs", withIntermediateDirectories: true)
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            _ = FileManager.default.createFile(atPath: key, contents: Data(count: 7), attributes: attributes)
            let processes = [try CoordinationProcess(state: state), try CoordinationProcess(state: state)]
            for process in processes { try process.ask("purpose com.example.sync") }
            try processes[0].ask("hold \(container.file("a"))", "holding")
            let written = try processes[1].ask("write \(container.file("a")) 22", "done")
            try processes[0].ask("release")
            let names = try FileManager.default.contentsOfDirectory(atPath: state + "/versionsfs")
            let size = try Data(contentsOf: URL(fileURLWithPath: key)).count
            return written == "done" && size == 32 && names == ["purposes"] ? [] : ["\(written) \(size) \(names)"]
        }
    }

    @Test("an access that waits for another process is cancelled from another thread")
    func cancelling() throws {
        try withContainer(files: ["a": "1"]) { container in
            let holder = try CoordinationProcess()
            try holder.ask("hold \(container.file("a"))", "holding")
            let coordinator = NSFileCoordinator()
            let waits = Gate()
            let heldUp = Collected<NSFileCoordinator.Holder>()
            coordinator.heldUpHandler = { holder in
                heldUp.add(holder)
                waits.open()
            }
            Thread.detachNewThread {
                waits.pass()
                coordinator.cancel()
            }
            var error: NSError?
            var wasCalled = false
            coordinator.coordinate(readingItemAt: URL(fileURLWithPath: container.file("a")), error: &error) { _ in
                wasCalled = true
            }
            try holder.begin("release")
            try holder.hear("done")
            var problems: [String] = []
            if wasCalled { problems.append("the accessor was called") }
            if error?.code != CocoaError.userCancelled.rawValue { problems.append("\(error as Any)") }
            if heldUp.all.first?.processIdentifier != holder.pid { problems.append("held up by \(heldUp.all)") }
            return problems
        }
    }

    @Test(
        "nested in an access of another item of the same program: it would wait for ever, and the error names the ring")
    func nesting() throws {
        try withContainer(files: ["a": "1"]) { container in
            let file = URL(fileURLWithPath: container.file("a"))
            var error: NSError?
            NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { url in
                NSFileCoordinator().coordinate(readingItemAt: url, error: &error) { _ in }
            }
            let isRight = error?.domain == NSPOSIXErrorDomain && error?.code == Int(EDEADLK)
                && error?.localizedDescription.contains(" at a") == true
            return isRight ? [] : ["\(error as Any)"]
        }
    }

    @Test("64 accesses of one item are granted in the order in which they were asked for")
    func order() throws {
        try withContainer(files: ["a": "1"]) { container in
            let file = URL(fileURLWithPath: container.file("a"))
            let order = Collected<Int>()
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let group = DispatchGroup()
            NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { _ in
                for number in 0..<64 {
                    group.enter()
                    NSFileCoordinator().coordinate(with: [.writingIntent(with: file)], queue: queue) { error in
                        if error == nil { order.add(number) }
                        group.leave()
                    }
                }
            }
            group.wait()
            return order.all == Array(0..<64) ? [] : ["the order was \(order.all)"]
        }
    }

    @Test("an item that is moved while a reader waits is read where it is by then")
    func moved() throws {
        try withContainer(files: ["d/a": "1"]) { container in
            let (old, new) = (URL(fileURLWithPath: container.file("d")), URL(fileURLWithPath: container.file("e")))
            let read = Collected<String>()
            let done = Gate()
            NSFileCoordinator().coordinate(writingItemAt: old, options: .forMoving, error: nil) { url in
                let intent = NSFileAccessIntent.readingIntent(with: old.appendingPathComponent("a"))
                NSFileCoordinator().coordinate(with: [intent], queue: OperationQueue()) { error in
                    read.add(error.map { "\($0)" } ?? intent.url.path)
                    done.open()
                }
                // Accesses of one process are asked for in their order: behind this one, the reader waits.
                let other = URL(fileURLWithPath: container.file("other"))
                NSFileCoordinator().coordinate(readingItemAt: other, error: nil) { _ in }
                try? FileManager.default.moveItem(at: url, to: new)
            }
            done.pass()
            return read.all == [container.file("e/a")] ? [] : read.all
        }
    }

    @Test("an item in a container and one outside are accessed together")
    func inAndOut() throws {
        try withContainer(files: ["a": "1"]) { container in
            let outside = URL(fileURLWithPath: container.path).deletingLastPathComponent().appendingPathComponent("b")
            let inside = URL(fileURLWithPath: container.file("a"))
            var error: NSError?
            NSFileCoordinator().coordinate(
                readingItemAt: inside, options: [], writingItemAt: outside, options: .forReplacing, error: &error
            ) { reading, writing in
                #expect(throws: Never.self) { try FileManager.default.copyItem(at: reading, to: writing) }
            }
            let copy = try String(contentsOf: outside, encoding: .utf8)
            return copy == "1" && error == nil ? [] : ["\(copy) \(error as Any)"]
        }
    }

    @Test(
        "a presenter whose daemon ends and comes back hears what happened meanwhile, once its program coordinates again"
    )
    func remounting() throws {
        try withContainer(files: ["a": "1"]) { container in
            let file = URL(fileURLWithPath: container.file("a"))
            let presenter = RecordingPresenter(file)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            try container.remount()
            try mustRun("sh", ["-c", "echo 22 > a"], in: container.path)
            NSFileCoordinator().coordinate(readingItemAt: file, options: .withoutChanges, error: nil) { _ in }
            presenter.await("changed")
            return []
        }
    }

    @Test("a presenter whose daemon has come back hears again, once its program asks for versions of anything there")
    func remountingAmongVersions() throws {
        try withContainer(files: ["a": "1", "b": "1"]) { container in
            let (file, other) = (URL(fileURLWithPath: container.file("a")), URL(fileURLWithPath: container.file("b")))
            let presenter = RecordingPresenter(file)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            try container.remount()
            // Until it has found that the former connection is gone.
            while NSFileVersion.currentVersionOfItem(at: other) == nil {}
            try mustRun("sh", ["-c", "echo 22 > a"], in: container.path)
            presenter.await("changed")
            return []
        }
    }

    @Test("who is asked to save right after a move saves where the item is by then")
    func savingRightAfterMove() throws {
        try withContainer(files: ["a0": "old"]) { container in
            func file(_ number: Int) -> URL { URL(fileURLWithPath: container.file("a\(number)")) }
            let presenter = RecordingPresenter(file(0))
            let count = Collected<Int>()
            presenter.behavior.save = {
                var error: NSError?
                guard let url = presenter.presentedItemURL else { return nil }
                count.add(0)
                NSFileCoordinator(filePresenter: presenter).coordinate(writingItemAt: url, error: &error) { url in
                    try? Data("\(count.all.count)".utf8).write(to: url)
                }
                return error
            }
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            var problems: [String] = []
            for number in 1...50 {
                rename(file(number - 1).path, file(number).path)
                NSFileCoordinator().coordinate(readingItemAt: file(number), error: nil) { url in
                    let text = (try? String(contentsOf: url, encoding: .utf8)) ?? "nothing"
                    if text != "\(number)" { problems.append("\(number): \(text)") }
                }
                if FileManager.default.fileExists(atPath: file(number - 1).path) {
                    problems.append("\(number - 1) is back")
                }
            }
            return problems
        }
    }

    @Test("a conflict, and its resolution by the command line, are told to presenters of the file and of the directory")
    func conflicts() throws {
        try withContainer(files: ["d/a": "1"]) { container in
            let editor = RecordingPresenter(URL(fileURLWithPath: container.file("d/a")))
            let around = RecordingPresenter(URL(fileURLWithPath: container.file("d")))
            NSFileCoordinator.addFilePresenter(editor)
            NSFileCoordinator.addFilePresenter(around)
            defer {
                NSFileCoordinator.removeFilePresenter(editor)
                NSFileCoordinator.removeFilePresenter(around)
            }
            try mustRun("sh", ["-c", "echo 22 > d/a"], in: container.path)
            try container.must("simulate", "conflict", "d/a")
            editor.await("gained a conflict")
            around.await("a gained a conflict")
            try container.must("resolve", "d/a", "--keep", "current")
            editor.await("resolved")
            around.await("a resolved")
            return []
        }
    }

    @Test("two programs' conflict appears while a presenter runs, is resolved by the command line, and its view closes")
    func conflictStory() throws {
        try withContainer(files: ["a": "1"]) { container in
            let viewer = try CoordinationProcess()
            try viewer.ask("present \(container.file("a"))", "presenting")
            let one = try ActorProcess("code", in: container.path)
            let other = try ActorProcess("claude", in: container.path)
            for actor in [one, other] { try actor.load("a") }
            try one.save("ours", to: "a")
            try other.save("theirs", to: "a")
            let gained = try viewer.hear("gained")
            var problems = viewer.lines.contains("view closed") ? ["its view closed too early"] : []
            if gained != "gained conflict ours" { problems.append(gained) }
            try container.must("resolve", "a", "--keep", "current")
            try viewer.hear("resolved")
            try viewer.hear("view closed")
            if container.text(of: "a") != "theirs" { problems.append("a has \(container.text(of: "a") ?? "gone")") }
            return problems
        }
    }

    @Test("a version that goes for good is told as lost to presenters of the file and of the directory")
    func losing() throws {
        try withContainer(files: ["d/a": "1"]) { container in
            let editor = RecordingPresenter(URL(fileURLWithPath: container.file("d/a")))
            let around = RecordingPresenter(URL(fileURLWithPath: container.file("d")))
            for presenter in [editor, around] { NSFileCoordinator.addFilePresenter(presenter) }
            defer { for presenter in [editor, around] { NSFileCoordinator.removeFilePresenter(presenter) } }
            try mustRun("sh", ["-c", "echo 22 > d/a; echo 333 > d/a"], in: container.path)
            let old = try container.history(of: "d/a").versions.filter { $0.kind == "history" }
            try container.must("purge", "d/a", "--version", old.first?.id ?? "")
            editor.await("lost")
            around.await("a lost")
            return []
        }
    }
}
