// The client library, and tasks, in a container: presenters and claims, and what is told of who made a change.

import ControlProtocol
import FileCoordination
import Foundation
import Support
import Testing
import VersionModel
import VersionsClient

@Suite("Tasks that coordinate, in a container", .serialized, .timeLimit(.minutes(5)))
struct MountedClientTests {
    @Test("the client library's own presenters and claims, on a daemon")
    func client() async throws {
        try await inContainer(["a": "1"]) { container in
            let root = container.path
            return try waiting {
                let place = try ContainerPlace.find(Path(root + "/a"))
                let one = try await VersionsClient.connect(to: place, program: "one", version: "1")
                let other = try await VersionsClient.connect(to: place, program: "other", version: "1")
                let listener = Listener()
                let presentation = try await one.present(place.path, listener)
                try await other.coordinate([AccessRequest(.writing, place.path)]) { paths in
                    try Data("22".utf8).write(to: URL(fileURLWithPath: root + "/" + paths[0].description))
                }
                let told = await listener.next(3)
                await presentation.withdraw()
                return told == ["relinquish", "saved a", "reacquire"] ? [] : told
            }
        }
    }

    @Test("tasks: a write waits for a presenter, a cancelled one gives up, and changes are followed in their order")
    func tasks() async throws {
        try await inContainer(["d/a": "1"]) { container in
            let (file, directory) = (
                URL(fileURLWithPath: container.file("d/a")), URL(fileURLWithPath: container.file("d"))
            )
            return try waiting {
                var changes = FileChanges(of: directory).makeAsyncIterator()
                try await withCoordinatedWrite(of: file) { url in
                    try Data("22".utf8).write(to: url)
                    let nested = try await withCoordinatedRead(of: directory) { $0.path }
                    #expect(nested == directory.path)
                }
                let new = directory.appendingPathComponent("b")
                let move: [NSFileAccessIntent] = [
                    .writingIntent(with: file, options: .forMoving), .writingIntent(with: new, options: .forReplacing),
                ]
                try await withCoordinatedAccess(to: move) { try FileManager.default.moveItem(at: $0[0], to: $0[1]) }
                var told: [String] = []
                while told.count < 2, let change = try await changes.next() {
                    told.append("\(change.kind) \(change.url.lastPathComponent)")
                }
                try await withCoordinatedWrite(of: new) { url in
                    let waiting = Task {
                        try await withCoordinatedRead(of: url, by: NSFileCoordinator()) { _ in }
                    }
                    waiting.cancel()
                    await #expect(throws: (any Error).self) { try await waiting.value }
                }
                return told == ["saved a", "moved b"] ? [] : told
            }
        }
    }

    @Test("a presenter that does not answer is passed after ten seconds, and hears that it was") func revoked()
        async throws
    {
        try await inContainer(["a": "1"]) { container in
            let root = container.path
            return try waiting {
                let place = try ContainerPlace.find(Path(root + "/a"))
                let one = try await VersionsClient.connect(to: place, program: "one", version: "1")
                let other = try await VersionsClient.connect(to: place, program: "other", version: "1")
                let (granted, open) = AsyncStream.makeStream(of: Void.self)
                let sleeper = Sleeper(until: granted)
                let presentation = try await one.present(place.path, sleeper)
                let clock = ContinuousClock()
                let waited = try await clock.measure {
                    try await other.coordinate([AccessRequest(.reading, place.path)]) { _ in }
                }
                open.finish()
                let told = await sleeper.listener.next(2)
                await presentation.withdraw()
                var problems = told == ["relinquish", "revoked"] ? [] : ["it was told: \(told)"]
                // The arbiter is exact; the machine may be busy.
                if waited < .seconds(8) || waited > .seconds(Workplace.isFull ? 12 : 30) {
                    problems.append("it was waited for \(waited)")
                }
                return problems
            }
        }
    }

