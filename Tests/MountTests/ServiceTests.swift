// Mounting as the system and newcomers do: options of fstab, the helper of mount(8), and `Mount/up`.

import Foundation
import Support
import Testing

@Suite("Mounting as the system does") struct ServiceTests {
    /// The tree that the tests were built from.
    private static let tree = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    private static let programs = (Workplace.control as NSString).deletingLastPathComponent

    /// The options that the kernel has for a mount.
    private func options(_ point: String) throws -> Set<String> {
        Set(
            try mustRun("findmnt", ["-n", "-o", "OPTIONS", "--mountpoint", point]).text.split(separator: ",")
                .map(String.init))
    }

    @Test("options that are others' business are passed over, and the kernel's are passed on")
    func fstab() throws {
        try Place.with { place in
            // First: who makes a mount namespace beside this test has a copy of what is mounted, and its daemon lives
            // on.
            let unknown = try place.ctl("mount", "c", "-o", "no-such-option")
            #expect(unknown.status != 0 && unknown.errors.contains("no-such-option"), "\(unknown.errors)")
            try place.mount(
                "c", "x-systemd.automount,x-gvfs-show,_netdev,nofail,user,noauto,defaults,nosuid,nodev,noexec")
            let found = try options(place.path + "/c")
            #expect(found.isSuperset(of: ["nosuid", "nodev", "noexec", "rw"]), "\(found)")
            #expect(try shell("cat c/f", in: place.path).text == "one")
            try place.unmount()
        }
    }

    @Test("the helper of mount(8) mounts with what that gives it, and waits until the mount answers")
    func helper() throws {
        let helper = Self.tree + "/Mount/service/mount.fuse.versionsfs"
        let path = ["PATH": Self.programs + ":/usr/sbin:/usr/bin:/sbin:/bin"]
        try Place.with { place in
            let directory = place.path + "/c"
            let dry = try run("sh", [helper, directory, directory, "-f"], in: "/", environment: path)
            #expect(try dry.status == 0 && !Mounts.all().contains { $0.path == directory })
            #expect(try run("sh", [helper, directory], in: "/", environment: path).status == 1)
            let mounted = try run(
                "sh", [helper, directory, directory, "-n", "-s", "-v", "-o", "rw,nosuid,x-initrd.mount"], in: "/",
                environment: path)
            // As mount(8) itself, it says nothing where all went well.
            #expect(mounted.status == 0 && mounted.text.isEmpty && mounted.errors.isEmpty, "\(mounted)")
            #expect(try options(directory).contains("nosuid"))
            #expect(try shell("echo two > f; cat f", in: directory).text == "two")
            try place.unmount()
            let wrong = try run("sh", [helper, place.path + "/none", directory, "-o", "rw"], in: "/", environment: path)
            #expect(wrong.status == 1 && wrong.errors.contains("none"), "\(wrong.errors)")
        }
    }

    /// Builds nothing: the programs are there.
    private static let swift = """
        #!/bin/sh
        case "$*" in
            --version) exec "$REAL" --version ;;
            *--show-bin-path*) echo "$BIN" ;;
            *) echo "$*" >> "$LOG" ;;
        esac
        """

    @Test("Mount/up makes the directory, builds, mounts it and prints what to try, which works; it can be repeated")
    func up() throws {
        try Place.with { place in
            try mustRun("mkdir", ["bin"], in: place.path)
            try mustRun("tee", ["bin/swift"], in: place.path, input: Array(Self.swift.utf8))
            try mustRun("chmod", ["755", "bin/swift"], in: place.path)
            let environment = [
                "PATH": place.path + "/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"),
                "REAL": try mustRun("sh", ["-c", "command -v swift"]).text, "BIN": Self.programs,
                "LOG": place.path + "/log",
            ]
            func up(_ arguments: String...) throws -> Output {
                try run(Self.tree + "/Mount/up", arguments, in: place.path, environment: environment)
            }
            let first = try up("new/notes")
            #expect(first.status == 0, "\(first.errors)")
            let built = try String(contentsOfFile: place.path + "/log", encoding: .utf8)
            for product in ["versionsfs", "versionsctl"] {
                #expect(built.contains("-c release --static-swift-stdlib --product \(product)"))
            }
            // What it prints, up to where an ID has to be chosen.
            let lines = first.text.split(separator: "\n").filter { $0.hasPrefix("    ") }.prefix {
                !$0.contains(" ID ")
            }
            #expect(lines.count >= 5)
            let tried = try run("bash", ["-ec", lines.joined(separator: "\n")], in: place.path)
            #expect(tried.status == 0 && tried.text.contains("2 versions"), "\(tried.text) \(tried.errors)")
            #expect(try shell("cat note.txt", in: place.path + "/new/notes").text == "two")
            let again = try up("new/notes")
            #expect(again.status == 0 && again.text.contains("is mounted already"), "\(again.text) \(again.errors)")
            try place.unmount("new/notes")
            #expect(try up("a", "b").status == 64 && up().status == 64 && up("-x").status == 64)
        }
    }
}
