// A catalog that cannot be written: the container becomes read-only and says so; reads go on, and nothing hangs.

import CTestSupport
import Foundation
import Support
import Testing

@Suite(.enabled(if: getuid() == 0, "limiting another process takes root")) struct CatalogFailureTests {
    /// The greatest size to which the daemon may write a file: the catalog cannot grow then.
    private func limit(_ container: TestContainer, to size: String) throws {
        guard let daemon = container.daemon else { return }
        // The soft one only, which may be raised again.
        try mustRun("prlimit", ["--pid", "\(daemon.pid)", "--fsize=\(size):"])
    }

    private func waitFor(_ text: String, _ container: TestContainer) throws -> Bool {
        let deadline = Deadline.after(seconds: 60)
        while !deadline.isOver {
            if container.log.contains(text) { return true }
            _ = Deadline.after(seconds: 0.05).poll([])
        }
        return false
    }

    @Test("While the catalog cannot be written changes fail with EROFS, reads go on, and later all is there")
    func readOnly() throws {
        try withContainer(named: "catalog", files: ["f": "zero\n"], seconds: 200) { container in
            guard container.isVersioned else { return [] }
            var problems: [String] = []
            try shell("echo one > f; mkdir d", in: container.path)
            try limit(container, to: "4096")
            // The file is written by its program, and the record of it waits.
            try shell("echo two > f", in: container.path)
            guard try waitFor(Told.readOnlyUntil, container) else {
                return ["it does not say that it is read-only"]
            }
            let changes = ["mkdir e", "echo three > f", "rm f", "mv f g", "chmod 600 f", "rmdir d", "ln f h", "> new"]
            for command in changes {
                let output = try run("bash", ["-c", command], in: container.path, seconds: 20)
                if output.status == 0 || !output.errors.contains("Read-only file system") {
                    problems.append("\(command): \(output.status) \(output.errors)")
                }
            }
            if container.text(of: "f") != "two\n" { problems.append("f is \(container.text(of: "f") ?? "gone")") }
            let status = try container.must("status", container.path).text
            if !status.contains("the catalog cannot be written") || !status.contains("read-only") {
                problems.append("status: \(status)")
            }
            let restored = try run(Workplace.control, ["undelete", container.file("none")], seconds: 20)
            if !restored.errors.contains("read-only") { problems.append("undelete: \(restored.errors)") }
            try limit(container, to: "unlimited")
            guard try waitFor("the catalog can be written again", container) else { return ["it stays as it is"] }
            try shell("echo three > f; rmdir d", in: container.path)
            let sizes = try container.history(of: "f").versions.count
            if sizes != 4 { problems.append("\(sizes) versions of f") }
            if container.log.components(separatedBy: "the container is read-only").count != 2 {
                problems.append("not logged once")
            }
            return problems + (try container.checkFindings())
        }
    }

    @Test("Unmounted and mounted again meanwhile, the container has what could not be written")
    func nextMount() throws {
        try withContainer(named: "catalog-next", files: ["f": "zero\n"], seconds: 200) { container in
            guard container.isVersioned else { return [] }
            try shell("echo one > f", in: container.path)
            try limit(container, to: "4096")
            try shell("echo two > f", in: container.path)
            guard try waitFor(Told.readOnlyUntil, container) else {
                return ["it does not say that it is read-only"]
            }
            try container.remount()
            try shell("echo three > f", in: container.path)
            let count = try container.history(of: "f").versions.count
            return (count == 4 ? [] : ["\(count) versions"]) + (try container.checkFindings())
        }
    }
}
