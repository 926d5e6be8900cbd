// chattr(1) and extended attributes: the same on the mount as on the file system below.

import Foundation
import Support
import Testing

@Suite(.enabled(if: geteuid() == 0, "immutable and append-only need root"))
struct FileFlagsTests {
    private static let script = #"""
        import errno, os, subprocess, sys

        place = sys.argv[1]
        os.chdir(place)


        def attempt(act):
            try:
                act()
                return "done"
            except OSError as error:
                return errno.errorcode[error.errno]


        def flags(change, path):
            subprocess.run(["chattr", change, path], check=True)


        for flag in ("i", "a"):
            os.mkdir(flag)
            os.mkdir(f"{flag}/inner")
            os.makedirs(f"{flag}/full/inner")
            os.mkdir(f"{flag}2")
            flags("+" + flag, flag)
            flags("+" + flag, flag + "2")
            for name, act in {
                "rmdir": lambda: os.rmdir(flag + "2"), "rmdir within": lambda: os.rmdir(flag + "/inner"),
                "rmdir while it is full": lambda: os.rmdir(flag),
                "rmdir within a full": lambda: os.rmdir(flag + "/full"),
                "rename": lambda: os.rename(flag + "2", "other"), "mkdir within": lambda: os.mkdir(flag + "/new"),
                "replace": lambda: (os.path.isdir("empty") or os.mkdir("empty"), os.rename("empty", flag + "2")),
            }.items():
                print(f"+{flag} {name}: {attempt(act)}")
            for path in (flag, flag + "2"):
                if os.path.isdir(path): flags("-" + flag, path)
            print(f"+{flag} then: {sorted(os.listdir(flag))} {os.path.isdir(flag + '2')}")
            open("file" + flag, "w").close()
            flags("+" + flag, "file" + flag)
            print(f"+{flag} unlink: {attempt(lambda: os.unlink('file' + flag))}")
            flags("-" + flag, "file" + flag)
        open("timed", "w").close()
        os.mkdir("timed-too")
        for name, path in {"file": "timed", "directory": "timed-too"}.items():
            os.utime(path, (1, 1))
            before = os.stat(path)
            for _ in range(2):
                os.stat(path)
            flags("+d", path)
            after = os.stat(path)
            print(f"chattr of a {name}: ctime {'moves' if after.st_ctime_ns > before.st_ctime_ns else 'stays'}, "
                  f"mtime {'moves' if after.st_mtime_ns != before.st_mtime_ns else 'stays'}")
        open("many", "w").close()
        count = int(sys.argv[2])
        for number in range(count):
            os.setxattr("many", f"user.{number:04}.{'n' * 80}", b"v%d" % number)
        names = os.listxattr("many")
        last = sorted(names)[-1]
        print(f"attributes: {len(names)} {len(set(names))} {last[:9]}, {os.getxattr('many', last)}")
        for number in range(count):
            os.removexattr("many", f"user.{number:04}.{'n' * 80}")
        print(f"and then: {len(os.listxattr('many'))}")
        """#

    private func outcomes(in directory: String) throws -> [String] {
        let output = try mustRun("/usr/bin/python3", ["-c", Self.script, directory, "600"])
        return output.text.split(separator: "\n").map(String.init)
    }

    @Test("Flags forbid what they forbid below, move the change time, and hundreds of attributes list whole")
    func same() throws {
        try withFileSystem(.xfs, megabytes: 320) { base in
            guard mkdir(base + "/bare", 0o755) == 0 else { throw Failure.call("mkdir") }
            let expected = try outcomes(in: base + "/bare")
            #expect(expected.contains { $0.hasPrefix("attributes: 600 600 ") }, "\(expected)")
            try withContainer(named: "flags", on: base) { container in
                let found = try outcomes(in: container.path)
                if found.count != expected.count { return ["only \(found.count) lines: \(found)"] }
                return zip(expected, found).filter { $0 != $1 }.map { "below \($0), here \($1)" }
            }
        }
    }
}
