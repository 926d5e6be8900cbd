// `.versionsignore` counts only if no user but the container's owner and root can have written it, and `status` says
// so.

import CTestSupport
import Foundation
import Support
import Testing

private let alice: UInt32 = 5
private let bob: UInt32 = 65534

@Suite struct IgnoreFileTests {
    private struct Status: Decodable {
        struct IgnoreFile: Decodable {
            var path: String
            var counts: Bool
            var reason: String?
        }
        var ignoreFile: IgnoreFile?
        var notes: [String]
    }

    /// Whether a new file has versions.
    private func isKept(_ name: String, in container: TestContainer) throws -> Bool {
        try mustRun("sh", ["-ec", "echo 1 > \(name); echo 2 > \(name)"], in: container.path, asUser: alice)
        let output = try container.ctl(["history", name, "--json"])
        return output.text.contains("\"id\"")
    }

    @Test("Another user's .versionsignore changes nothing, and status says why; the owner's and root's count")
    func owners() throws {
        try withContainer(named: "ignore") { container in
            chown(container.path, alice, alice)
            chmod(container.path, 0o777)
            var problems: [String] = []
            var number = 0
            func expect(_ line: String, as user: UInt32?, counts: Bool?, _ word: String = "") throws {
                try mustRun("sh", ["-ec", "umask 022; " + line], in: container.path, asUser: user)
                number += 1
                let kept = try isKept("f\(number).o", in: container)
                let status: Status = try container.decode(["status"])
                let text = try container.must("status").text
                if kept != (counts != true) { problems.append("\(line): kept: \(kept)") }
                if status.ignoreFile?.counts != counts { problems.append("\(line): \(String(describing: status))") }
                if counts != nil, !text.contains(".versionsignore") { problems.append("\(line): \(text)") }
                let reasons = (status.ignoreFile?.reason ?? "") + status.notes.joined()
                if !word.isEmpty, !reasons.contains(word) { problems.append("\(line): no \"\(word)\" in \(reasons)") }
            }
            let make = "rm -f .versionsignore; echo '*.o' > .versionsignore"
            try expect("true", as: alice, counts: nil)
            try expect(make, as: bob, counts: false, "belongs neither")
            try expect(make, as: alice, counts: true, "'*.o' (.versionsignore)")
            try expect("chmod o+w .versionsignore", as: alice, counts: false, "any user may write")
            try expect("chmod 644 .versionsignore", as: alice, counts: true)
            try expect("setfacl -m u:\(bob):rw .versionsignore", as: alice, counts: false, "access list")
            try expect("setfacl -b .versionsignore; chmod 644 .versionsignore", as: alice, counts: true)
            try expect("rm .versionsignore", as: alice, counts: nil)
            try expect(make, as: nil, counts: true)
            try expect("chgrp \(bob) .versionsignore; chmod 664 .versionsignore", as: nil, counts: false, "its group")
            try expect("chown \(bob) .versionsignore; chmod 644 .versionsignore", as: nil, counts: false, "belongs")
            try expect("chown \(bob) .", as: nil, counts: true)
            try expect("chown \(alice) .", as: nil, counts: false, "belongs")
            try expect("rm .versionsignore; echo '*.o' > mine; mv mine .versionsignore", as: bob, counts: false)
            try expect("rm .versionsignore; echo '*.o' > hers; ln hers .versionsignore", as: alice, counts: true)
            try container.remount()
            try expect("true", as: alice, counts: true)
            try expect(make, as: bob, counts: false, "belongs neither")
            try container.remount()
            try expect("true", as: alice, counts: false, "belongs neither")
            return problems
        }
    }

    @Test("A user's own daemon, over the user's directory, heeds the user's file")
    func own() throws {
        try withContainer(named: "ignore", asUser: alice) { container in
            // No other user may enter it.
            let lines = "cd \(container.path); umask 002; echo '*.o' > .versionsignore; echo 1 > f.o; echo 2 > f.o"
            try mustRun("sh", ["-ec", lines], in: "/", asUser: alice)
            let output = try run(
                Workplace.control, ["history", container.file("f.o"), "--json"], in: "/", asUser: alice)
            return output.text.contains("\"id\"") ? ["it has versions: \(output.text)"] : []
        }
    }
}
