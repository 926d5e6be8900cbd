// The daemon's log: in a file or the journal, named by `status`, shown and followed by `logs`.

import Foundation
import Support
import Testing

@Suite("versionsctl logs", .timeLimit(.minutes(5))) struct LogsTests {
    private static let schemas = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path + "/docs/schemas"

    /// A line of bash on a machine without a journal, with a list and logs of its own.
    private func bash(_ line: String, _ place: Place, journal: String = "/nonexistent") throws -> Output {
        try place.bash("export XDG_STATE_HOME=$PWD/s VERSIONSFS_JOURNAL=\(journal)\n" + line)
    }

    private func must(_ line: String, _ place: Place, journal: String = "/nonexistent") throws -> Output {
        let output = try bash(line, place, journal: journal)
        guard output.status == 0 else { throw Failure(line, evidence: output.errors) }
        return output
    }

    @Test("Without a journal the log is a file that status names, and that is shown, mounted or not")
    func file() throws {
        try Place.with { place in
            expectError(try bash("mkdir d; $CTL logs d", place), "not in a container")
            _ = try must("mkdir s; $CTL mount c", place)
            let status = try must("$CTL status c", place).text.split(separator: "\n")
            let log = try #require(status.first { $0.hasPrefix("log ") }?.split(separator: " ").last.map(String.init))
            #expect(log.hasPrefix(place.path + "/s/versionsfs/logs/c-") && log.hasSuffix(".log"), "\(log)")
            let names = status.map { $0.prefix { $0 != " " } }
            #expect(names.first == "mounted" && names.last == "transport", "\(names)")
            let mounted = try must("$CTL logs c", place)
            #expect(mounted.text.contains(" notice: mounted container=\(place.path)/c"), "\(mounted.text)")
            #expect(try String(contentsOfFile: log, encoding: .utf8) == mounted.text + "\n")
            _ = try must("$CTL unmount c", place)
            let last = try must("$CTL logs c -n 1", place).text
            #expect(last.contains(" notice: unmounted ") && !last.contains("\n"), "\(last)")
            let json = try must("$CTL logs c --json", place)
            #expect(try Schema("logs", in: Self.schemas).problems(json.stdout).isEmpty, "\(json.text)")
            let line = try must("timeout 20 $CTL logs c -n 1 -f --json | head -n 1", place)
            #expect(try Schema("logs-follow", in: Self.schemas).problems(line.stdout).isEmpty, "\(line.text)")
        }
    }

    @Test("logs -f prints what is there, and waits for what comes")
    func follow() throws {
        try Place.with { place in
            _ = try must("mkdir s; mkfifo lines; $CTL mount c", place)
            let output = try must(
                """
                timeout 60 $CTL logs c -f > lines & follower=$!
                exec 3< lines
                while read -t 50 -u 3 line; do
                    echo "$line"
                    case $line in *'notice: mounted'*) $CTL unmount c ;; *'notice: unmounted'*) break ;; esac
                done
                kill $follower
                """, place)
            #expect(output.text.contains("notice: unmounted"), "\(output.text) \(output.errors)")
        }
    }

    @Test("Where a journal runs the log goes there, with the container in a field; journalctl shows it")
    func journal() throws {
        try Place.with { place in
            let socket = try FakeJournal(at: place.path + "/j")
            _ = try must("mkdir s bin; $CTL mount c", place, journal: socket.path)
            let entry = try #require(try socket.entry())
            let fields = entry.mapValues { String(decoding: $0, as: UTF8.self) }
            #expect(fields["MESSAGE"]?.hasPrefix("mounted container=") == true, "\(fields)")
            #expect(fields["PRIORITY"] == "5" && fields["SYSLOG_IDENTIFIER"] == "versionsfs")
            #expect(fields["VERSIONSFS_CONTAINER"] == place.path + "/c")
            let status = try must("$CTL status c --json", place, journal: socket.path).text
            #expect(status.contains(#""log" : "journal""#), "\(status)")
            let missing = try bash("PATH=/nonexistent \"$CTL\" logs c", place, journal: socket.path)
            expectError(missing, "no journalctl", "PATH")
            try must(
                """
                cat > bin/journalctl <<'END'
                #!/bin/bash
                case $* in
                    *json*) echo '{"__REALTIME_TIMESTAMP":"1764000000000000","MESSAGE":"hello","PRIORITY":"4"}' ;;
                    *) printf '%s\\n' "$@" ;;
                esac
                END
                chmod 755 bin/journalctl
                """, place).expectQuiet()
            let shown = try must("PATH=$PWD/bin:$PATH $CTL logs c -n 7 -f", place, journal: socket.path).text
            #expect(shown.split(separator: "\n") == [
                "--quiet", "-t", "versionsfs", "-n", "7", "-f", "VERSIONSFS_CONTAINER=\(place.path)/c",
            ], "\(shown)")
            let json = try must("PATH=$PWD/bin:$PATH $CTL logs c --json", place, journal: socket.path)
            #expect(try Schema("logs", in: Self.schemas).problems(json.stdout).isEmpty, "\(json.text)")
            #expect(json.text.contains(#""level" : "warning""#), "\(json.text)")
            _ = try must("$CTL unmount c", place, journal: socket.path)
        }
    }

    @Test("With -f the log goes to standard error, which logs says; of a service it goes to the journal")
    func foreground() throws {
        try Place.with { place in
            let child = try place.serve("c")
            expectError(try bash("$CTL logs c", place), "standard error", "-f")
            try place.unmount()
            #expect(try child.wait(.after(seconds: 60)) == 0)
            let socket = try FakeJournal(at: place.path + "/j")
            // As systemd starts it: standard error is a stream that the environment names.
            let stream = try mustRun("sh", ["-c", ": > stream; stat -c %d:%i stream"], in: place.path).text
            let (input, errors) = (open("/dev/null", O_RDONLY), open(place.path + "/stream", O_WRONLY))
            defer {
                close(input)
                close(errors)
            }
            var start = Child.Start(Workplace.daemon, [place.path + "/c", "-f"])
            start.descriptors = [input, errors, errors]
            start.environment = ["JOURNAL_STREAM": stream, "VERSIONSFS_JOURNAL": socket.path]
            let service = try Child(start)
            let came = try Mounts.wait(.after(seconds: 20), watching: service) { mounts in
                mounts.contains { $0.path == place.path + "/c" }
            }
            #expect(came)
            #expect(try bash("$CTL status c", place).text.contains("log          journal"))
            try place.unmount()
            #expect(try service.wait(.after(seconds: 60)) == 0)
            #expect(try socket.entry()?["VERSIONSFS_CONTAINER"] == Array("\(place.path)/c".utf8))
        }
    }

    @Test("The log of a daemon that is stopped is shown")
    func stopped() throws {
        try Place.with { place in
            _ = try must("mkdir s; $CTL mount c", place)
            let found = try run("pgrep", ["-f", "versionsfs --ready 3 \(place.path)/c"]).text
            let process = try #require(pid_t(found), "\(found)")
            kill(process, SIGSTOP)
            defer { kill(process, SIGCONT) }
            let shown = try must("$CTL logs c; cd c && $CTL logs -n 1", place).text
            kill(process, SIGCONT)
            #expect(shown.contains("notice: mounted"), "\(shown)")
            _ = try must("$CTL unmount c", place)
        }
    }

    @Test("A container that has the places of logs in it keeps its log and the list outside")
    func inside() throws {
        try Place.with { place in
            let line = "export XDG_STATE_HOME=$PWD/c/s VERSIONSFS_JOURNAL=/nonexistent; "
            let output = try place.bash(
                line + "mkdir c/s; $CTL mount c && $CTL status c | grep '^log '; $CTL list; $CTL unmount c; "
                    + "$CTL forget c --yes; $CTL list > /dev/null")
            #expect(output.text.contains("/run/versionsfs/logs/c-") || getuid() != 0, "\(output.text) \(output.errors)")
            #expect(output.text.contains("\(place.path)/c"), "\(output.text)")
            #expect(!FileManager.default.fileExists(atPath: place.path + "/c/s/versionsfs"))
            let log = output.text.split(separator: "\n").first?.split(separator: " ").last.map(String.init) ?? ""
            // A container that is forgotten takes its log along.
            #expect(!FileManager.default.fileExists(atPath: log), "\(log)")
        }
    }
}

extension Output {
    fileprivate func expectQuiet() { #expect(stdout.isEmpty && stderr.isEmpty) }
}
