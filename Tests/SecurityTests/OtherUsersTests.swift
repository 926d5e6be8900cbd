// What one user may not learn or do with another's versions and deleted files,
// through mount and socket (DESIGN 3.2, 3.4).

import Foundation
import Support
import Testing

/// Two users of every Debian (games and nobody): fusermount3 wants to know their names.
private let alice: UInt32 = 5
private let bob: UInt32 = 65534

/// What must never be in anything that bob is told.
private let secret = "SECRET"

@Suite struct OtherUsersTests {
    /// A shared directory in which alice has kept things to herself, at least for a time.
    private func prepare(_ container: TestContainer) throws {
        chmod(container.path, 0o1777)
        let script = """
            umask 022
            printf 'SECRET private 1\\n' > private; chmod 600 private; printf 'SECRET private 2\\n' > private
            printf 'SECRET once 1\\n' > once; chmod 600 once; printf 'SECRET once 2\\n' > once
            printf 'open now\\n' > once; chmod 644 once; printf 'open later\\n' > once
            printf 'public 1\\n' > public; printf 'public 2\\n' > public
            printf 'SECRET listed 1\\n' > listed; chmod 600 listed; setfacl -m u:23003:r listed; \
            printf 'SECRET listed 2\\n' > listed
            printf 'SECRET gone\\n' > gone; chmod 600 gone; rm gone
            printf 'left public\\n' > dropped; rm dropped
            mkdir -m 700 closed; printf 'SECRET inner 1\\n' > closed/inner; printf 'SECRET inner 2\\n' > closed/inner
            printf 'SECRET fallen\\n' > closed/fallen; rm closed/fallen
            mkdir -m 700 lost; printf 'SECRET lost\\n' > lost/child; rm -r lost
            mkdir mine; chmod 755 mine; printf 'kept 1\\n' > mine/file; printf 'kept 2\\n' > mine/file
            """
        try mustRun("sh", ["-ec", script], in: container.path, asUser: alice)
        for name in ["private", "public"] { try container.must("simulate", "conflict", name, asUser: alice) }
        mkdir(container.file("bobs"), 0o755)
        chown(container.file("bobs"), bob, bob)
    }

    /// One thing that bob tries: a line of shell in the container.
    private struct Attempt {
        var line: String
        /// It may succeed as long as it tells no secret and changes nothing.
        var isHarmless = false
    }

    private func ids(_ container: TestContainer, of file: String) throws -> [String] {
        struct History: Decodable {
            struct Version: Decodable { var id: String; var kind: String }; var versions: [Version]
        }
        let output = try container.must("history", file, "--json", asUser: alice)
        return try JSONDecoder().decode(History.self, from: Data(output.stdout)).versions.map(\.id)
    }

    private func deletions(_ container: TestContainer) throws -> [String: String] {
        struct Entry: Decodable { var id: String; var path: String }
        let output = try container.must("deleted", "--json", asUser: alice)
        let entries = try JSONDecoder().decode([Entry].self, from: Data(output.stdout))
        return Dictionary(entries.map { ($0.path, $0.id) }, uniquingKeysWith: { first, _ in first })
    }

    /// Alice's things, as she sees them: nothing that bob does changes it.
    private func state(_ container: TestContainer) throws -> String {
        let script = """
            for f in private once public listed closed/inner mine/file; do echo "== $f"; cat $f; stat -c '%a %u' $f; \
            ls .versions/$f/* 2>/dev/null; ls $(dirname $f)/.versions/$(basename $f)/*; done
            ls -R .versions/.deleted closed/.versions/.deleted
            """
        let tree = try run("sh", ["-c", script], in: container.path, asUser: alice).text
        let config = try container.must("config", "--json").text
        return tree + "\n" + config
    }

