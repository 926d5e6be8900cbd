// Real editors in real terminals.

import Foundation
import Support

enum Editors {
    static let all = vim + emacs + nano + others

    /// A home without anybody's settings, outside the container.
    private static let home: [String: String] = {
        let home = (try? Workplace.fresh("home")) ?? "/nonexistent"
        return ["HOME": home, "XDG_CONFIG_HOME": home, "MICRO_CONFIG_HOME": home + "/micro", "VIMINIT": ""]
    }()

    /// Starts an editor as a person does: from a shell that leads the terminal's session.
    private static func start(_ line: String, in container: TestContainer) throws -> Terminal {
        try Terminal("sh", ["-c", line + "; exit $?"], in: container.path, environment: home)
    }

    /// vim with these settings; two saves in one session.
    private static func vim(_ settings: String, prepare: String = ":") -> SaveCase {
        SaveCase("vim, \(settings)", contents: ["ONE\ntwo\n", "ONE\nTWO\n"]) { container in
            try shell(prepare, in: container.path)
            let terminal = try start("vim -N -u NONE -i NONE --cmd 'set \(settings)' f.txt", in: container)
            try terminal.wait(for: "two")
            // The quotes keep what is typed from looking like what is answered.
            try terminal.type(":%s/one/ONE/\r:silent w|echo 'sav'.'ed1'\r")
            try terminal.wait(for: "saved1")
            try terminal.type(":%s/two/TWO/\r:silent w|echo 'sav'.'ed2'\r")
            try terminal.wait(for: "saved2")
            try terminal.type(":q\r")
            try terminal.waitForExit()
        }
    }

    static let vim = [
        vim("backupcopy=auto"), vim("backupcopy=yes"), vim("backupcopy=no"), vim("nowritebackup"),
        vim("backupcopy=auto noswapfile"), vim("backupcopy=yes nofsync"),
        SaveCase("vim, backup kept", contents: ["ONE\ntwo\n"], beside: ["f.txt~"]) { container in
            let terminal = try start("vim -N -u NONE -i NONE --cmd 'set backup' f.txt", in: container)
            try terminal.wait(for: "two")
            try terminal.type(":%s/one/ONE/\r:wq\r")
            try terminal.waitForExit()
        },
    ]

    /// Emacs with these settings; a letter before each of so many saves.
    private static func emacs(_ settings: String, saves: Int, beside: [String]) -> SaveCase {
        let letters = ["A", "B", "C"].prefix(saves)
        let contents = letters.indices.map { letters[...$0].joined() + SaveCase.initial }
        return SaveCase("emacs, \(settings), \(saves) saves", contents: contents, beside: beside) { container in
            let terminal = try start("emacs -nw -Q --eval '(progn \(settings))' f.txt", in: container)
            try terminal.wait(for: "two")
            for letter in letters {
                try terminal.type(letter)
                try terminal.waitUntilGone("Wrote")
                try terminal.wait(for: letter + "one")
                try terminal.type("\u{18}\u{13}")
                try terminal.wait(for: "Wrote")
            }
            try terminal.type("\u{18}\u{3}")
            try terminal.waitForExit()
        }
    }

    static let emacs = [
        emacs("", saves: 1, beside: ["f.txt~"]),
        emacs("", saves: 3, beside: ["f.txt~"]),
        emacs("(setq file-precious-flag t)", saves: 2, beside: ["f.txt~"]),
        emacs("(setq backup-by-copying t)", saves: 2, beside: ["f.txt~"]),
        emacs("(setq make-backup-files nil)", saves: 2, beside: []),
        emacs("(setq create-lockfiles nil)", saves: 2, beside: ["f.txt~"]),
    ]

    private static func nano(_ options: String, beside: [String] = []) -> SaveCase {
        let contents = ["Aone\ntwo\n", "ABone\ntwo\n"]
        return SaveCase("nano \(options)", contents: contents, beside: beside) { container in
            let terminal = try start("nano --ignorercfiles \(options) f.txt", in: container)
            try terminal.wait(for: "two")
            for letter in ["A", "B"] {
                try terminal.type(letter)
                try terminal.wait(for: letter + "one")
                try save(letter, terminal, container)
            }
            try terminal.type("\u{18}")
            try terminal.waitForExit()
        }
    }

    /// Control-S in an editor whose message of the last save stays on the screen: the file tells when it is done.
    private static func save(_ letter: String, _ terminal: Terminal, _ container: TestContainer) throws {
        try terminal.type("\u{13}")
        try terminal.wait("the save of \(letter)") { _ in
            container.text(of: "f.txt")?.contains(letter + "one\ntwo\n") == true
        }
    }

    static let nano = [nano(""), nano("--locking"), nano("--backup", beside: ["f.txt~"])]

    static let others = [
        SaveCase("micro", contents: ["Aone\ntwo\n", "ABone\ntwo\n"]) { container in
            let terminal = try start("micro f.txt", in: container)
            try terminal.wait(for: "two")
            for letter in ["A", "B"] {
                try terminal.type(letter)
                try terminal.wait(for: letter + "one")
                try save(letter, terminal, container)
            }
            try terminal.type("\u{11}")
            try terminal.waitForExit()
        },
        SaveCase("joe", contents: ["Aone\ntwo\n"], beside: ["f.txt~"]) { container in
            let terminal = try start("joe f.txt", in: container)
            try terminal.wait(for: "two")
            try terminal.type("A")
            try terminal.wait(for: "Aone")
            try terminal.type("\u{b}x")
            try terminal.waitForExit()
        },
    ]
}
