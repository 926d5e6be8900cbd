// The rows of facts.md 8 that no order of `ListedChangeTests` shows: those for which the container has nothing yet,
// with its answer and that of the reference model, and those in which both are one already.

import Foundation
import Glibc
import Lineage
import LineageShadow
import Support
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite struct ComingFeatureTests {
    @Test("a large file that is written in place again and again: a version at each close, then one a minute")
    func minute() throws {
        let tree = try BrowsedContainer()
        try tree.save("f", String(repeating: "a", count: 2 << 20))
        let first = try tree.container.store.versions(of: tree.item("f").id).count
        var minute = Minute()
        var then = 0
        let actor = ActorNumber(1)
        for second in 0..<4 {
            try tree.save("f", "\(second)", flags: 0)
            tree.clock.advance(seconds: 1)
            let now = Timestamp(nanoseconds: Int64(second) * 1_000_000_000)
            if minute.change(by: actor, at: now) { then += 1 }
            if minute.close(at: now, size: 2 << 20, isDatabase: false) { then += 1 }
        }
        if minute.pass(to: Timestamp(nanoseconds: 10_000_000_000)) { then += 1 }
        tree.container.store.flush()
        #expect(try tree.container.store.versions(of: tree.item("f").id).count - first == 4)
        #expect(then == 2)
    }

    @Test("ln -f a other: other shows what it held, then what a holds, and a save through either is in both")
    func linkedOver() throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: true)
            let steps = "0 save x a; 0 save y other; 0 wait; 0 link x t; 0 move t y; 0 overwrite y b"
            for step in ShadowStep.steps(steps) {
                try play.perform(step)
                #expect(play.shadow.differences(from: try play.tree.answer).isEmpty)
            }
            for answer in [try play.tree.answer, play.shadow.answer] {
                #expect(answer.names["y"]?.history == ["b", "a", "other"])
                #expect(answer.names["x"]?.history == ["b", "a"])
            }
        }
    }

    /// On a mount unlink(2), too: `UnremovableVersionsTests` of `MountTests`.
    @Test("nothing below .versions goes: EROFS, and the rules hear of nothing")
    func belowVersions() throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: true)
            for step in ShadowStep.steps("0 save x a; 0 save x b") { try play.perform(step) }
            let before = play.shadow.answer
            #expect(throws: Errno.readOnlyFileSystem) {
                try play.shadow.following { try play.tree.rename(".versions/x", to: "y") }
            }
            #expect(play.shadow.answer == before)
            #expect(try play.tree.answer == before)
        }
    }

    @Test("a read beside a program that rewrites the file: it meets an empty file, then it waits for the close")
    func wholeRead() throws {
        try withPeople { people in
            let tree = try BrowsedContainer()
            try tree.save("f", "old")
            let callers = people.map { Caller(user: getuid(), group: getgid(), thread: $0, umask: 0o022) }
            let node = try tree.node("f")
            let writing = try #require(try tree.container.open(callers[0], node: node, flags: O_WRONLY | O_TRUNC))
            let reading = try #require(try tree.container.open(callers[1], node: node, flags: O_RDONLY))
            #expect(try tree.live("f") == "")
            tree.container.release(node: node, handle: reading.handle)
            tree.container.flush(callers[0], handle: writing.handle)
            tree.container.release(node: node, handle: writing.handle)

            var file = WholeRead(longest: 2_000_000_000)
            let now = Timestamp(nanoseconds: 0)
            file.empty(by: ActorNumber(1), at: now)
            #expect(file.due(for: ActorNumber(2), Kin(), at: now) != nil)
            file.close()
            #expect(file.due(for: ActorNumber(2), Kin(), at: now) == nil)
        }
    }
}
