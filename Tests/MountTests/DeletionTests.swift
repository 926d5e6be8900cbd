// Deletions move to the cache area, and everything in it comes back as it was.

import Foundation
import Support
import Testing

@Suite struct DeletionTests {
    /// Type, mode, times, size, link target, content and user's attributes of everything below a directory, one line
    /// each.
    private func manifest(_ directory: String) throws -> String {
        try shell(
            """
            find . -printf '%p %y %m %T@ %s %l\\n' | sort
            find . -type f -print0 | sort -z | xargs -0r sha256sum
            getfattr -R -P -d -m '^user\\.' --absolute-names . 2>/dev/null | cat
            """, in: directory, seconds: 300
        ).text
    }

    /// The first lines in which two manifests differ.
    private func difference(_ before: String, _ after: String) -> [String] {
        guard before != after else { return [] }
        let old = before.split(separator: "\n")
        let new = after.split(separator: "\n")
        let changes = new.difference(from: old)
        return changes.prefix(20).map { change in
            switch change {
            case .remove(_, let line, _): "- \(line)"
            case .insert(_, let line, _): "+ \(line)"
            }
        } + ["\(changes.count) lines differ"]
    }

    @Test("restore --at brings back what was renamed over another document")
    func renamedOver() throws {
        try withContainer(named: "over", files: ["d/f": "f one\n", "d/g": "g one\n"]) { container in
            try shell("echo f two > d/f; echo g two > d/g; touch before", in: container.path)
            let time = try shell("date -u +%Y-%m-%dT%H:%M:%S.%NZ; sleep 0.02", in: container.path).text
            try shell("mv d/g d/f", in: container.path)
            try container.must("restore", "d", "--at", time, "--to", "copy")
            var problems: [String] = []
            for (name, text) in ["copy/f": "f two\n", "copy/g": "g two\n", "d/f": "g two\n"]
            where container.text(of: name) != text {
                problems.append("\(name) holds \(container.text(of: name) ?? "nothing")")
            }
            try container.must("restore", "d", "--at", time)
            for (name, text) in ["d/f": "f two\n", "d/g": "g two\n"] where container.text(of: name) != text {
                problems.append("in place \(name) holds \(container.text(of: name) ?? "nothing")")
            }
            return try problems + container.checkFindings()
        }
    }

    @Test("What is renamed over another name, as logs are turned, goes on with its history when its name comes back")
    func turnedLog() throws {
        try withContainer(named: "turned") { container in
            try shell(
                "echo a > notes; echo b > notes; echo x > notes.1; mv notes notes.1; echo c > notes", in: container.path
            )
            let versions = try container.history(of: "notes").versions
            let contents = try versions.map { String(decoding: try container.content(of: $0), as: UTF8.self) }
            return contents == ["c\n", "b\n", "a\n"] ? try container.checkFindings() : ["notes has \(contents)"]
        }
    }

    @Test("A removed checkout of 5,000 files comes back byte for byte")
    func checkoutComesBack() throws {
        try withContainer(named: "checkout", seconds: 600) { container in
            let tree = container.file("tree")
            try shell(
                """
                mkdir tree && cd tree
                for d in $(seq 1 50); do
                    mkdir -p a$((d % 5))/d$d; for f in $(seq 1 100); do echo "$d/$f $RANDOM" > a$((d % 5))/d$d/f$f; done
                done
                chmod 600 a0/d5/f1; chmod 755 a1/d1/f2; chmod 750 a2; ln -s ../f1 a1/d1/link
                mkfifo a1/fifo; mkdir a3/empty
                ln a4/d4/f1 a4/d4/hard; setfattr -n user.note -v hello a1/d1/f3; setfattr -n user.dir -v there a1/d1
                git init -q . && git config gc.auto 0 && git config maintenance.auto false && git add -A
                git -c user.name=a -c user.email=a@b commit -qm all
                find . -depth -exec touch -h -d '2020-01-02 03:04:05.678901234' {} +
                """, in: container.path, seconds: 300)
            let before = try manifest(tree)
            guard container.isVersioned else { return difference(before, try manifest(tree)) }
            try shell("rm -rf tree", in: container.path, seconds: 120)
            var problems = try container.names().isEmpty ? [] : ["rm -rf left something"]
            try container.must("undelete", tree)
            problems += difference(before, try manifest(tree))
            let left = try container.deleted().map(\.path)
            if !left.isEmpty { problems.append("still in the deleted area: \(left.prefix(5))") }
            return problems + (try container.checkFindings())
        }
    }

