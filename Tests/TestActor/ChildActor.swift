// An actor's own child: another actor at the other end of two pipes.

import CTestSupport
import Glibc

/// A child that understands the same requests.
final class ChildActor {
    private(set) var pid: pid_t = 0
    private let requests: Int32
    private let answers: Int32

    init(_ program: String) throws {
        var down: [Int32] = [-1, -1]
        var up: [Int32] = [-1, -1]
        guard pipe2(&down, O_CLOEXEC) == 0, pipe2(&up, O_CLOEXEC) == 0 else { throw CallFailed() }
        (requests, answers) = (down[1], up[0])
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            close(down[0])
            close(up[1])
        }
        posix_spawn_file_actions_adddup2(&actions, down[0], 0)
        posix_spawn_file_actions_adddup2(&actions, up[1], 1)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var argv = [strdup(program), nil]
        defer { argv.forEach { free($0) } }
        let code = posix_spawn(&pid, program, &actions, nil, &argv, environ)
        guard code == 0 else { throw CallFailed(code) }
    }

    /// Passes a request on and waits for its answer.
    func ask(_ line: String) throws -> String {
        let bytes = Array((line + "\n").utf8)
        guard write(requests, bytes, bytes.count) == bytes.count else { throw CallFailed() }
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            guard read(answers, &byte, 1) == 1 else { throw CallFailed(ESRCH) }
            if byte == 10 { return String(decoding: answer, as: UTF8.self) }
            answer.append(byte)
        }
    }

    /// Closes its stdin, which ends it, and waits until it is gone.
    func end() {
        close(requests)
        close(answers)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }
}

/// Runs a program without input or output and waits for its end. Returns its exit code, or 128 plus its signal.
func runToEnd(_ program: String, _ arguments: [String]) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    var argv = ([program] + arguments).map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    var pid: pid_t = 0
    let code = posix_spawnp(&pid, program, &actions, nil, &argv, environ)
    guard code == 0 else { throw CallFailed(code) }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
}
