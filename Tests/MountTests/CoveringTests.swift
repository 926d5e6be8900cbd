// Mount points that would cover the container's own directory: refused before anything is mounted. Each test has a
// mount namespace of its own, so that what fails harms nobody else.

import CTestSupport
import Foundation
import Support
import Testing

@Suite(.enabled(if: geteuid() == 0, "making a mount namespace needs root"))
struct CoveringTests {
    /// Runs a command where only it sees what it mounts, below the place.
    ///
    /// - Parameter prelude: a line of bash before it.
    /// - Returns: what it said; its standard output is what was mounted below the place afterwards.
    private func apart(_ place: Place, _ words: [String], prelude: String = ":") throws -> Output {
        let script = """
            set -e
            \(prelude)
            mounts() { awk -v p="$PWD/" 'index($5, p) == 1 && / fuse.versionsfs / { print $5 }' /proc/self/mountinfo; }
            status=0; "$@" > /dev/null || status=$?
            mounts
            # What was mounted all the same ends with its mounts.
            mounts | tac | while read -r point; do umount -l "$point"; done
            exit $status
            """
        return try MountNamespaces.making {
            try run(
                "unshare", ["-m", "--propagation", "private", "bash", "-c", script, "bash"] + words, in: place.path,
                environment: ["CTL": Workplace.control], seconds: 60)
        }
    }

    @Test("Over the place of its control socket")
    func socket() throws {
        try Place.with { place in
            // What serves nobody yet would wait for itself.
            let script = """
                mount -t tmpfs none /run; mkdir /run/versionsfs
                timeout 20 "$DAEMON" c "$1"; status=$?
                while umount -f "$1" 2> /dev/null || umount -l "$1" 2> /dev/null; do :; done
                exit $status
                """
            for point in ["/run", "/run/versionsfs"] {
                let output = try MountNamespaces.making {
                    try run(
                        "unshare", ["-m", "--propagation", "private", "bash", "-c", script, "bash", point],
                        in: place.path, environment: ["DAEMON": Workplace.daemon], seconds: 60)
                }
                expectError(output, "the control socket in /run/versionsfs", Told.elsewhere)
            }
        }
    }

    @Test("Above the directory, in it, and both through a bind")
    func covering() throws {
        try Place.with { place in
            try shell(
                "mkdir -p up/down/c/inner b; echo one > up/down/c/f; mkdir -m 700 up/down/c/.versionsfs",
                in: place.path)
            let (control, daemon) = ([Workplace.control, "mount"], [Workplace.daemon])
            for program in [control, daemon] {
                for (point, words) in [
                    ("up", Told.wouldCover), ("up/down", Told.wouldCover), ("up/down/c/inner", "in"),
                    ("up/down/c/.versionsfs", "itself"),
                ] {
                    let output = try apart(place, program + ["up/down/c", point])
                    expectError(output, words, Told.elsewhere)
                    #expect(output.text.isEmpty, "\(program) \(point) mounted \(output.text)")
                }
                for point in ["b", "b/down", "b/down/c/inner"] {
                    let output = try apart(
                        place, program + ["up/down/c", point], prelude: "mount --bind up b")
                    expectError(output, Told.elsewhere)
                    #expect(output.text.isEmpty, "\(program) \(point) mounted \(output.text)")
                }
            }
            // Nothing was made, and beside it it may be.
            #expect(access(place.path + "/up/down/c/.versionsfs/format", F_OK) != 0)
            let beside = try apart(place, control + ["up/down/c", "b"])
            #expect(beside.status == 0, "\(beside.errors)")
            #expect(beside.text.split(separator: "\n").count == 2, "\(beside.text)")
        }
    }
}
