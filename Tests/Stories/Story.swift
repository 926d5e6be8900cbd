// What the stories have in common: a document `X`, people in terminals, and what became of it.

import Foundation
import Support

/// Plays a story in a fresh container with a document `X` and checks that nothing became a conflict.
func noConflict(files: [String: String] = ["X": "one\ntwo\n"], _ story: (TestContainer) throws -> Void) throws {
    try withContainer(named: "story", files: files) { container in
        try story(container)
        guard container.isVersioned else { return [] }
        return try container.conflicts().map { conflict in
            let losers = conflict.versions.map { "\($0.program ?? "?") (pid \($0.pid ?? 0))" }
            return "a conflict in \(conflict.path), which \(losers.joined(separator: ", ")) lost"
        } + container.checkFindings()
    }
}

/// What a conflict has to look like.
struct Expected {
    /// What is in the file in the end: the newest save.
    var current: String
    /// The one loser's content.
    var loser: String
    /// The content that both began with.
    var base = "one\ntwo\n"
    /// The program that saved the loser, as `/proc/PID/exe` names it; and its process id where the story knows it.
    var program: String?
    var pid: Int32?
}

/// Plays a story in which exactly one save loses, and checks the loser. The story says what it expects.
func oneConflict(settings: [String: String] = [:], _ story: (TestContainer) throws -> Expected) throws {
    try withContainer(named: "story", files: ["X": "one\ntwo\n"], settings: settings) { container in
        let expected = try story(container)
        var problems: [String] = []
        if container.text(of: "X") != expected.current {
            problems.append("the file holds \(container.text(of: "X") ?? "nothing")")
        }
        guard container.isVersioned else { return problems }
        let conflicts = try container.conflicts()
        guard conflicts.count == 1, let conflict = conflicts.first, conflict.versions.count == 1,
            let loser = conflict.versions.first
        else { return problems + ["conflicts: \(conflicts.map { "\($0.path): \($0.versions.count)" })"] }
        let content = String(decoding: try container.content(of: loser), as: UTF8.self)
        if content != expected.loser { problems.append("the loser holds \(content)") }
        if let program = expected.program,
            loser.program.map({ ($0 as NSString).lastPathComponent.hasPrefix(program) }) != true
        {
            problems.append("the loser is said to come from \(loser.program ?? "nobody"), not \(program)")
        }
        if let pid = expected.pid, loser.pid != pid {
            problems.append("the loser's pid is \(loser.pid ?? 0), not \(pid)")
        }
        if let base = conflict.base {
            let content = String(decoding: try container.content(of: base), as: UTF8.self)
            if content != expected.base { problems.append("the base holds \(content)") }
        } else {
            problems.append("the conflict has no base")
        }
        // The loser is a file that people can open, too.
        let files = try container.names(in: ".versions/X/conflicts")
        if files.count != 1 { problems.append(".versions/X/conflicts lists \(files)") }
        return problems + (try container.checkFindings())
    }
}
