// A pseudo-terminal with a program in it, driven by keystrokes and by what its screen shows.

import CTestSupport
import Glibc

/// An interactive program in a terminal of its own: it leads a session, as a shell in a terminal window does.
///
/// Belongs to one thread at a time. Waiting reads the terminal, so a program that prints much runs on only while
/// somebody waits.
public final class Terminal {
    public let child: Child
    public private(set) var screen = Screen()
    private let master: Int32
    /// All that was printed since the last mark: what a full-screen program wipes away again is still found here.
    private var raw: [UInt8] = []
    private var marks = 0
    private let seconds: Double

    /// Starts a program in a new terminal.
    ///
    /// - Parameter seconds: the limit of each wait.
    public init(
        _ program: String, _ arguments: [String] = [], in directory: String? = nil, environment: [String: String] = [:],
        asUser user: UInt32? = nil, seconds: Double = 30
    ) throws {
        let (master, slave) = try openTerminal(rows: screen.rows, columns: screen.columns)
        self.master = master
        self.seconds = seconds
        var start = Child.Start(program, arguments)
        start.directory = directory
        start.environment = ["TERM": "vt100", "LC_ALL": "C.UTF-8", "HISTFILE": "", "PS1": "$ "].merging(environment) {
            $1
        }
        start.user = user
        start.terminal = slave
        child = try Child(start)
    }

    /// A shell with a plain prompt, from which further programs are started as a person would.
    public static func shell(in directory: String, asUser user: UInt32? = nil, seconds: Double = 30) throws -> Terminal
    {
        let terminal = try Terminal(
            "bash", ["--noprofile", "--norc", "--noediting"], in: directory, environment: ["PS1": "", "PS2": ""],
            asUser: user, seconds: seconds)
        try terminal.command(":")
        return terminal
    }

    /// Types characters, control characters included.
    public func type(_ keys: String) throws {
        try writeAll(Array(keys.utf8), to: master)
    }

    /// Makes the screen empty for those who look at it: only what is printed from now on shows.
    public func forget() { screen = Screen() }

    /// Waits until the screen shows a text.
    public func wait(for text: String) throws {
        try wait("the screen to show \"\(text)\"") { $0.screen.text.contains(text) }
    }

    /// Waits until the screen no longer shows a text.
    public func waitUntilGone(_ text: String) throws {
        try wait("\"\(text)\" to leave the screen") { !$0.screen.text.contains(text) }
    }

    /// Waits until something holds, looking again whenever the program prints and at least every 20 ms: for what shows
    /// in a file
    /// and not on the screen.
    public func wait(_ what: String, until condition: (Terminal) throws -> Bool) throws {
        let deadline = Deadline.after(seconds: seconds)
        while try !condition(self) {
            if deadline.isOver {
                throw Failure("waited in vain for \(what) in \(child.program)", evidence: screen.text)
            }
            let step = Deadline.after(seconds: 0.02)
            guard step.poll([(master, POLLIN)]) != nil else { continue }
            let bytes = try readSome(from: master)
            if bytes.isEmpty, try !condition(self) {
                throw Failure("\(child.program) ended before \(what)", evidence: screen.text)
            }
            raw += bytes
            screen.feed(bytes)
        }
    }

    /// Runs a line in a ``shell(in:asUser:seconds:)`` and waits for its end. Returns its exit status.
    @discardableResult
    public func command(_ line: String) throws -> Int32 {
        let mark = try submit(line)
        return try finish(mark)
    }

    /// Types a line into a shell without waiting for its end; ``finish(_:)`` does that.
    public func submit(_ line: String) throws -> Int {
        marks += 1
        // The quotes keep the echo of the typed line from looking like the answer.
        try type("\(line)\necho \"do\"\"ne-\(marks)-$?.\"\n")
        return marks
    }

    /// Waits for the end of a submitted line. Returns its exit status.
    public func finish(_ mark: Int) throws -> Int32 {
        let sign = "done-\(mark)-"
        var status: Int32?
        try wait("the end of command \(mark)") { terminal in
            let text = String(decoding: terminal.raw, as: UTF8.self)
            guard let found = text.firstRange(of: sign), let end = text[found.upperBound...].firstIndex(of: ".") else {
                return false
            }
            status = Int32(text[found.upperBound..<end])
            return status != nil
        }
        raw = []
        guard let status else { throw Failure("command \(mark) gave no status", evidence: screen.text) }
        return status
    }

    /// Waits for the end of the program itself. Returns its exit status.
    @discardableResult
    public func waitForExit() throws -> Int32 {
        let deadline = Deadline.after(seconds: seconds)
        while !deadline.isOver {
            if let status = child.poll() { return status }
            guard Deadline.after(seconds: 0.02).poll([(master, POLLIN)]) != nil else { continue }
            let bytes = try readSome(from: master)
            if bytes.isEmpty { return try child.wait(deadline) }
            screen.feed(bytes)
        }
        throw Failure("\(child.program) did not end", evidence: screen.text)
    }

    deinit {
        // Everybody in the terminal has to be gone before a test unmounts what they stand
        // in. A hang-up first, as closing a window does.
        let members = Session.members(of: child.pid).map { ($0, pidfd_open($0, 0)) }
        child.signal(SIGHUP)
        close(master)
        let deadline = Deadline.after(seconds: 3)
        for (pid, handle) in members where handle >= 0 {
            if deadline.poll([(handle, POLLIN)]) == nil {
                kill(pid, SIGKILL)
                _ = Deadline.after(seconds: 3).poll([(handle, POLLIN)])
            }
            close(handle)
        }
        child.kill()
    }
}

/// A new pseudo-terminal: the master's descriptor and the slave's path.
func openTerminal(rows: Int, columns: Int) throws -> (master: Int32, slave: String) {
    let master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard master >= 0, grantpt(master) == 0, unlockpt(master) == 0 else { throw Failure.call("posix_openpt") }
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    var name = [CChar](repeating: 0, count: 128)
    guard ptsname_r(master, &name, name.count) == 0 else { throw Failure.call("ptsname") }
    return (master, String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
}
