// Files whose mode forbids their owner to read them, in the mount of that owner.

import Foundation
import Support
import Testing

@Suite("The engine: files that their owner may not read", .serialized)
struct EngineUnreadableTests {
    private static let user: UInt32 = 65534

    @Test(
        "They are saved, removed, replaced and undeleted like others",
        .enabled(if: getuid() == 0, "root changes users"))
    func kept() throws {
        try withContainer(
            named: "unreadable", asUser: Self.user, environment: ["VERSIONSFS_ENGINE": "1"]
        ) { container in
            var problems: [String] = []
            // Root may not enter the mount of another user.
            func expect(_ line: String, _ text: String = "") throws {
                let line = "cd \(container.path); \(line)"
                let found = try run("/bin/sh", ["-ec", line], in: "/", asUser: Self.user)
                if found.text != text || found.status != 0 { problems.append("\(line): \(found.text) \(found.errors)") }
            }
            try expect("echo removed > removed; chmod 000 removed; rm -f removed")
            try expect("echo old > replaced; chmod 000 replaced; echo new > new; mv -f new replaced")
            try expect("umask 777; echo born > born; umask 022; rm -f born")
            try expect("echo one > written; chmod 200 written; echo two > written; echo three >> written")
            try expect("echo named > named; chmod 000 named; ln named other; rm -f named; rm -f other")
            try expect("echo there > there; chmod 000 there")
            problems += try container.checkFindings(asUser: Self.user)
            try container.unmount()
            problems += try container.checkFindings(asUser: Self.user)
            try container.mount()
            for (name, text) in [("removed", "removed"), ("born", "born"), ("other", "named")] {
                try expect("\(Workplace.control) undelete \(name) > /dev/null; stat -c %a \(name)", "0")
                try expect("chmod 600 \(name); cat \(name)", text)
            }
            try expect("chmod 600 written there; cat replaced written there", "new\ntwo\nthree\nthere")
            return problems
        }
    }
}
