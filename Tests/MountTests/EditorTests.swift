// Every way of saving makes exactly one version per save in one uninterrupted history, and leaves no trace of its
// temporary names.

import Foundation
import Support
import Testing

@Suite struct EditorTests {
    @Test("An editor's save is one version", arguments: Editors.all)
    func editorSaves(_ row: SaveCase) throws {
        try row.check()
    }

    @Test("A tool's save is one version", arguments: Tools.all)
    func toolSaves(_ row: SaveCase) throws {
        try row.check()
    }

    @Test("The save sequence of a program that is not here is one version", arguments: Replays.all)
    func replayedSaves(_ row: SaveCase) throws {
        try row.check()
    }

    @Test("vim saves a hard link and a symlink without parting them")
    func vimKeepsLinks() throws {
        try withContainer(files: ["f.txt": SaveCase.initial]) { container in
            try shell("ln f.txt hard; ln -s f.txt soft", in: container.path)
            for (name, text) in [("hard", "ONE"), ("soft", "TWO")] {
                let terminal = try Terminal(
                    "sh", ["-c", "vim -N -u NONE -i NONE \(name); exit $?"], in: container.path,
                    environment: ["VIMINIT": ""])
                try terminal.wait(for: "two")
                try terminal.type(":1s/.*/\(text)/\r:wq\r")
                try terminal.waitForExit()
            }
            var problems: [String] = []
            if container.text(of: "hard") != "TWO\ntwo\n" {
                problems.append("hard: \(container.text(of: "hard") ?? "gone")")
            }
            guard container.isVersioned else { return problems }
            for name in ["f.txt", "hard"] {
                let history = try container.history(of: name)
                problems += lineProblems(history)
                if history.versions.count != 3 { problems.append("\(name) has \(history.versions.count) versions") }
            }
            return problems
        }
    }

    /// Names that look like a program's temporary ones, made by something else.
    static let innocent = [
        ".env.sample", "sedentary", "4914", "4913", ".notes.backup", "draft~", "#1#", "x.tmp.99999.0a1b2c3d",
        "luggage.tmp",
        "report.part", ".vimrc.swp", "XXNolC27", "deadbeef", "f.txt.oAbCdEf",
    ]

    @Test("A name like a temporary one, made by another program, is an ordinary document", arguments: innocent)
    func innocentNames(_ name: String) throws {
        try withContainer { container in
            let actor = try ActorProcess("notes", in: container.path)
            try actor.save("first", to: name)
            try actor.save("second", to: name)
            guard container.isVersioned else { return [] }
            var problems: [String] = []
            let kept = try container.history(of: name).versions
            if kept.count != 2 { problems.append("\(kept.count) versions") }
            // Even its own maker's unlink is a deletion.
            try actor.must("unlink", name)
            let deleted = try container.deleted()
            if deleted.map(\.path) != [name] { problems.append("deleted: \(deleted.map(\.path))") }
            try container.must("undelete", container.file(name))
            if container.text(of: name) != "second" {
                problems.append("undeleted: \(container.text(of: name) ?? "nothing")")
            }
            return problems
        }
    }
}
