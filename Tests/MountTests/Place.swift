// A directory for containers that a test mounts itself with versionsctl, as people do.

import CTestSupport
import Foundation
import Support
import Testing

struct Place {
    let path: String

    /// Makes the directory, with a container-to-be `c` and a file `f` in it; whatever the test leaves is taken away.
    static func with(_ body: (Place) throws -> Void) throws {
        let path = try Workplace.fresh("place")
        try FileManager.default.createDirectory(atPath: path + "/c", withIntermediateDirectories: false)
        try "one\n".write(toFile: path + "/c/f", atomically: false, encoding: .utf8)
        defer {
            // Deepest first.
            for mount in ((try? Mounts.all()) ?? []).map(\.path).filter({ $0.hasPrefix(path) }).sorted(by: >) {
                umount2(mount, VFS_MNT_DETACH)
            }
            _ = try? run("rm", ["-rf", "--one-file-system", path])
        }
        try body(Place(path: path))
    }

    func ctl(_ arguments: String..., in directory: String = "", asUser user: UInt32? = nil) throws -> Output {
        func tell() throws -> Output {
            try run(Workplace.control, arguments, in: path + "/" + directory, asUser: user, seconds: 60)
        }
        return try arguments.first == "unmount" ? MountNamespaces.unmounting(tell) : tell()
    }

    func daemon(_ arguments: String...) throws -> Output {
        try run(Workplace.daemon, arguments, in: path, seconds: 60)
    }

    /// A daemon in the foreground that serves; `-f` is added.
    func serve(_ arguments: String...) throws -> Child {
        let child = try Child(.init(Workplace.daemon, arguments.map { path + "/" + $0 } + ["-f"]))
        let point = path + "/" + (arguments.last ?? "")
        let came = try Mounts.wait(.after(seconds: 20), watching: child) { all in
            all.contains { $0.path == point } && isServed(point)
        }
        guard came else { throw Failure("\(point) was not mounted") }
        return child
    }

    private func isServed(_ point: String) -> Bool {
        getxattr(point, "user.versions.socket", nil, 0) > 0
    }

    /// A line of bash that may use $CTL and $DAEMON, for names that are not UTF-8.
    func bash(_ line: String) throws -> Output {
        try run(
            "bash", ["-c", line], in: path, environment: ["CTL": Workplace.control, "DAEMON": Workplace.daemon],
            seconds: 60)
    }

    func mount(_ name: String = "c", _ options: String = "defaults") throws {
        let output = try ctl("mount", name, "-o", options)
        guard output.status == 0 else { throw Failure("mount \(name): \(output.errors)") }
    }

    func unmount(_ name: String = "c") throws {
        let output = try ctl("unmount", name)
        guard output.status == 0 else { throw Failure("unmount \(name): \(output.errors)") }
    }
}

/// It failed with this status and two lines on standard error, `error: …` and `hint: …`, that have these words; wrong
/// usage has a line `usage: …`, too, or instead.
func expectError(_ output: Output, _ words: String..., status: Int32 = 1, from line: Int = #line) {
    #expect(output.status == status, "line \(line): status \(output.status): \(output.errors)")
    let labels = output.errors.split(separator: "\n").map { String($0.prefix { $0 != ":" }) }
    let isUsage = status == 64 && (labels == ["error", "usage"] || labels == ["error", "hint", "usage"])
    #expect(labels == ["error", "hint"] || isUsage, "line \(line): not an error and a hint: \(output.errors)")
    for word in words { #expect(output.errors.contains(word), "line \(line): no \"\(word)\" in: \(output.errors)") }
}
