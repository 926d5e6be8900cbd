// Nothing below `.versions` can be removed: a cleanup that enters it settles no conflict, empties nothing, and is
// quickly told (DESIGN 3.2).

import CTestSupport
import Foundation
import Glibc
import Support
import Testing

@Suite("Nothing below .versions can be removed") struct UnremovableVersionsTests {
    /// The files below `.versions`, and the output of the tool on them.
    private func state(_ container: TestContainer) throws -> String {
        let line = "find .versions -type f -exec md5sum {} + | sort; find .versions | sort"
        return try run("sh", ["-c", line], in: container.path).text
            + container.must("conflicts", "--json").text + container.must("history", "f", "--json").text
            + container.must("deleted", "--json").text
    }

    /// A container with conflicts, history and deleted things.
    private func withVersions(_ body: (TestContainer) throws -> [String]) throws {
        try withContainer(named: "cleanup", files: ["f": "one\n", "d/g": "one\n"]) { container in
            guard container.isVersioned else { return [] }
            let actors = try ["code", "claude"].map { try ActorProcess($0, in: container.path) }
            for file in ["f", "d/g"] {
                for actor in actors { try actor.load(file) }
                for actor in actors { try actor.save("by \(actor.program)\n", to: file) }
            }
            try shell("mkdir old; echo gone > old/x; rm -r old; echo gone > y; rm y", in: container.path)
            return try body(container) + container.checkFindings()
        }
    }

    @Test("rm -rf of .versions, and of what is in it, fails and changes nothing", arguments: [
        ".versions", ".versions/f", ".versions/f/conflicts", ".versions/.deleted", "d/.versions", ".versions/f/base",
    ])
    func cleanup(_ path: String) throws {
        try withVersions { container in
            let before = try state(container)
            let removal = try run("rm", ["-rf", path], in: container.path)
            var problems = removal.status == 0 ? ["rm -rf \(path) succeeded"] : []
            let others = removal.errors.split(separator: "\n").filter {
                !$0.hasSuffix("Read-only file system") && !$0.hasSuffix("Permission denied")
            }
            if !others.isEmpty { problems.append("\(others)") }
            let after = try state(container)
            if after != before { problems.append("before:\n\(before)\nafter:\n\(after)") }
            return problems
        }
    }

    @Test("unlink and rmdir answer EROFS for every kind of thing")
    func everyKind() throws {
        try withVersions { container in
            let entries = try run("find", [".versions", "d/.versions", "-mindepth", "1"], in: container.path).text
                .split(separator: "\n").map { container.file(String($0)) }
            var problems = entries.count > 10 ? [] : ["there are only \(entries)"]
            for entry in entries {
                let isDirectory = (try? FileManager.default.contentsOfDirectory(atPath: entry)) != nil
                errno = 0
                let result = isDirectory ? rmdir(entry) : unlink(entry)
                if result == 0 || errno != EROFS { problems.append("\(entry): \(result), errno \(errno)") }
            }
            return problems
        }
    }

    @Test("What is meant is done: a loser renamed onto its document, a deleted thing moved out, versionsctl resolve")
    func waysThatRemain() throws {
        try withVersions { container in
            try shell("mv -f .versions/f/conflicts/* f; mv .versions/.deleted/y back", in: container.path)
            try container.must("resolve", "d/g", "--keep", "current")
            var problems = try container.conflicts().isEmpty ? [] : ["there are conflicts"]
            if container.text(of: "f") != "by code\n" { problems.append("f has \(container.text(of: "f") ?? "gone")") }
            if container.text(of: "back") != "gone\n" { problems.append("the deleted file is not back") }
            if container.text(of: "d/g") != "by claude\n" { problems.append("d/g has changed") }
            return problems
        }
    }

    @Test("rm -rf of 5,000 versions is told soon that it cannot")
    func manyVersions() throws {
        try withContainer(named: "cleanup") { container in
            guard container.isVersioned else { return [] }
            let script = """
                for name in 'abcde':
                    for number in range(1001):
                        with open(name, 'w') as file: file.write(f'{name} {number}')
                """
            try shell("python3 -c \"\(script)\"", in: container.path)
            let count = { try shell("find .versions -type f | wc -l", in: container.path).text }
            let before = try count()
            let clock = ContinuousClock()
            var removal: Output?
            let time = try clock.measure {
                removal = try run("rm", ["-rf", ".versions"], in: container.path, seconds: 60)
            }
            var problems = removal?.status == 0 ? ["it succeeded"] : []
            let lines = removal?.errors.split(separator: "\n").count ?? 0
            if before != "5000" || lines < 5000 { problems.append("\(before) versions, \(lines) were tried") }
            // An optimized build takes a fraction of a second; the bound finds work that grows with the square.
            if time > .seconds(30) { problems.append("it took \(time)") }
            if try count() != before { problems.append("\(try count()) versions of \(before) are left") }
            return problems
        }
    }
}
