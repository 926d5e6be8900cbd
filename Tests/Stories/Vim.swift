// vim in a terminal, as far as stories need it.

import Support

/// vim with `X` in its buffer.
struct Vim {
    let terminal: Terminal
    private let saves = Counter()

    private final class Counter { var value = 0 }

    init(_ container: TestContainer, _ settings: String, file: String = "X") throws {
        // No swap file: its question when a second vim opens the file is not what the stories are about.
        terminal = try Terminal(
            "sh", ["-c", "vim -n -N -u NONE -i NONE --cmd 'set \(settings) noautoread shortmess+=A' \(file); exit $?"],
            in: container.path, environment: ["VIMINIT": ""])
        try terminal.wait(for: "two")
    }

    /// Edits with an ex command and writes the buffer, whatever became of the file.
    func save(_ edit: String) throws {
        try type(edit, write: "silent w!", sign: "saved")
    }

    /// The same for a write that may fail: returns the text of the screen then, the last message of an error included.
    func trySave(_ edit: String, with write: String = "w!") throws -> String {
        try type(edit, write: "let v:errmsg=''|silent! \(write)", sign: "tried", telling: ".' '.v:errmsg")
        return terminal.screen.text
    }

    private func type(_ edit: String, write: String, sign: String, telling: String = "") throws {
        saves.value += 1
        // The quotes keep what is typed from looking like what is answered.
        try terminal.type(
            ":\(edit)\r:\(write)|redraw!|echo '\(sign.prefix(3))'.'\(sign.dropFirst(3))-\(saves.value)'\(telling)\r")
        let done = "\(sign)-\(saves.value)"
        try terminal.wait("vim to have written") { $0.screen.text.contains(done) || $0.screen.text.contains("(y/n)?") }
        // vim noticed that the file is newer than its buffer; the person insists.
        if !terminal.screen.text.contains(done) { try terminal.type("y") }
        try terminal.wait(for: done)
    }

    /// The process id of vim itself: the one child of the shell in the terminal.
    func pid() throws -> Int32 {
        let children = try run("pgrep", ["-P", String(terminal.child.pid), "vim"]).text
        guard let pid = Int32(children) else { throw Failure("which process is vim? \(children)") }
        return pid
    }
}