    @Test("A directory is brought back as of a time, with names created, renamed and deleted since")
    func directoryAtATime() throws {
        try withContainer(named: "restore") { container in
            let tree = container.file("d")
            try shell(
                "mkdir -p d/sub d/gone && echo 1 > d/kept && echo 2 > d/changed && echo 3 > d/renamed && "
                    + "echo 4 > d/gone/in && "
                    + "echo 5 > d/sub/deep && chmod 640 d/kept && touch -d 2020-01-01 d/kept", in: container.path)
            let before = try manifest(tree)
            guard container.isVersioned else { return [] }
            let time = try shell("date -u +%Y-%m-%dT%H:%M:%S.%NZ").text
            try shell(
                "echo new > d/created; echo 22 > d/changed; mv d/renamed d/sub/elsewhere; rm -r d/gone; "
                    + "rm d/sub/deep; mkdir d/more",
                in: container.path)
            let copy = container.file("copy")
            try container.must("restore", tree, "--at", time, "--to", copy)
            var problems = difference(contents(before), contents(try manifest(copy))).map { "--to: \($0)" }
            try container.must("restore", tree, "--at", time)
            problems += difference(contents(before), contents(try manifest(tree)))
            let deleted = try container.deleted().map(\.path)
            for name in ["d/created", "d/more"] where !deleted.contains(name) {
                problems.append("\(name) did not move to the deleted area: \(deleted)")
            }
            return problems + (try container.checkFindings())
        }
    }

