// A parent of a container, mounted as a container itself: the inner one is left alone, and keeps its history.

import Foundation
import Support
import Testing

@Suite struct NestedContainerTests {
    private static let moves = """
        import errno, os
        def number(act):
            try: act()
            except OSError as error: return error.errno
            return 0
        print(*[errno.errorcode.get(number(act), 0) for act in (
            lambda: os.rename("f", "inner/f"), lambda: os.rename("inner/g", "g"), lambda: os.link("f", "inner/f"),
            lambda: os.link("inner/g", "g"), lambda: os.rename("d", "inner/d"), lambda: os.rename("inner/d", "e"),
            lambda: os.rename("inner", "other"), lambda: os.rmdir("inner"), lambda: os.rename("inner/g", "inner/d/g"),
            lambda: os.rename("inner/d/g", "inner/g"), lambda: os.rename("f", "ff"), lambda: os.rename("ff", "f"))])
        """

    private func made(_ place: Place) throws {
        try shell("mkdir c/inner c/inner/d c/d; echo one > c/inner/g", in: place.path)
        try place.mount("c/inner")
        try shell("echo two > c/inner/g", in: place.path)
        try place.unmount("c/inner")
    }

    private func versions(_ file: String, _ place: Place) throws -> Int {
        struct History: Decodable {
            struct Version: Decodable { var id: String }
            var versions: [Version]
        }
        let output = try place.ctl("history", file, "--json")
        return (try? JSONDecoder().decode(History.self, from: Data(output.stdout)))?.versions.count ?? 0
    }

    @Test("The outer container shows the inner one as another file system, and touches neither its state nor history")
    func nested() throws {
        try Place.with { place in
            try made(place)
            try place.mount()
            let (path, inner) = (place.path, place.path + "/c/inner")
            for line in [
                "ls -a c/inner | grep versionsfs", "cat c/inner/.versionsfs/format", "mkdir c/inner/.versionsfs",
                "mv c/inner/.versionsfs c/x", "find c -name .versionsfs | grep .",
            ] {
                #expect(try run("sh", ["-c", line], in: path).status != 0, "\(line)")
            }
            let moves = try mustRun("python3", ["-B", "-c", Self.moves], in: path + "/c").text
            let expected = [String](repeating: "EXDEV", count: 6) + ["EBUSY", "EBUSY", "0", "0", "0", "0"]
            #expect(moves.split(separator: " ").map(String.init) == expected)
            try shell("grep -qx two c/inner/g; echo three > c/inner/g; echo new > c/inner/h; rm c/inner/h", in: path)
            #expect(try versions("c/inner/g", place) == 0)
            try shell("echo two > c/f", in: path)
            #expect(try versions("c/f", place) == 2)
            let status = try place.ctl("status", "c").text
            #expect(status.contains("inner is a container of its own"), "\(status)")
            let forgetting = try place.ctl("forget", "c/inner", "--yes")
            #expect(forgetting.status != 0 && !forgetting.errors.contains("forget \(path)"), "\(forgetting.errors)")
            expectError(try place.ctl("mount", "c/inner"), "in the container", Told.outerIsMounted)
            try place.unmount()

            #expect(try place.ctl("status", "c/inner").text.contains("\(Told.liesInContainer) \(path)/c"))
            try place.mount("c/inner")
            #expect(try versions("c/inner/g", place) >= 2)
            #expect(try String(contentsOfFile: inner + "/g", encoding: .utf8) == "three\n")
            #expect(try place.ctl("status", "c/inner").text.contains("\(Told.liesInContainer) \(path)/c"))
            try place.unmount("c/inner")
            for container in ["c", "c/inner"] {
                let check = try place.ctl("check", "--container", container)
                #expect(check.status == 0, "\(container): \(check.text) \(check.errors)")
            }
            let forgotten = try place.ctl("forget", "c", "--yes")
            #expect(forgotten.status == 0, "\(forgotten.errors)")
            #expect(access(path + "/c/.versionsfs", F_OK) != 0 && access(inner + "/.versionsfs/format", F_OK) == 0)
            try place.mount("c/inner")
            #expect(try versions("c/inner/g", place) >= 2)
            try place.unmount("c/inner")
        }
    }

    @Test("A crash of the outer daemon makes nothing of what lies in the inner container")
    func crash() throws {
        try Place.with { place in
            try made(place)
            let child = try place.serve("c")
            try shell("echo two > c/f; echo three > c/inner/g; mv c/inner/d c/inner/e", in: place.path)
            child.kill()
            try place.mount()
            #expect(try versions("c/f", place) == 2 && versions("c/inner/g", place) == 0)
            #expect(try String(contentsOfFile: place.path + "/c/inner/g", encoding: .utf8) == "three\n")
            try place.unmount()
            let check = try place.ctl("check", "--container", "c")
            #expect(check.status == 0, "\(check.text) \(check.errors)")
        }
    }

    @Test("A state that is made, or copied, through the mount makes no container of the directory around it")
    func madeState() throws {
        try Place.with { place in
            try shell("mkdir d; echo one > d/f", in: place.path)
            try place.mount("d")
            try shell("echo two > d/f", in: place.path)
            try place.unmount("d")
            try place.mount()
            let digits = String(repeating: "0123456789abcdef", count: 2)
            try shell(
                """
                mkdir -p sub/.versionsfs/objects; chmod 700 sub/.versionsfs
                echo 'versionsfs 1 container=\(digits) device=\(digits) epoch=1 at=0:1:2' > sub/.versionsfs/format
                cp -a ../d copy; for d in sub copy; do echo 1 > $d/x; echo 2 > $d/x; done
                """, in: place.path + "/c")
            for round in 1...2 {
                for directory in ["sub", "copy"] {
                    let x = "c/\(directory)/x"
                    let before = try versions(x, place)
                    #expect(before >= 2, "\(directory)")
                    try shell("echo more \(round) > \(x).new; mv \(x).new \(x)", in: place.path)
                    #expect(try versions(x, place) == before + 1, "\(directory)")
                    #expect(access("\(place.path)/c/\(directory)/.versionsfs/format", F_OK) == 0)
                }
                try place.unmount()
                try place.mount()
            }
            try shell("mv c/sub c/sub2; mv c/sub2/x c/x; ls -a c/sub2 | grep -q versionsfs", in: place.path)
            #expect(try !place.ctl("status", "c").text.contains("container of its own"))
            try place.unmount()
            let check = try place.ctl("check", "--container", "c")
            #expect(check.status == 0, "\(check.text) \(check.errors)")
            for directory in ["c/sub2", "c/copy"] {
                #expect(try place.ctl("forget", directory, "--yes").status != 0)
                #expect(access("\(place.path)/\(directory)/.versionsfs/format", F_OK) == 0)
            }
            #expect(try place.ctl("forget", "c", "--yes").status == 0)
            let marks = try run("getfattr", ["-R", "-d", "-m", "user.versionsfs", "c/copy", "c/sub2"], in: place.path)
            #expect(marks.text.isEmpty, "\(marks.text)")
        }
    }
}