    @Test("Under root's daemon another user reads no secret and changes nothing, through the mount")
    func mount() throws {
        try withContainer(named: "users") { container in
            try prepare(container)
            let attempts = [
                "cat .versions/private/history/* .versions/private/conflicts/* .versions/private/base/*",
                "cat .versions/once/history/*", "cat .versions/listed/history/*", "cat .versions/.deleted/gone",
                "cat closed/.versions/inner/history/*", "cat .versions/.deleted/lost/child", "ls closed/.versions",
                "ls .versions/.deleted/lost", "cat closed/.versions/.deleted/fallen",
                "rm -f .versions/private/conflicts/*; ls .versions/private/conflicts",
                "rm -f .versions/public/conflicts/*; test -z \"$(ls .versions/public/conflicts)\"",
                "mv .versions/public/conflicts/* public", "mv .versions/private/conflicts/* private",
                "rm -f .versions/public/history/*; test -z \"$(ls .versions/public/history)\"",
                "echo x > .versions/public/history/new", "ln .versions/.deleted/gone bobs/gone",
                "ln .versions/private/history/* bobs/", "mv .versions/.deleted/lost bobs/lost",
                "mv mine/.versions/file bobs/file", "rmdir .versions/.deleted/lost", "rm .versions/.deleted/gone",
                "truncate -s 0 .versions/.deleted/gone", "chmod 644 .versions/.deleted/gone",
                "setfattr -n user.x -v y .versions/.deleted/gone", "echo x >> .versions/private/history/*",
            ]
            return try check(container, attempts.map { Attempt(line: $0) })
        }
    }

    @Test("Under root's daemon another user reads no secret and changes nothing, through the socket")
    func socket() throws {
        try withContainer(named: "users") { container in
            try prepare(container)
            let ctl = Workplace.control
            var attempts: [Attempt] = []
            for file in ["private", "listed", "closed/inner"] {
                for id in try ids(container, of: file) {
                    for line in [
                        "show \(file) --version \(id)", "show \(id)", "diff \(file) --version \(id)",
                        "restore \(file) --version \(id) --to bobs/\(id)", "restore \(id) --version \(id)",
                        "purge \(file) --version \(id)", "pin \(file) --version \(id)",
                        "resolve \(file) --keep \(id)",
                    ] { attempts.append(Attempt(line: "\(ctl) \(line)")) }
                }
            }
            let once = try ids(container, of: "once")
            for id in once.dropFirst(2) {
                attempts.append(Attempt(line: "\(ctl) show once --version \(id)"))
                attempts.append(Attempt(line: "\(ctl) restore once --version \(id) --to bobs/\(id)"))
            }
            for id in try ids(container, of: "public") + ids(container, of: "mine/file") {
                for line in [
                    "restore \(id) --version \(id)", "purge \(id)", "pin \(id) --version \(id)",
                    "resolve \(id) --keep \(id)",
                ] {
                    attempts.append(Attempt(line: "\(ctl) \(line)"))
                }
            }
            for (path, id) in try deletions(container) where path != "dropped" {
                attempts.append(Attempt(line: "\(ctl) undelete \(id) --to bobs/x"))
                attempts.append(Attempt(line: "\(ctl) undelete \(path) --to bobs/y"))
                attempts.append(Attempt(line: "\(ctl) show \(id)"))
                attempts.append(Attempt(line: "\(ctl) purge \(id)"))
            }
            attempts += [
                "resolve private --keep current", "resolve public --newest", "resolve public --keep all",
                "simulate conflict public",
                "simulate conflict private", "restore mine --at 1h", "purge public", "purge mine/file",
                "config stale-writes refuse", "check --repair", "restore closed --at 1s --to bobs/closed",
            ].map { Attempt(line: "\(ctl) \($0)") }
            attempts += [
                "history private --json", "history once --json", "history listed --json", "history closed/inner --json",
                "conflicts --json", "deleted --json", "status --json", "space --json", "claims --json", "config --json",
                "purge --deleted", "thin", "resolve --all --newest .", "restore . --at 1s --to bobs/then",
            ].map { Attempt(line: "\(ctl) \($0)", isHarmless: true) }
            return try check(container, attempts)
        }
    }

    /// Bob tries everything; then alice looks.
    private func check(_ container: TestContainer, _ attempts: [Attempt]) throws -> [String] {
        let before = try state(container)
        var problems: [String] = []
        for attempt in attempts {
            let output = try run("sh", ["-c", attempt.line], in: container.path, asUser: bob)
            if (output.text + output.errors).contains(secret) { problems.append("told a secret: \(attempt.line)") }
            if output.status == 0, !attempt.isHarmless {
                problems.append("went through: \(attempt.line): \(output.text)")
            }
            if output.status > 125 { problems.append("\(attempt.line): status \(output.status)") }
            let found = try run("grep", ["-rl", secret, container.file("bobs")])
            if !found.text.isEmpty {
                problems.append("a secret is in \(found.text) after \(attempt.line)")
                try shell("rm -rf bobs/*", in: container.path)
            }
        }
        let after = try state(container)
        if after != before { problems.append("what alice sees was changed:\n\(before)\nis now\n\(after)") }
        return problems
    }

