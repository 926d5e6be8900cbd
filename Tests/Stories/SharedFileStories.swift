// One file, open for writing by several at once: whatever a close has saved stays a version.

import Foundation
import Support
import Testing

@Suite struct SharedFileStories {
    private func contents(_ container: TestContainer, of file: String) throws -> [String] {
        try container.history(of: file).versions.reversed().map { version in
            let content = try container.content(of: version)
            return String(decoding: content, as: UTF8.self).replacing("\0", with: ".")
        }
    }

    @Test("a save stays when somebody who began to replace the file before goes on writing", arguments: [
        "w+trunc", "w+creat+trunc", "w+creat",
    ])
    func replacedMeanwhile(flags: String) throws {
        try withContainer(named: "shared", files: ["X": "base"], settings: ["replace-wait": "0s"], level: .versioned) {
            container in
            let name = flags == "w+creat" ? "new" : "X"
            let (slow, quick) = (
                try ActorProcess("sh", in: container.path), try ActorProcess("code", in: container.path)
            )
            try slow.must("open", "h", name, flags)
            try slow.must("write", "h", "aaaa")
            try quick.save("xx", to: name)
            try slow.must("write", "h", "bb")
            try slow.must("close", "h")
            let found = try contents(container, of: name)
            let expected = (name == "X" ? ["base"] : []) + ["aaaa", "xx", "xx..bb"]
            return (found == expected ? [] : ["the versions hold \(found)"]) + (try container.checkFindings())
        }
    }

    @Test("a save is a version of its author, though somebody has the file open for writing in place", arguments: [
        true, false,
    ])
    func openInPlace(isWritten: Bool) throws {
        try withContainer(named: "shared", files: ["X": "base"], level: .versioned) { container in
            let (holder, other) = (
                try ActorProcess("server", in: container.path), try ActorProcess("code", in: container.path)
            )
            try holder.must("open", "h", "X", "rw")
            try other.save("xyz", to: "X")
            guard try contents(container, of: "X") == ["base", "xyz"] else {
                return ["at the close the versions hold \(try contents(container, of: "X"))"]
            }
            if isWritten { try holder.must("write", "h", "BB") }
            try holder.must("close", "h")
            let history = try container.history(of: "X").versions
            let found = try contents(container, of: "X")
            var problems = found == ["base", "xyz"] + (isWritten ? ["BBz"] : []) ? [] : ["the versions hold \(found)"]
            let pids = history.map { $0.pid ?? 0 }
            if pids != (isWritten ? [holder.pid] : []) + [other.pid, 0] { problems.append("by \(pids)") }
            return problems + (try container.checkFindings())
        }
    }

    @Test("two stale saves are a conflict, though somebody has the file open for writing in place")
    func staleBeside() throws {
        try withContainer(named: "shared", files: ["X": "base"], level: .versioned) { container in
            let people = try ["server", "code", "claude"].map { try ActorProcess($0, in: container.path) }
            try people[0].must("open", "h", "X", "rw")
            for person in people.dropFirst() { _ = try person.load("X") }
            for person in people.dropFirst() { try person.save("by \(person.pid)", to: "X") }
            let conflicts = try container.conflicts()
            let losers = conflicts.flatMap { $0.versions.map { $0.pid ?? 0 } }
            try people[0].must("close", "h")
            return losers == [people[1].pid] ? [] : ["losers: \(losers)"]
        }
    }

    @Test("one program renames over a file while another rewrites it: every save is a version")
    func renamedAndRewritten() throws {
        let rounds = Workplace.count(1_000)
        try withContainer(named: "shared", files: ["x": "base"], seconds: 120, level: .versioned) { container in
            let shells = try (0..<2).map { _ in try Terminal.shell(in: container.path, seconds: 100) }
            let loops = [
                "for i in $(seq \(rounds)); do echo r$i > t; mv t x; done",
                "for i in $(seq \(rounds)); do echo o$i > x || echo $i >> ../failed; done",
            ]
            let marks = try zip(shells, loops).map { try $0.submit($1) }
            for (shell, mark) in zip(shells, marks) { _ = try shell.finish(mark) }
            let saved = Set(try contents(container, of: "x"))
            let lost = (1...rounds).flatMap { ["r\($0)\n", "o\($0)\n"] }.filter { !saved.contains($0) }
            var problems = lost.isEmpty ? [] : ["\(lost.count) saves are in no version: \(lost.prefix(10))"]
            if let failed = try? String(contentsOfFile: container.path + "/../failed", encoding: .utf8) {
                problems.append("opens that failed: \(failed)")
            }
            return problems + (try container.checkFindings())
        }
    }
}
