// The change into a daemon: the command starts itself again in a session of its own and waits until the mount answers.

import CLinux
import ControlProtocol
import Glibc

/// The two ends of a start: the waiting command, and the daemon that reports that it is ready.
enum Detaching {
    /// Starts the daemon and waits for its report.
    /// - Returns: the exit status of the command.
    static func startAndWait(_ words: [[UInt8]]) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return fail("a pipe cannot be made: \(String(cString: strerror(errno)))") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Messages of the start reach the waiting command; the daemon closes its streams when it is ready.
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, linux_POSIX_SPAWN_SETSID)
        var command = ["versionsfs", "--ready", "3"].map { (word: String) in strdup(word) }
        command += words.map { word in strdup(word.map { CChar(bitPattern: $0) } + [0]) }
        defer { command.forEach { free($0) } }
        var child: pid_t = 0
        let result = posix_spawn(&child, "/proc/self/exe", &actions, &attributes, command + [nil], environ)
        close(ends[1])
        guard result == 0 else { return fail("the daemon cannot be started: \(String(cString: strerror(result)))") }
        return waitForWord(ends[0], of: child)
    }

    private static func waitForWord(_ descriptor: Int32, of child: pid_t) -> Int32 {
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count == 1 { return Int32(byte) }
            break
        }
        // The daemon ended without a report; its message is on standard error.
        var status: Int32 = 0
        waitpid(child, &status, 0)
        let code = (status >> 8) & 0xff
        return status & 0x7f == 0 && code != 0 ? code : 1
    }

    /// Tells the waiting command that the mount answers, and releases the terminal.
    static func ready(_ descriptor: Int32) {
        var byte: UInt8 = 0
        _ = write(descriptor, &byte, 1)
        close(descriptor)
        let null = open("/dev/null", O_RDWR)
        guard null >= 0 else { return }
        for stream: Int32 in 0...2 { dup2(null, stream) }
        if null > 2 { close(null) }
    }

    private static func fail(_ text: String) -> Int32 {
        complain(Diagnostic(nil, text, hint: "try again when less is running"))
        return 1
    }
}
