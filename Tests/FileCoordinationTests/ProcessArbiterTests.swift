// What the arbiter of one process says of its items: which file a presenter means, what a move is, who waits no more.

import FileCoordination
import Foundation
import Support
import Testing

@Suite("The arbiter of one process", .timeLimit(.minutes(2)))
struct ProcessArbiterTests {
    @Test("a presenter is asked for its file by each of its names, and not for what the file was before")
    func otherNames() throws {
        try inDirectory { directory in
            func file(_ name: String) -> URL { directory.appendingPathComponent(name) }
            try Data("old".utf8).write(to: file("a"))
            for name in ["b", "c"] { try FileManager.default.linkItem(at: file("a"), to: file(name)) }
            let presenter = RecordingPresenter(file("a"))
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            func read(_ name: String) {
                NSFileCoordinator().coordinate(readingItemAt: file(name), options: .withoutChanges, error: nil) { _ in }
            }
            read("b")
            #expect(presenter.await("reacquire from reader") == ["relinquish to reader", "reacquire from reader"])
            // Another file gets the name, and one more name: the former file is nothing to the presenter any more.
            try Data("new".utf8).write(to: file("a"), options: .atomic)
            try FileManager.default.linkItem(at: file("a"), to: file("d"))
            read("b")
            read("c")
            #expect(presenter.words.count == 2)
            read("d")
            presenter.await { $0.count >= 4 }
        }
    }

    @Test("what has only one name is known by it: a file that gets the number of one that is gone is another")
    func reusedNumbers() throws {
        try inDirectory { directory in
            func file(_ name: String) -> URL { directory.appendingPathComponent(name) }
            func number(_ name: String) -> UInt64 {
                var status = stat()
                return lstat(file(name).path, &status) == 0 ? UInt64(status.st_ino) : 0
            }
            try Data("old".utf8).write(to: file("a"))
            let presenter = RecordingPresenter(file("a"))
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            let former = number("a")
            try Data("new".utf8).write(to: file("t"))
            try FileManager.default.removeItem(at: file("a"))
            try FileManager.default.moveItem(at: file("t"), to: file("a"))
            // Most file systems give out a number that has just become free; where it does not come this says nothing.
            for index in 0..<32 {
                try Data().write(to: file("b\(index)"))
                guard number("b\(index)") == former else { continue }
                NSFileCoordinator().coordinate(readingItemAt: file("b\(index)"), error: nil) { _ in }
            }
            NSFileCoordinator(filePresenter: presenter).coordinate(readingItemAt: file("a"), error: nil) { _ in }
            presenter.presentedItemOperationQueue.waitUntilAllOperationsAreFinished()
            #expect(presenter.words.isEmpty)
        }
    }

    /// Moves an item in a write of both names, and says so, as programs for Apple's systems do.
    private func move(_ old: URL, _ new: URL, _ first: (URL) -> Void = { _ in }, _ then: (URL) -> Void = { _ in }) {
        let mover = NSFileCoordinator()
        mover.coordinate(
            writingItemAt: old, options: .forMoving, writingItemAt: new, options: .forReplacing, error: nil
        ) {
            first($0)
            try? FileManager.default.removeItem(at: $1)
            try? FileManager.default.moveItem(at: $0, to: $1)
            mover.item(at: $0, didMoveTo: $1)
            then($1)
        }
    }

    @Test("a move that is told of is told once", arguments: [false, true])
    func moveAlone(isDirectory: Bool) throws {
        try inDirectory { directory in
            func file(_ name: String) -> URL { directory.appendingPathComponent(name) }
            if isDirectory {
                try FileManager.default.createDirectory(at: file("old"), withIntermediateDirectories: false)
            } else {
                try Data("1".utf8).write(to: file("old"))
            }
            let (presenter, around) = (RecordingPresenter(file("old")), RecordingPresenter(directory))
            let presenters = [presenter, around]
            presenters.forEach { NSFileCoordinator.addFilePresenter($0) }
            defer { presenters.forEach { NSFileCoordinator.removeFilePresenter($0) } }
            move(file("old"), file("new"))
            let told = presenter.await("reacquire from writer")
            #expect(told == ["relinquish to writer", "moved to new", "reacquire from writer"])
            NSFileCoordinator().coordinate(writingItemAt: file("z"), error: nil) { try? Data().write(to: $0) }
            #expect(around.await("z appeared") == ["accommodate new", "old moved to new", "z appeared"])
        }
    }