    /// A manifest without directories' times and sizes: entries were really taken out and put in.
    private func contents(_ manifest: String) -> String {
        manifest.split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return words.count > 4 && words[1] == "d" ? words.prefix(3).joined(separator: " ") : String(line)
        }.joined(separator: "\n")
    }

    /// What is done to `f` (content "old"), and how a user gets "old" back.
    static let losses: [(String, [String])] = [
        ("rm f", ["undelete", "f"]),
        ("mkdir d && mv f d && rm -r d", ["undelete", "d"]),
        ("echo other > g && mv g f", ["restore"]),
        ("echo other > f", ["restore"]),
        ("cp /dev/null f", ["restore"]),
        ("truncate -s 0 f", ["restore"]),
        ("printf XXX | dd of=f conv=notrunc status=none", ["restore"]),
        ("ln -sf /etc/hostname f && mv f link", ["undelete", "f"]),
    ]

    @Test(
        "What an ordinary user removes or overwrites, the same user gets back",
        .enabled(if: getuid() == 0, "only root may become another user"), arguments: losses)
    func recoverable(_ line: String, way: [String]) throws {
        let nobody: UInt32 = 65534
        try withContainer(named: "user") { container in
            chown(container.path, nobody, nobody)
            try mustRun("bash", ["-ec", "echo old > f; " + line], in: container.path, asUser: nobody)
            guard container.isVersioned else { return [] }
            if way == ["restore"] {
                let versions = try container.history(of: "f").versions
                guard let old = versions.first(where: { $0.size == 4 && $0.kind == "history" }) else {
                    return ["no old version: \(versions.map(\.size))"]
                }
                try container.must("restore", container.file("f"), "--version", old.id, asUser: nobody)
            } else {
                if way[1] == "f" { unlink(container.file("f")) }
                let target = line.hasPrefix("ln") ? ["--to", container.file("back")] : []
                let output = try container.ctl([way[0], container.file(way[1])] + target, asUser: nobody)
                guard output.status == 0 else { return ["\(way): \(output.errors)"] }
            }
            let found = try shell("cat f d/f back 2>/dev/null || true", in: container.path).text
            return found.split(separator: "\n").contains("old") ? [] : ["got back: \(found)"]
        }
    }

    @Test(
        "A directory that an ordinary user removes by itself comes back for the same user, as it was",
        .enabled(if: getuid() == 0, "only root may become another user"))
    func directoryOfAUser() throws {
        let nobody: UInt32 = 65534
        try withContainer(named: "userdir") { container in
            chown(container.path, nobody, nobody)
            let make = "mkdir -m 2750 d; setfattr -n user.note -v hello d; touch -d '2020-01-02 03:04:05.678901234' d"
            let look = "stat -c '%F %a %u %y' d; getfattr --only-values -n user.note d"
            let before = try mustRun("bash", ["-ec", make + "; " + look], in: container.path, asUser: nobody).text
            try mustRun("rmdir", ["d"], in: container.path, asUser: nobody)
            guard container.isVersioned else { return [] }
            let listed = try container.deleted().map { "\($0.type) \($0.path)" }
            let output = try container.ctl(["undelete", container.file("d")], asUser: nobody)
            guard output.status == 0 else { return ["undelete: \(output.errors)"] }
            let after = try mustRun("bash", ["-ec", look], in: container.path, asUser: nobody).text
            return (listed == ["directory d"] ? [] : ["deleted: \(listed)"])
                + (after == before ? [] : ["\(before), then \(after)"])
        }
    }

    @Test(
        "A tree that an ordinary user removes comes back for the same user, further names of files included",
        .enabled(if: getuid() == 0, "only root may become another user"))
    func treeOfAUser() throws {
        let nobody: UInt32 = 65534
        try withContainer(named: "usertree") { container in
            chown(container.path, nobody, nobody)
            let tree = container.file("tree")
            try mustRun(
                "bash",
                [
                    "-ec",
                    """
                    mkdir -p tree/a/b tree/c && for f in $(seq 1 200); do echo $f > tree/a/b/f$f; done
                    ln tree/a/b/f1 tree/a/b/g1; ln tree/a/b/f2 tree/c/g2; ln -s f3 tree/a/b/link; chmod 600 tree/a/b/f4
                    chmod 500 tree/c; setfattr -n user.note -v hello tree/a/b/f5
                    find tree -depth -exec touch -h -d '2020-01-02 03:04:05.678901234' {} +
                    """,
                ], in: container.path, asUser: nobody)
            func look() throws -> String {
                try manifest(tree) + shell("find . -printf '%p %u:%g %n\\n' | sort", in: tree).text
            }
            let before = try look()
            try mustRun(
                "bash", ["-ec", "chmod 700 tree/c; rm -rf tree/a; chmod 500 tree/c"], in: container.path, asUser: nobody
            )
            guard container.isVersioned else { return [] }
            try container.must("undelete", container.file("tree/a"), asUser: nobody)
            let after = try look()
            var problems = difference(before, after)
            let left = try container.deleted().map(\.path)
            if !left.isEmpty { problems.append("still in the deleted area: \(left)") }
            return problems + (try container.checkFindings())
        }
    }

    @Test("An entry moved out of .versions/.deleted is undeleted")
    func movedOut() throws {
        try withContainer(files: ["d/f": "text"]) { container in
            guard container.isVersioned else { return [] }
            try shell("rm d/f && ls d/.versions/.deleted/f && mv d/.versions/.deleted/f d/f", in: container.path)
            let left = try container.deleted()
            return (container.text(of: "d/f") == "text" ? [] : ["not back"]) + (left.isEmpty ? [] : ["still deleted"])
        }
    }

    @Test("One rm -r is one group, and undelete of the directory brings back that group only")
    func groups() throws {
        try withContainer(files: ["d/a": "a", "d/b": "b", "d/c": "c"]) { container in
            guard container.isVersioned else { return [] }
            try shell("rm d/a", in: container.path)
            try shell("rm -r d", in: container.path)
            let deleted = try container.deleted()
            let groups = Dictionary(grouping: deleted, by: \.group).mapValues { Set($0.map(\.path)) }
            var problems = Set(groups.values) == [["d/a"], ["d", "d/b", "d/c"]] ? [] : ["groups: \(groups)"]
            try container.must("undelete", container.file("d"))
            if try container.names(in: "d") != ["b", "c"] { problems.append("back: \(try container.names(in: "d"))") }
            return problems
        }
    }
}