    @Test("What bob is told of alice's names ends where he may not look")
    func names() throws {
        try withContainer(named: "users") { container in
            try prepare(container)
            var problems: [String] = []
            for line in [
                "deleted --json", "conflicts --json", "history closed/inner", "deleted closed", "space closed",
            ] {
                let output = try run("sh", ["-c", "\(Workplace.control) \(line)"], in: container.path, asUser: bob)
                for name in ["inner\"", "fallen", "child"] where output.text.contains(name) {
                    problems.append("\(line) tells of \(name): \(output.text)")
                }
            }
            return problems
        }
    }

    @Test("A user's daemon serves its user and root on its socket, and nobody else")
    func usersSocket() throws {
        try withContainer(named: "own", asUser: alice) { container in
            // Not `in:` the container: root, who starts it, may not even enter it.
            try mustRun(
                "sh", ["-ec", "cd \(container.path); printf 'SECRET 1' > f; printf 'SECRET 2' > f"], asUser: alice)
            let link = try mustRun("readlink", [container.file(".versions/.socket")], asUser: alice).text
            let talk = """
                import socket,sys
                s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1])
                s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"history","params":{"target":{"path":"f"}}}\\n')
                print(s.recv(65536).decode())
                """
            var problems: [String] = []
            let bobs = try run("/usr/bin/python3", ["-c", talk, link], asUser: bob)
            if bobs.status == 0, bobs.text.contains("versions") { problems.append("bob is served: \(bobs.text)") }
            let roots = try run("/usr/bin/python3", ["-c", talk, link])
            if !roots.text.contains("\"versions\"") {
                problems.append("root is not served: \(roots.text) \(roots.errors)")
            }
            // Without allow_other the kernel lets nobody else in, root included.
            for user in [bob, nil] {
                let looked = try run("ls", [container.path], asUser: user)
                if looked.status == 0 { problems.append("\(user.map { "\($0)" } ?? "root") may list a user's mount") }
            }
            return problems
        }
    }

    @Test("A user's daemon with allow_other shows others only what modes allow")
    func usersMountForOthers() throws {
        let place = try Workplace.fresh("others")
        defer { _ = try? run("rm", ["-rf", place]) }
        // fuse.conf is the machine's: another one is laid over it where nobody else sees that.
        let script = """
            set -e
            mount --make-rprivate /
            printf 'user_allow_other\\n' > \(place)/fuse.conf
            mount --bind \(place)/fuse.conf /etc/fuse.conf
            mkdir \(place)/c; chown \(alice):\(alice) \(place)/c; chmod 1777 \(place)/c
            as() { setpriv --reuid=$1 --regid=$1 --clear-groups -- sh -c "$2"; }
            as \(alice) '\(Workplace.daemon) \(place)/c -o allow_other'
            trap 'as \(alice) "fusermount3 -u \(place)/c"' EXIT
            cd \(place)/c
            as \(alice) "umask 022; printf 'SECRET 1' > private; chmod 600 private; printf 'SECRET 2' > private
                printf one > public; printf two > public; printf 'SECRET' > gone; chmod 600 gone; rm gone"
            as \(bob) 'cat public .versions/public/history/*'; echo
            as \(bob) 'cat private .versions/private/history/* .versions/.deleted/gone; \
            mv .versions/.deleted/gone back' || true
            as \(bob) '\(Workplace.control) history private' || true
            as \(bob) '\(Workplace.control) history public' || true
            cd /
            """
        let output = try run("unshare", ["-m", "sh", "-c", script], seconds: 60)
        #expect(output.status == 0, "\(output.text)\n\(output.errors)")
        #expect(output.text.contains("twoone"), "bob does not see what is public: \(output.text) \(output.errors)")
        #expect(!output.text.contains(secret), "\(output.text)")
    }
}
