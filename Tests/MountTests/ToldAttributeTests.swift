// The attributes that tell of versions (DESIGN 3.2): on every file and directory, below `.versions` and `.deleted` too.

import CTestSupport
import Foundation
import Support
import Testing

@Suite struct ToldAttributeTests {
    private static let all = ["item", "version", "generation", "conflicts", "state", "socket", "container"]

    private func told(_ key: String, _ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = getxattr(path, "user.versions." + key, &buffer, buffer.count)
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    private func problems(of path: String) -> [String] {
        var problems = Self.all.filter { told($0, path) == nil }.map { "\(path) has no \($0)" }
        if told("state", path) != "current" { problems.append("\(path): state \(told("state", path) ?? "-")") }
        for key in ["item", "version"] where told(key, path)?.utf8.count != 32 { problems.append("\(path): \(key)") }
        if Int(told("conflicts", path) ?? "") == nil { problems.append("\(path): conflicts") }
        var names = [CChar](repeating: 0, count: 4096)
        let count = listxattr(path, &names, names.count)
        let listed = names.prefix(max(0, count)).split(separator: 0).map {
            String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        if listed.contains(where: { $0.hasPrefix("user.versions") }) { problems.append("\(path) lists \(listed)") }
        if setxattr(path, "user.versions.item", "x", 1, 0) == 0 { problems.append("\(path) can be set") }
        return problems
    }

    @Test("Every file and directory has them, below .versions and .deleted as well")
    func everywhere() throws {
        try withContainer(named: "told", files: ["d/f": "one", "untouched": "x"]) { container in
            guard container.isVersioned else { return [] }
            try shell(
                "echo two > d/f; echo g > d/g; rm d/g; mkdir d/gone; rmdir d/gone; echo new > new", in: container.path)
            try container.must("simulate", "conflict", container.file("d/f"))
            let history = try shell("ls d/.versions/f/history", in: container.path).text.split(separator: "\n").map(
                String.init)
            var problems: [String] = []
            for name in [
                "", "d", "d/f", "untouched", "new", ".versions", ".versions/.deleted", "d/.versions", "d/.versions/f",
                "d/.versions/f/history", "d/.versions/f/conflicts", "d/.versions/f/base", "d/.versions/.deleted",
                "d/.versions/.deleted/g", "d/.versions/.deleted/gone", "d/.versions/f/history/\(history.first ?? "-")",
            ] { problems += self.problems(of: container.file(name)) }
            for (name, conflicts) in [
                ("d", "1"), ("d/f", "1"), ("", "0"), ("untouched", "0"), ("d/.versions/f", "1"), ("d/.versions", "1"),
            ]
            where told("conflicts", container.file(name)) != conflicts {
                problems.append("\(name): \(told("conflicts", container.file(name)) ?? "-") conflicts")
            }
            let item = told("item", container.file("d/f"))
            if item != told("item", container.file("d/.versions/f")) { problems.append("two items") }
            let before = told("version", container.file("d"))
            try shell("echo h > d/h", in: container.path)
            if told("version", container.file("d")) == before { problems.append("the directory's version stays") }
            // Empty, and there all the same.
            if try shell("ls -A .versions/.deleted", in: container.path).text != "" {
                problems.append("something was deleted")
            }
            return problems
        }
    }

    @Test("Files of other file systems have them too", .enabled(if: getuid() == 0, "mounting takes root"))
    func foreign() throws {
        try withContainer(named: "told", files: ["m/x": "-"]) { container in
            guard container.isVersioned else { return [] }
            try container.unmount()
            try mustRun("mount", ["-t", "tmpfs", "none", container.file("m")])
            defer { umount2(container.file("m"), VFS_MNT_DETACH) }
            try container.mount()
            try shell("echo 1 > m/f; mkdir m/d", in: container.path)
            let problems = ["m", "m/f", "m/d"].flatMap { self.problems(of: container.file($0)) }
            try container.unmount()
            return problems
        }
    }
}
