// What coordination tells one user of another's files, and what it lets one user do to another's work (DESIGN 3.4).

import Foundation
import Support
import Testing

private let bob: UInt32 = 65534

@Suite("Coordination between users") struct CoordinationRightsTests {
    /// A directory that everyone may change, one that only root may enter, one that others may only pass through.
    private func prepare(_ container: TestContainer) throws {
        chmod(container.path, 0o1777)
        try shell(
            """
            umask 022
            mkdir -m 700 private; mkdir -m 711 passage; mkdir public
            echo 1 > private/one; echo 1 > private/two; echo 1 > passage/known; echo 1 > public/doc
            """, in: container.path)
    }

    @Test("who presents a directory is not asked about names that it may not see, and cannot hold up their deletion")
    func subitems() throws {
        try withContainer { container in
            try prepare(container)
            let bobs = try PresentingClient(of: container, asUser: bob) { _ in throw Failure("I say no") }
            defer { bobs.close() }
            let root = try PresentingClient(of: container)
            defer { root.close() }
            try bobs.present("", subitems: true)
            try root.claim("writing", ["private/two"], options: ["forDeleting"]) {}
            // It is asked about what it may see, and may not refuse that either: the file is root's.
            try root.claim("writing", ["public/doc"], options: ["forDeleting"]) {}
            try bobs.wait(for: ": accommodate")
            return bobs.told == [": accommodate"] ? [] : ["bob was told: \(bobs.told)"]
        }
    }

    @Test("a presenter whose item has come where it may not look is not asked, and holds up nobody")
    func movedAway() throws {
        try withContainer { container in
            try prepare(container)
            let root = try PresentingClient(of: container)
            defer { root.close() }
            let (_, _, sequence) = try root.present("passage")
            try shell("chmod 600 public/doc; mv public/doc private/doc", in: container.path)
            let bobs = try PresentingClient(of: container, answers: false, asUser: bob)
            defer { bobs.close() }
            try bobs.present("public/doc", after: sequence)
            let clock = ContinuousClock()
            let waited = try clock.measure { try root.claim("reading", ["private/doc"]) {} }
            let asked = bobs.told.filter { !$0.contains("attributes") }
            var problems = asked.isEmpty ? [] : ["bob was told: \(asked)"]
            // It would have been waited for until its deadline.
            if waited > .seconds(9) { problems.append("the claim took \(waited)") }
            return problems
        }
    }

    @Test("lists of claims and presenters, and free names, tell nobody what is in a directory that it may not list")
    func names() throws {
        try withContainer { container in
            try prepare(container)
            let root = try PresentingClient(of: container)
            defer { root.close() }
            try root.present("passage/known")
            var problems: [String] = []
            try root.claim("writing", ["passage/known"]) {
                for list in ["claims", "presenters"] {
                    let told = try container.ctl([list, "--json"], asUser: bob).text
                    if told.contains("known") { problems.append("\(list): \(told)") }
                }
            }
            let bobs = try PresentingClient(of: container, asUser: bob)
            defer { bobs.close() }
            if (try? bobs.claim("reading", ["passage/new"], {})) != nil {
                problems.append("bob claims a name in passage")
            }
            try bobs.present("passage/known")
            let own = try container.ctl(["presenters", "--json"], asUser: bob).text
            if !own.contains("known") { problems.append("bob does not see his own presenter: \(own)") }
            return problems
        }
    }

    @Test("a claim on a free name is over once another has made a file there that its holder may not read")
    func takenName() throws {
        try withContainer { container in
            try prepare(container)
            let bobs = try PresentingClient(of: container, asUser: bob)
            defer { bobs.close() }
            let access: [String: Any] = ["mode": "reading", "path": "public/new", "options": [String]()]
            try bobs.call("claim", ["accesses": [access]])
            // Nobody's child, and so not of the holder's lineage.
            try shell(
                """
                (setsid sh -c 'until [ $(ps -o ppid= $$) = 1 ]; do :; done; umask 077; echo x > public/new' \
                    < /dev/null > /dev/null 2>&1 &)
                """, in: container.path)
            try bobs.wait(for: ": claimRevoked")
            return []
        }
    }

    @Test("a presenter hears of its item that it may read, in a directory that it may not list") func passage() throws {
        try withContainer { container in
            try prepare(container)
            let bobs = try PresentingClient(of: container, asUser: bob)
            defer { bobs.close() }
            try bobs.present("passage/known")
            try shell(
                """
                echo 2 > passage/known; echo 2 > passage/hidden; mv passage/known passage/next; echo 3 > passage/next
                rm passage/next
                """, in: container.path)
            let told = try bobs.wait(for: "passage/known: deleted passage/next item at passage/next")
            let expected = [
                "passage/known: saved passage/known item at passage/known",
                "passage/known: renamed passage/known -> passage/next item at passage/next",
                "passage/known: saved passage/next item at passage/next",
                "passage/known: deleted passage/next item at passage/next",
            ]
            // What is gone by the time that it would be told may be left out.
            let isSo =
                told == expected || told.allSatisfy(expected.contains) && !told.contains { $0.contains("hidden") }
            return isSo ? [] : ["bob was told: \(told)"]
        }
    }

    @Test("rights are those of the directory that a change happened in, whatever has its name by now")
    func movedDirectories() throws {
        try withContainer { container in
            try prepare(container)
            let root = try PresentingClient(of: container)
            defer { root.close() }
            let (_, _, sequence) = try root.present("passage")
            try shell(
                """
                echo 2 > public/doc; mv public renamed
                echo 2 > private/secret; mv private elsewhere; mkdir private; chmod 755 private; echo 1 > last
                """, in: container.path)
            let bobs = try PresentingClient(of: container, asUser: bob)
            defer { bobs.close() }
            try bobs.call("watch", ["target": ["path": ""], "after": sequence])
            let told = try bobs.wait(for: ": event saved last")
            var problems: [String] = []
            if !told.contains(": event saved public/doc") { problems.append("bob missed the save: \(told)") }
            if told.contains(where: { $0.contains("secret") }) { problems.append("bob was told a secret: \(told)") }
            let second = try PresentingClient(of: container, asUser: bob)
            defer { second.close() }
            try second.present("public/doc", after: sequence)
            try second.wait(for: "public/doc: saved public/doc item at public/doc")
            return problems
        }
    }
}
