// Twenty writers of one file: every close is one version with one writer's whole content, and the directory stays
// quick.

import Foundation
import Support
import Testing

@Suite(.serialized) struct ManySaversTests {
    static let writers = 20
    static let length = 1 << 20

    @Test("Each of many concurrent saves is one whole version")
    func everyCloseIsAVersion() throws {
        let rounds = Workplace.count(50)
        try withContainer(named: "many", files: ["f": "begin"], seconds: 600) { container in
            let actors = try (0..<Self.writers).map { _ in try ActorProcess("writer", in: container.path, seconds: 500)
            }
            // Under way before the others take the processors: its own start is not to be measured.
            let neighbor = try ActorProcess("neighbor", in: container.path)
            try neighbor.must("stat", "f")
            // Twenty programs that compute hold up anyone on two processors: what
            // is measured is waiting for one another.
            for actor in actors { _ = try run("renice", ["-n", "19", "-p", String(actor.pid)], seconds: 10) }
            for (index, actor) in actors.enumerated() {
                try actor.begin("patterns", ["f", String(index), String(rounds), String(Self.length)])
            }
            let slow = try slowCalls(of: neighbor, while: actors)
            // A disk that still writes what other tests have left holds up any
            // file system: the default run only says so.
            var problems = Workplace.isFull ? slow : []
            for call in slow { print("ManySaversTests: \(call)") }
            for actor in actors {
                let answer = try actor.finish()
                if answer != .done([]) { problems.append("a writer: \(answer)") }
            }
            guard let end = container.text(of: "f"), tag(Array(end.utf8)) != nil else {
                return problems + ["the file is torn"]
            }
            guard container.isVersioned else { return problems }
            return problems + (try everyContentIsThere(container, rounds: rounds))
        }
    }

    /// Create, rename, stat and unlink beside the file while the writers wait for one another: each under 50 ms.
    private func slowCalls(of neighbor: ActorProcess, while actors: [ActorProcess]) throws -> [String] {
        var problems: [String] = []
        var round = 0
        while try !actors.allSatisfy({ try $0.hasAnswer(within: 0) }) {
            round += 1
            let requests = [
                ["open", "h", "n\(round)", "w+creat+excl"], ["close", "h"], ["rename", "n\(round)", "m"],
                ["stat", "m"],
                ["stat", "f"], ["unlink", "m"],
            ]
            for request in requests {
                let start = ContinuousClock.now
                try neighbor.begin(request[0], Array(request.dropFirst()))
                let answer = try neighbor.finish()
                let took = ContinuousClock.now - start
                if case .failed(let code) = answer { problems.append("\(request): errno \(code)") }
                if took > .milliseconds(50) { problems.append("\(request) took \(took)") }
            }
            // Breathe between rounds: this measures waiting, and is not to be a load of its own.
            _ = try actors[0].hasAnswer(within: 0.02)
        }
        return problems.count > 10 ? Array(problems.prefix(10)) + ["and \(problems.count - 10) more"] : problems
    }

    private func everyContentIsThere(_ container: TestContainer, rounds: Int) throws -> [String] {
        var problems: [String] = []
        let versions = try container.history(of: "f").versions
        if versions.count != Self.writers * rounds + 1 {
            let odd = versions.filter { $0.size != Self.length }.map { "\($0)" }
            problems.append(
                "\(versions.count) versions, not \(Self.writers * rounds + 1); \(odd.joined(separator: " | "))")
        }
        var seen: Set<String> = []
        for version in versions where version.size != 5 {
            guard let tag = tag(try container.content(of: version)) else {
                problems.append("version \(version.id) of \(version.size) bytes mixes writers")
                continue
            }
            if !seen.insert(tag).inserted { problems.append("content \(tag) is there twice") }
        }
        for writer in 0..<Self.writers {
            for round in 0..<rounds {
                let digits = String(writer << 16 | round, radix: 16)
                let tag = String(repeating: "0", count: 8 - digits.count) + digits
                if !seen.contains(tag) { problems.append("round \(round) of writer \(writer) is lost") }
            }
        }
        return Array(problems.prefix(20))
    }

    /// The eight digits that the whole content repeats; nil if it is not one writer's whole content.
    private func tag(_ bytes: [UInt8]) -> String? {
        guard bytes.count == Self.length else { return nil }
        // A content that repeats with period 8 equals itself shifted by 8.
        let same = bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return false }
            return memcmp(start, start + 8, buffer.count - 8) == 0
        }
        return same ? String(decoding: bytes.prefix(8), as: UTF8.self) : nil
    }
}
