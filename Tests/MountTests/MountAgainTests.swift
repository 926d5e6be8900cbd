// `umount DIR && mount DIR`: the mount waits for the daemon before it, which writes down the changes that it has in
// hand.

import CTestSupport
import Foundation
import Support
import Testing

@Suite(.enabled(if: getuid() == 0, "umount(2) takes root")) struct MountAgainTests {
    private func inode(of path: String) -> ino_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_ino : nil
    }

    /// Waits until a process waits for a lock on a file, as `/proc/locks` has it. The kernel has no event for that.
    private func isAwaited(_ inode: ino_t) throws -> Bool {
        let deadline = Deadline.after(seconds: 20)
        while !deadline.isOver {
            let table = try String(contentsOfFile: "/proc/locks", encoding: .utf8)
            let waits = table.split(separator: "\n").contains { $0.contains("->") && $0.contains(":\(inode) ") }
            if waits { return true }
            _ = Deadline.after(seconds: 0.02).poll([])
        }
        return false
    }

    @Test("A mount waits for a daemon that is ending, and then has what it has saved")
    func waits() throws {
        try Place.with { place in
            let point = place.path + "/c"
            try place.mount()
            try place.unmount()
            let format = try #require(inode(of: point + "/.versionsfs/format"))
            let first = try place.serve("c")
            try shell("echo two > c/f", in: place.path)
            // It is held up at its end, however fast it would be.
            Glibc.kill(first.pid, SIGSTOP)
            defer { Glibc.kill(first.pid, SIGCONT) }
            #expect(umount2(point, 0) == 0)
            let second = try Child(.init(Workplace.daemon, [point]))
            #expect(try isAwaited(format), "no mount waits for the lock")
            #expect(second.poll() == nil, "the mount has not waited")
            Glibc.kill(first.pid, SIGCONT)
            #expect(try second.wait(.after(seconds: 30)) == 0)
            #expect(try first.wait(.after(seconds: 30)) == 0)
            // The control socket is the second's.
            let history = try place.ctl("history", "c/f", "--json")
            #expect(history.status == 0 && history.text.components(separatedBy: "\"saved\"").count > 2, "\(history)")
            try place.unmount()
        }
    }

    @Test("umount(8) and mount again, ten times, at once")
    func tenTimes() throws {
        try Place.with { place in
            let point = place.path + "/c"
            for round in 1...10 {
                let mounted = try place.daemon("c")
                #expect(mounted.status == 0, "round \(round): \(mounted.errors)")
                try shell("echo \(round) > c/f", in: place.path)
                #expect(umount2(point, 0) == 0, "round \(round)")
            }
            try place.mount()
            #expect(try shell("cat c/f", in: place.path).text == "10")
            try place.unmount()
        }
    }

    @Test("status says of a container whose daemon is ending that it is")
    func status() throws {
        try Place.with { place in
            try place.mount()
            try place.unmount()
            // As a daemon holds them: the lock of the container, and the sign of its end.
            let files = ["format", "staging"].map { open(place.path + "/c/.versionsfs/" + $0, O_RDONLY | O_CLOEXEC) }
            defer { files.forEach { close($0) } }
            #expect(vfs_flock(files[0], LOCK_EX | LOCK_NB) == 0 && vfs_flock(files[1], LOCK_SH | LOCK_NB) == 0)
            let status = try place.ctl("status", "c")
            #expect(status.status != 0 && status.errors.contains("its daemon is ending"), "\(status)")
        }
    }
}