    @Test("what was written before the move, or behind it, is told besides", arguments: [true, false])
    func moveAndWrite(isBefore: Bool) throws {
        try inDirectory { directory in
            func file(_ name: String) -> URL { directory.appendingPathComponent(name) }
            try Data("1".utf8).write(to: file("old"))
            let (presenter, around) = (RecordingPresenter(file("old")), RecordingPresenter(directory))
            let presenters = [presenter, around]
            presenters.forEach { NSFileCoordinator.addFilePresenter($0) }
            defer { presenters.forEach { NSFileCoordinator.removeFilePresenter($0) } }
            let write: (URL) -> Void = { try? Data("more".utf8).write(to: $0) }
            move(file("old"), file("new"), isBefore ? write : { _ in }, isBefore ? { _ in } : write)
            let told = presenter.await("reacquire from writer")
            #expect(told == ["relinquish to writer", "moved to new", "changed", "reacquire from writer"])
            NSFileCoordinator().coordinate(writingItemAt: file("z"), error: nil) { try? Data().write(to: $0) }
            let heard = around.await("z appeared")
            #expect(heard == ["accommodate new", "old moved to new", "new changed", "z appeared"])
        }
    }

    @Test("whoever presents what is replaced by a move hears of a change, and the directory of the move alone")
    func moveOver() throws {
        try inDirectory { directory in
            func file(_ name: String) -> URL { directory.appendingPathComponent(name) }
            for name in ["old", "new"] { try Data(name.utf8).write(to: file(name)) }
            let (replaced, around) = (RecordingPresenter(file("new")), RecordingPresenter(directory))
            let presenters = [replaced, around]
            presenters.forEach { NSFileCoordinator.addFilePresenter($0) }
            defer { presenters.forEach { NSFileCoordinator.removeFilePresenter($0) } }
            move(file("old"), file("new"))
            let told = replaced.await("reacquire from writer")
            #expect(told == ["relinquish to writer", "accommodate", "changed", "reacquire from writer"])
            NSFileCoordinator().coordinate(writingItemAt: file("z"), error: nil) { try? Data().write(to: $0) }
            #expect(around.await("z appeared") == ["accommodate new", "old moved to new", "z appeared"])
        }
    }

    @Test("a coordinator that is cancelled before it asks fails at once, and asks nobody")
    func cancelledBefore() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let presenter = RecordingPresenter(file)
            let (coordinator, heldUp) = coordinatorThatDoesNotWait()
            let codes = Collected<Int>()
            let done = Gate()
            NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { _ in
                NSFileCoordinator.addFilePresenter(presenter)
                coordinator.cancel()
                coordinator.coordinate(with: [.readingIntent(with: file)], queue: OperationQueue()) { error in
                    codes.add((error as? NSError)?.code ?? 0)
                    done.open()
                }
                done.pass()
            }
            NSFileCoordinator.removeFilePresenter(presenter)
            #expect(codes.all == [CocoaError.userCancelled.rawValue])
            #expect(presenter.words.isEmpty && heldUp.all.isEmpty)
        }
    }

    @Test("a task that is cancelled before it asks does not wait for the holder")
    func cancelledTask() async throws {
        try await inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let (coordinator, heldUp) = coordinatorThatDoesNotWait()
            try await withCoordinatedWrite(of: file) { url in
                let task = Task.detached {
                    while !Task.isCancelled { await Task.yield() }
                    try await withCoordinatedWrite(of: url, by: coordinator) { _ in }
                }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            #expect(heldUp.all.isEmpty)
        }
    }

    /// A coordinator that gives up once it is held up, and whoever has held it up.
    private func coordinatorThatDoesNotWait() -> (NSFileCoordinator, Collected<NSFileCoordinator.Holder>) {
        let (coordinator, heldUp) = (NSFileCoordinator(), Collected<NSFileCoordinator.Holder>())
        coordinator.heldUpHandler = { [weak coordinator] holder in
            heldUp.add(holder)
            coordinator?.cancel()
        }
        return (coordinator, heldUp)
    }

    @Test("whoever waits for long takes no processor time")
    func waiting() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a").path
            let program = try CoordinationProcess()
            try program.ask("hold \(file)", "holding")
            try program.begin("read \(file)")
            // Behind its first second it looks after the holder: in none of those that follow has it much to do.
            #expect(throws: Failure.self) { try program.hear("read", within: 1.5) }
            let before = try processorTime(program.pid)
            #expect(throws: Failure.self) { try program.hear("read", within: 2) }
            let used = try processorTime(program.pid) - before
            #expect(used < 50, "\(used) hundredths of a second in two seconds")
            try program.begin("release")
            try program.hear("read")
        }
    }

    /// What a process has taken, in hundredths of a second.
    private func processorTime(_ pid: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        let fields = text.split(separator: ")").last.map { $0.split(separator: " ") } ?? []
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else {
            throw Failure("/proc/\(pid)/stat is \(text)")
        }
        return user + system
    }
}
