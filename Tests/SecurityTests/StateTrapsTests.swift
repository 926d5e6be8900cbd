// A state directory is not trusted because it is there: each wrong part of it is named, and nothing is changed.

import CTestSupport
import Foundation
import Support
import Testing

/// Two users of every Debian: the container's, and one more.
private let alice: UInt32 = 5

@Suite struct StateTrapsTests {
    /// A container of alice's with versions, a deletion and a setting in it, as it is when it is not mounted; all of
    /// its state is hers.
    private static func template(in place: String) throws -> String {
        let path = place + "/template"
        try shell(
            """
            mkdir template; echo one > template/f; chown -R \(alice):\(alice) template
            \(Workplace.control) mount template
            cd template; echo two > f; echo three > f; echo x > gone; rm gone
            \(Workplace.control) config history.max-file 2GiB
            cd ..; \(Workplace.control) unmount template
            chown -R \(alice):\(alice) template
            """, in: place)
        return path
    }

    /// Everything about a tree that a daemon might change: types, modes, owners, sizes, times, targets, contents.
    private static func fingerprint(_ directories: String...) throws -> String {
        let find = """
            find "$@" -printf '%p %y %#m %U %G %s %n %T@ %C@ %l\\n' | sort
            find "$@" -type f -exec sha256sum {} + | sort
            """
        return try mustRun("bash", ["-ec", find, "find"] + directories).text
    }

    private static func outside(in place: String) throws -> String {
        try shell(
            "mkdir out out/room; echo precious > out/victim; chown 65534 out/victim; chmod 600 out/victim", in: place)
        return place + "/out"
    }

    @Test("A trap in another user's state is named by root's daemon, which does not mount and changes nothing")
    func traps() throws {
        let place = try Workplace.fresh("traps")
        defer { _ = try? run("rm", ["-rf", "--one-file-system", place]) }
        let template = try Self.template(in: place)
        var problems: [String] = []
        #expect(StateTrap.all.count >= 20)
        for (number, trap) in StateTrap.all.enumerated() {
            let inner = "\(place)/\(number)"
            try shell("mkdir \(number); cp -a \(template) \(number)/c", in: place)
            let out = try Self.outside(in: inner)
            try mustRun("bash", ["-ec", trap.lines], in: inner + "/c", environment: ["OUT": out])
            let before = try Self.fingerprint(inner + "/c", out)
            // A daemon that mounts, or hangs, is ended.
            let output = try run("timeout", ["-k", "1", "20", Workplace.daemon, inner + "/c", "-f"], seconds: 40)
            if try Mounts.at(inner + "/c") != nil { umount2(inner + "/c", VFS_MNT_DETACH) }
            if output.status != 1 || !output.errors.contains(trap.name) {
                problems.append("\(number) \(trap.name): status \(output.status): \(output.errors)")
            }
            if try Self.fingerprint(inner + "/c", out) != before {
                problems.append("\(number) \(trap.name): something has changed")
            }
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("Commands for a container that is not mounted are as careful", arguments: [
        ["status"], ["check"], ["check", "--repair"], ["config"], ["config", "history.max-file", "1GiB"],
        ["forget", ".", "--yes"],
    ])
    func commands(_ words: [String]) throws {
        let place = try Workplace.fresh("traps")
        defer { _ = try? run("rm", ["-rf", "--one-file-system", place]) }
        let (template, out) = (try Self.template(in: place), try Self.outside(in: place))
        for trap in StateTrap.all where trap.name.hasSuffix("/config.toml") || trap.lines.contains("objects/*") {
            let path = place + "/c"
            try mustRun("bash", ["-ec", "rm -rf \(path); cp -a \(template) \(path)"])
            try mustRun("bash", ["-ec", trap.lines], in: path, environment: ["OUT": out])
            let before = try Self.fingerprint(path, out)
            let output = try run(
                "timeout", ["-k", "1", "20", Workplace.control] + words, in: path, seconds: 40)
            #expect(
                [1, 2].contains(output.status) && output.errors.contains(trap.name),
                "\(output.status): \(output.errors)")
            #expect(try Self.fingerprint(path, out) == before, "\(words) has changed something: \(trap.name)")
        }
    }

    @Test("A state that is as it should be is mounted: alice's by root's daemon, and root's by hers")
    func trusted() throws {
        let place = try Workplace.fresh("traps")
        defer { _ = try? run("rm", ["-rf", "--one-file-system", place]) }
        let template = try Self.template(in: place)
        try shell(
            """
            \(Workplace.control) mount template; cd template; grep -q three f
            test "$(\(Workplace.control) history f | head -1)" != ""; cd ..; \(Workplace.control) unmount template
            """, in: place)
        _ = template
    }

    @Test("A shelf that is swapped for links while it is mounted leads nowhere")
    func swapped() throws {
        let place = try Workplace.fresh("swapped")
        defer { _ = try? run("rm", ["-rf", "--one-file-system", place]) }
        _ = try Self.template(in: place)
        let out = try Self.outside(in: place)
        let swap = """
            cd \(place)/template/.versionsfs
            for shelf in objects deleted; do
                mkdir \(place)/template/aside-$shelf
                find $shelf -mindepth 1 -maxdepth 1 -exec mv -t \(place)/template/aside-$shelf {} +
                for x in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do for y in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
                    ln -s \(out)/room $shelf/$x$y
                done; done
            done
            """
        try shell("mkdir m; \(Workplace.control) mount template m -o source-open", in: place)
        defer { if (try? Mounts.at(place + "/m")) != nil { umount2(place + "/m", VFS_MNT_DETACH) } }
        try mustRun("bash", ["-ec", swap], asUser: alice)
        let before = try Self.fingerprint(out)
        let edits = """
            import os
            for n in range(12):
                for act in (lambda: open("f", "w").write("edit %d\\n" % n),
                            lambda: open("n%d" % n, "w").write("new\\n"),
                            lambda: os.remove("n%d" % n), lambda: open("f", "a").write("more\\n"),
                            lambda: (open("t", "w").write("renamed\\n"), os.rename("t", "f"))):
                    try: act()
                    except OSError: pass
            """
        try mustRun("python3", ["-B", "-c", edits], in: place + "/m")
        #expect(try Self.fingerprint(out) == before, "something was put where a link leads to")
        let status = try run(Workplace.control, ["status", place + "/m"])
        #expect(status.status == 0, "the daemon does not answer any more: \(status.errors)")
        try mustRun(Workplace.control, ["unmount", place + "/m"])
        let again = try run(Workplace.control, ["mount", place + "/template"], in: place)
        #expect(again.status == 1 && again.errors.contains(".versionsfs/"), "\(again.status): \(again.errors)")
    }
}
