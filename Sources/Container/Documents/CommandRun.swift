// Runs a small program with a time limit and takes its output.

import CLinux
import Glibc

/// One run of a program that reads descriptors 3 and up and writes its result to standard output.
struct CommandRun {
    private let path: String
    private let arguments: [String]
    private let descriptors: [Int32]
    private let milliseconds: Int32

    init(_ path: String, _ arguments: [String], descriptors: [Int32], milliseconds: Int32) {
        self.path = path
        self.arguments = arguments
        self.descriptors = descriptors
        self.milliseconds = milliseconds
    }

    /// Its exit status and output; nil if it could not be run, was killed, or took too long.
    func output() -> (status: Int32, output: [UInt8])? {
        var ends: [Int32] = [-1, -1]
        guard linux_pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        guard let child = start(writingTo: ends[1]) else {
            close(ends[1])
            return nil
        }
        close(ends[1])
        let output = collect(ends[0])
        if output == nil { kill(child, SIGKILL) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard let output, status & 0x7f == 0 else { return nil }
        return ((status >> 8) & 0xff, output)
    }

    private func start(writingTo output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        // First to numbers outside of both sets, then to the final ones.
        let beyond = max(descriptors.max() ?? 0, 2 + Int32(descriptors.count)) + 1
        for (index, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, beyond + Int32(index))
        }
        for index in descriptors.indices {
            posix_spawn_file_actions_adddup2(&actions, beyond + Int32(index), 3 + Int32(index))
        }
        // The program must not run or touch a file of the mount: the root directory is always outside it.
        linux_spawn_chdir(&actions, "/")
        let command = ([path] + arguments).map { (word: String) in strdup(word) }
        defer { command.forEach { free($0) } }
        var child: pid_t = 0
        let environment: [UnsafeMutablePointer<CChar>?] = [nil]
        guard posix_spawn(&child, path, &actions, nil, command + [nil], environment) == 0 else { return nil }
        return child
    }

    private func collect(_ input: Int32) -> [UInt8]? {
        let deadline = Scheduler.now + Int64(milliseconds) * 1_000_000
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let left = (deadline - Scheduler.now) / 1_000_000
            var waiting = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&waiting, 1, Int32(left)) > 0 else { return nil }
            let count = read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return output }
            output += buffer.prefix(count)
        }
    }
}
