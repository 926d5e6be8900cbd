// Restoring a file that has several names: its content changes in place, whole or not at all.

import Foundation
import Support
import Testing

@Suite struct OverwritingTests {
    @Test("What was current is kept, whatever its size", .enabled(if: getuid() == 0, "only root may mount images"))
    func kept() throws {
        try withFileSystem(.ext4, megabytes: 200) { base in
            try withContainer(named: "several", on: base, settings: ["history.max-file": "1MiB"]) { container in
                try shell(
                    "printf small > f; ln f g; head -c 500000 /dev/urandom > f; printf older > f", in: container.path)
                // More than max-file, and appended, so that nothing is given up on the way.
                try shell("head -c 2000000 /dev/urandom >> f; cp f copy", in: container.path)
                let big = try #require(try container.history(of: "f").current)
                let first = try #require(try container.history(of: "f").versions.last { $0.size == 5 })
                try container.must("restore", container.file("f"), "--version", first.id)
                let text = container.text(of: "g")
                var problems: [String] = []
                if text != "small" { problems.append("g holds \(text ?? "nothing")") }
                let older = try #require(try container.history(of: "f").versions.first { $0.id == big.id })
                let same = try run("cmp", [older.file, container.file("copy")])
                if same.status != 0 { problems.append("the big content is gone: \(same.errors)") }
                return problems
            }
        }
    }

    @Test(
        "Without room for the new content nothing is changed", .enabled(if: getuid() == 0, "only root may mount images")
    )
    func withoutRoom() throws {
        try withFileSystem(.ext4, megabytes: 200) { base in
            try withContainer(named: "several", on: base) { container in
                try shell(
                    "head -c 8000000 /dev/urandom > f; ln f g; head -c 4096 /dev/urandom > f; cp f copy",
                    in: container.path)
                let big = try #require(try container.history(of: "f").versions.last { $0.size == 8_000_000 })
                let time = try run("stat", ["-c", "%y", container.file("f")]).text
                // Room for the staged content, and not for the file's.
                try shell(
                    """
                    free=$(stat -f -c '%a %S' . | awk '{ print $1 * $2 }')
                    fallocate -l $((free - 12000000)) filler
                    """, in: container.path)
                let output = try container.ctl(["restore", container.file("f"), "--version", big.id])
                var problems: [String] = []
                if output.status == 0 { problems.append("it was restored") }
                if !output.errors.contains("o space") && !output.errors.contains("full") {
                    problems.append("it says: \(output.errors)")
                }
                if try run("cmp", [container.file("g"), container.file("copy")]).status != 0 {
                    problems.append("the file is torn: \(try shell("ls -l", in: container.path).text)")
                }
                if try run("stat", ["-c", "%y", container.file("f")]).text != time {
                    problems.append("it has another time")
                }
                let versions = try container.history(of: "f").versions
                if versions.count != 2 { problems.append("it has \(versions.count) versions") }
                return problems
            }
        }
    }
}
