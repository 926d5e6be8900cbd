// Several names of one command: undelete and restore.

import Foundation
import Support
import Testing

@Suite("undelete and restore take several names") struct ManyNamesTests {
    @Test("Each comes back; what fails of one keeps no other from it, and the status says so")
    func undelete() throws {
        try withContainer(named: "names") { container in
            guard container.isVersioned else { return [] }
            try shell(
                "mkdir d; for f in a b c d/x d/y; do echo $f > $f; done; rm a b c; rm -r d", in: container.path)
            var problems: [String] = []
            let three = try container.ctl(["undelete", "a", "none", "b"])
            let isSaid = three.text == "Undeleted a.\nUndeleted b." && three.errors.hasPrefix("error: none: ")
            if three.status != 1 || !isSaid {
                problems.append("a none b: \(three.status) \(three.text) \(three.errors)")
            }
            // What is below a directory has come back with it.
            let nested = try container.ctl(["undelete", "d", "d/x", "d/y", "c"])
            if nested.status != 0 || !nested.text.hasSuffix("Undeleted c.") || !nested.errors.isEmpty {
                problems.append("d d/x: \(nested.status) \(nested.text) \(nested.errors)")
            }
            if try container.names() != ["a", "b", "c", "d"] { problems.append("there are \(try container.names())") }
            let elsewhere = try container.ctl(["undelete", "a", "b", "--to", "e"])
            if elsewhere.status != 64 || !elsewhere.errors.contains("--to takes one path") {
                problems.append("--to: \(elsewhere.status) \(elsewhere.errors)")
            }
            return problems
        }
    }

    @Test("Of many there is one line together, and with --json one list")
    func many() throws {
        try withContainer(named: "names") { container in
            guard container.isVersioned else { return [] }
            try shell("for i in $(seq 1000); do echo $i > f$i; done; rm f*", in: container.path)
            let names = (1...1000).map { "f\($0)" }
            let all = try container.ctl(["undelete"] + names)
            let isSaid = all.text == "Undeleted 1000 names." && all.errors.isEmpty
            var problems = isSaid ? [] : ["\(all.text) \(all.errors)"]
            try shell("for i in 1 2 3; do echo $i again > f$i; done", in: container.path)
            let restored = try container.must("restore", "f1", "f2")
            let lines = restored.text.split(separator: "\n")
            if lines.count != 2 || !lines[1].hasPrefix("Restored f2 as saved at ") { problems.append(restored.text) }
            if container.text(of: "f1") != "1\n" { problems.append("f1 has not come back") }
            struct Restored: Decodable {
                struct Document: Decodable { var path: String }
                var document: Document
            }
            let list: [Restored] = try container.decode(["restore", "f3", "f1"])
            if list.map(\.document.path) != ["f3", "f1"] { problems.append("\(list)") }
            let wrong = try container.ctl(["history"] + names)
            if wrong.status != 64 || !wrong.errors.contains("999 unexpected arguments: 'f2', 'f3', 'f4' and 996 more") {
                problems.append("history: \(wrong.status) \(wrong.errors.prefix(200))")
            }
            return problems
        }
    }

    @Test("Many names show how many are done, on a terminal after half a second, and not with --json")
    func progress() throws {
        try withContainer(named: "names") { container in
            guard container.isVersioned else { return [] }
            try shell(
                "for i in $(seq 2000); do echo $i > f$i; done; rm f*; echo x > short; rm short", in: container.path)
            let printed = { (line: String) in
                try run(
                    "bash", ["-c", "script -qec \"bash -c '\(Workplace.control) \(line)'\" /dev/null"],
                    in: container.path)
            }
            let short = try printed("undelete short").text
            let isQuiet = !short.contains("undeleting") && !short.contains("\u{1B}")
            var problems = isQuiet ? [] : ["short: \(short.debugDescription)"]
            let many = try printed("undelete f{1..1000}").text
            if !many.contains(Told.undeleting) || !many.contains(" of 1000 (") {
                problems.append("no progress: \(many)")
            }
            if !many.contains("\r\u{1B}[KUndeleted 1000 names.") {
                problems.append("it is left there: \(many.suffix(300))")
            }
            let json = try printed("undelete f{1001..2000} --json > ../out").text
            if !json.isEmpty { problems.append("with --json: \(json.debugDescription)") }
            return problems
        }
    }
}
