// Running a program to its end, with what it printed.

import Glibc

/// What a program left behind.
public struct Output: Sendable {
    /// Its exit code, or 128 plus the signal that ended it.
    public let status: Int32
    public let stdout: [UInt8]
    public let stderr: [UInt8]

    /// Standard output as text, without the last newline.
    public var text: String { trimmed(stdout) }
    /// Standard error as text, without the last newline.
    public var errors: String { trimmed(stderr) }

    private func trimmed(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.last == 10 ? bytes.dropLast() : bytes[...], as: UTF8.self)
    }
}

/// Runs a program and waits for its end; it is killed, and the call throws, when `seconds` have passed.
///
/// - Parameters:
///   - program: a path, or a name that PATH finds.
///   - user: a user id to run as; nil for this process's own.
public func run(
    _ program: String, _ arguments: [String] = [], in directory: String? = nil, environment: [String: String] = [:],
    input: [UInt8] = [], asUser user: UInt32? = nil, seconds: Double = 60
) throws -> Output {
    let (inReading, inWriting) = try makePipe()
    let (outReading, outWriting) = try makePipe()
    let (errReading, errWriting) = try makePipe()
    var start = Child.Start(program, arguments)
    start.directory = directory
    start.environment = environment
    start.user = user
    start.descriptors = [inReading, outWriting, errWriting]
    let child: Child
    do {
        defer { for end in [inReading, outWriting, errWriting] { close(end) } }
        child = try Child(start)
    } catch {
        for end in [inWriting, outReading, errReading] { close(end) }
        throw error
    }
    var pump = Pump(input: inWriting, rest: input[...], output: outReading, errors: errReading)
    defer { pump.closeAll() }
    let deadline = Deadline.after(seconds: seconds)
    guard try pump.finish(deadline) else {
        child.kill()
        let words = ([program] + arguments).joined(separator: " ")
        throw Failure("\(words) was killed after \(seconds) s", evidence: String(decoding: pump.stderr, as: UTF8.self))
    }
    return Output(status: try child.wait(deadline), stdout: pump.stdout, stderr: pump.stderr)
}

/// Runs a program that has to succeed; a non-zero status throws with what it said.
@discardableResult
public func mustRun(
    _ program: String, _ arguments: [String] = [], in directory: String? = nil, environment: [String: String] = [:],
    input: [UInt8] = [], asUser user: UInt32? = nil, seconds: Double = 60
) throws -> Output {
    let output = try run(
        program, arguments, in: directory, environment: environment, input: input, asUser: user, seconds: seconds)
    guard output.status == 0 else {
        let words = ([program] + arguments).joined(separator: " ")
        throw Failure("\(words) ended with status \(output.status)", evidence: output.errors + output.text)
    }
    return output
}

/// Runs a line of shell that has to succeed, in a directory.
@discardableResult
public func shell(_ line: String, in directory: String? = nil, seconds: Double = 60) throws -> Output {
    try mustRun("bash", ["-ec", line], in: directory, seconds: seconds)
}

/// Feeds a child and collects what it says, all pipes at once so that none can fill up and block it.
private struct Pump {
    var input: Int32
    var rest: ArraySlice<UInt8>
    var output: Int32
    var errors: Int32
    var stdout: [UInt8] = []
    var stderr: [UInt8] = []

    /// Returns whether both streams ended before the deadline.
    mutating func finish(_ deadline: Deadline) throws -> Bool {
        signal(SIGPIPE, SIG_IGN)
        while output >= 0 || errors >= 0 {
            if rest.isEmpty, input >= 0 { closeInput() }
            // poll(2) passes over negative descriptors: an ended stream simply drops out.
            guard let events = deadline.poll([(output, POLLIN), (errors, POLLIN), (input, POLLOUT)]) else {
                return false
            }
            if events[0] != 0 { try Pump.drain(&output, into: &stdout) }
            if events[1] != 0 { try Pump.drain(&errors, into: &stderr) }
            if events[2] != 0 { feed() }
        }
        return true
    }

    private static func drain(_ descriptor: inout Int32, into bytes: inout [UInt8]) throws {
        let more = try readSome(from: descriptor)
        bytes += more
        if more.isEmpty {
            close(descriptor)
            descriptor = -1
        }
    }

    private mutating func feed() {
        // At most PIPE_BUF at once: POLLOUT promises that much without blocking.
        let count = rest.prefix(4096).withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
        if count < 0 { rest = [] } else { rest = rest.dropFirst(count) }
    }

    private mutating func closeInput() {
        close(input)
        input = -1
    }

    mutating func closeAll() {
        for descriptor in [input, output, errors] where descriptor >= 0 { close(descriptor) }
        (input, output, errors) = (-1, -1, -1)
    }
}

/// A line of shell after which git works alike on every machine: nobody's settings, one identity.
public let gitIdentity =
    "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b"
    + " GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b"

/// Writes a program from another process: a descriptor of ours that a test beside this one passes on to a child would
/// make it "text file busy".
public func writeProgram(_ path: String, _ text: String) throws {
    try mustRun("sh", ["-c", "cat > \"$0\" && chmod 755 \"$0\"", path], input: Array(text.utf8))
}