    @Test("a presenter that takes its time over a change is asked meanwhile, and delays nobody") func slowNews()
        async throws
    {
        try await inContainer(["a": "1"]) { container in
            let root = container.path
            return try waiting {
                let place = try ContainerPlace.find(Path(root + "/a"))
                let one = try await VersionsClient.connect(to: place, program: "one", version: "1")
                let other = try await VersionsClient.connect(to: place, program: "other", version: "1")
                let (granted, open) = AsyncStream.makeStream(of: Void.self)
                let reader = SlowReader(until: granted)
                let presentation = try await one.present(place.path, reader)
                try shell("echo 22 > a", in: root)
                var told = await reader.listener.words(upTo: "saved a")
                let clock = ContinuousClock()
                let waited = try await clock.measure {
                    try await other.coordinate([AccessRequest(.writing, place.path)]) { paths in
                        try Data("333".utf8).write(to: URL(fileURLWithPath: root + "/" + paths[0].description))
                    }
                }
                open.finish()
                told += await reader.listener.words(upTo: "saved a")
                await presentation.withdraw()
                var problems = waited < .seconds(8) ? [] : ["it was waited for \(waited)"]
                if told != ["saved a", "relinquish", "saved a"] { problems.append("it was told: \(told)") }
                return problems
            }
        }
    }

    @Test("a change is told with the process and the program that made it") func origin() async throws {
        try await inContainer(["d/a": "1"]) { container in
            let directory = URL(fileURLWithPath: container.file("d"))
            let (heard, say) = AsyncStream.makeStream(of: FileChange.self)
            let following = Task {
                for try await change in FileChanges(of: directory) { say.yield(change) }
            }
            defer { following.cancel() }
            // It follows once it is known as a presenter.
            try shell("until \(Workplace.control) presenters --json | grep -q pid; do :; done", in: container.path)
            let actor = try ActorProcess("code", in: container.path)
            try actor.save("22", to: "d/a")
            try actor.must("rename", "d/a", "d/b")
            let pid = actor.pid
            return try waiting {
                var problems: [String] = []
                var count = 0
                for await change in heard {
                    if change.processIdentifier != pid || change.programName != "code" {
                        problems.append(
                            "\(change.kind) by \(change.programName ?? "-") (\(change.processIdentifier ?? 0))")
                    }
                    count += 1
                    if count == 2 { break }
                }
                return problems
            }
        }
    }

    /// Runs a test of tasks on a thread that none of them needs.
    private func inContainer(
        _ files: [String: String], _ body: @escaping @Sendable (TestContainer) throws -> [String]
    ) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                continuation.resume(with: Result { try withContainer(files: files, body: body) })
            }
        }
    }

    /// Waits, on the calling thread, for what tasks do.
    @Sendable private func waiting(_ body: @escaping @Sendable () async throws -> [String]) throws -> [String] {
        let done = Awaited<Result<[String], any Error>>()
        Task {
            do {
                done.set(.success(try await body()))
            } catch {
                done.set(.failure(error))
            }
        }
        return try done.wait().get()
    }

    /// Says nothing until it is let.
    private final class Sleeper: ItemPresenter {
        let listener = Listener()
        private let gate: AsyncStream<Void>
        init(until gate: AsyncStream<Void>) { self.gate = gate }
        func relinquish(toWriter: Bool, claim: UInt64) async {
            await listener.relinquish(toWriter: toWriter, claim: claim)
            for await _ in gate {}
        }
        func wasRevoked() async { await listener.wasRevoked() }
    }

    /// Takes its time over the first change, until it is let.
    private final class SlowReader: ItemPresenter {
        let listener = Listener()
        private let gate: AsyncStream<Void>
        init(until gate: AsyncStream<Void>) { self.gate = gate }
        func relinquish(toWriter: Bool, claim: UInt64) async {
            await listener.relinquish(toWriter: toWriter, claim: claim)
        }
        func reacquire(claim: UInt64) async { await listener.reacquire(claim: claim) }
        func changed(_ change: PresentedChange) async {
            await listener.changed(change)
            for await _ in gate {}
        }
    }

    private final class Listener: ItemPresenter {
        let told: AsyncStream<String>
        private let say: AsyncStream<String>.Continuation
        init() { (told, say) = AsyncStream.makeStream(of: String.self) }
        func relinquish(toWriter: Bool, claim: UInt64) async { say.yield("relinquish") }
        func reacquire(claim: UInt64) async { say.yield("reacquire") }
        func wasRevoked() async { say.yield("revoked") }
        func changed(_ change: PresentedChange) async { say.yield("\(change.event.event.rawValue) \(change.place)") }
        func next(_ count: Int) async -> [String] {
            var words: [String] = []
            for await word in told {
                words.append(word)
                if words.count == count { break }
            }
            return words
        }
        func words(upTo last: String) async -> [String] {
            var words: [String] = []
            for await word in told {
                words.append(word)
                if word == last { break }
            }
            return words
        }
    }
}
