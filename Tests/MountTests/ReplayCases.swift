// The save sequences of programs that cannot be installed here, call by call as `reference/saves.md` gives them.

import Foundation
import Support

enum Replays {
    /// A sequence of calls by a program of that name. `$f` is the document, `$pid` the program's process id.
    private static func replay(
        _ name: String, program: String, saves: Int = 1, beside: [String] = [], _ steps: String...
    ) -> SaveCase {
        // Each save writes another text, so that none equals its parent.
        let contents = (1...saves).map { "text-\($0)" }
        return SaveCase(name, contents: contents, beside: beside) { container in
            let actor = try ActorProcess(program, in: container.path)
            for content in contents {
                let values = ["$f": SaveCase.file, "$pid": String(actor.pid), "$text": content]
                try actor.perform(steps, replacing: values)
            }
        }
    }

    static let all = [
        replay(
            "VS Code, user files", program: "code", saves: 2,
            "load $f", "open h $f w+creat+trunc", "write h $text", "fdatasync h", "close h"),
        replay(
            "VS Code, settings", program: "code",
            "load $f", "open h $f.vsctmp w+creat+trunc", "write h $text", "fdatasync h", "close h",
            "rename $f.vsctmp $f"),
        replay(
            "JetBrains, safe write", program: "idea", saves: 2,
            "load $f", "open h $f___jb_tmp___ w+creat+trunc", "write h $text", "close h", "rename $f $f___jb_old___",
            "rename $f___jb_tmp___ $f", "chmod $f 644", "unlink $f___jb_old___"),
        replay(
            "JetBrains, backed up before saving", program: "idea", saves: 2,
            "load $f", "open old $f r", "open copy $f~ w+creat+trunc", "copy-range old copy 100000", "close copy",
            "close old",
            "open h $f w+creat+trunc+sync", "write h $text", "close h", "unlink $f~"),
        replay(
            "JetBrains, huge files", program: "idea",
            "load $f", "open h $f.tmp w+creat+trunc+dsync", "write h $text", "close h", "rename $f $f~",
            "rename $f.tmp $f",
            "unlink $f~"),
        replay(
            "Kate and other Qt programs", program: "kate", saves: 2,
            "load $f", "open h $f.AbCdEf rw+creat+excl 600", "fchmod h 644", "write h $text", "fsync h", "close h",
            "rename $f.AbCdEf $f"),
        replay(
            "LibreOffice, rename", program: "soffice.bin",
            "open l .~lock.$f# w+creat+excl", "write l owner", "close l", "load $f",
            "open h lu1234abcd.tmp rw+creat+excl 600",
            "write h $text", "close h", "rename lu1234abcd.tmp $f", "unlink .~lock.$f#"),
        replay(
            "LibreOffice, copied into the file", program: "soffice.bin",
            "open l .~lock.$f# w+creat+excl", "write l owner", "close l", "load $f",
            "open t lu1234abcd.tmp rw+creat+excl 600",
            "write t $text", "open h $f w+trunc", "write h $text", "close h", "close t", "unlink lu1234abcd.tmp",
            "unlink .~lock.$f#"),
        replay(
            "Word", program: "WINWORD.EXE",
            "open l ~$$f w+creat+excl", "write l owner", "load $f", "open h ~wrd0001.tmp rw+creat+excl",
            "write h $text",
            "fsync h",
            "close h", "rename $f ~wrl0001.tmp", "rename ~wrd0001.tmp $f", "unlink ~wrl0001.tmp", "close l",
            "unlink ~$$f"),
        replay(
            "Excel", program: "EXCEL.EXE",
            "load $f", "open h 1A2B3C4D rw+creat+excl", "write h $text", "close h", "unlink $f", "rename 1A2B3C4D $f"),
        replay(
            "TextEdit, a directory and a swap", program: "TextEdit",
            "load $f", "mkdir $f.sb-1a2b3c4d-XyZ987", "open h $f.sb-1a2b3c4d-XyZ987/$f w+creat+excl", "write h $text",
            "fsync h",
            "close h", "exchange $f.sb-1a2b3c4d-XyZ987/$f $f", "unlink $f.sb-1a2b3c4d-XyZ987/$f",
            "rmdir $f.sb-1a2b3c4d-XyZ987"),
        replay(
            "TextEdit, a directory and a rename", program: "TextEdit",
            "load $f", "mkdir $f.sb-1a2b3c4d-XyZ987", "open h $f.sb-1a2b3c4d-XyZ987/$f w+creat+excl", "write h $text",
            "close h",
            "rename $f.sb-1a2b3c4d-XyZ987/$f $f", "rmdir $f.sb-1a2b3c4d-XyZ987"),
        replay(
            "Photoshop: delete, then rename", program: "Photoshop",
            "load $f", "open h PSD4F2A.tmp w+creat+excl", "write h $text", "close h", "unlink $f",
            "rename PSD4F2A.tmp $f"),
        replay(
            "Sublime Text, atomic", program: "sublime_text",
            "load $f", "open h .subl4f2a.tmp w+creat+excl", "write h $text", "fsync h", "close h",
            "rename .subl4f2a.tmp $f"),
        replay(
            "Sublime Text, in place", program: "sublime_text", saves: 2,
            "load $f", "open h $f w+creat+trunc", "write h $text", "close h"),
        replay(
            "Obsidian, again and again in place", program: "obsidian", saves: 5,
            "open h $f w+creat+trunc", "write h $text", "close h"),
        replay(
            "Claude Code", program: "claude", saves: 3,
            "load $f", "open h $f.tmp.$pid.0a1b2c3d w+creat+excl", "write h $text", "close h",
            "rename $f.tmp.$pid.0a1b2c3d $f"),
        replay(
            "kakoune", program: "kak", saves: 2,
            "load $f", "open p $f w", "close p", "open h $f w+creat+trunc", "write h $text", "close h"),
        replay(
            "Emacs, auto-saved twice before each save", program: "emacs", saves: 2,
            "load $f", "open a #$f# w+creat+trunc", "write a x", "close a", "open a #$f# w+creat+trunc", "write a more",
            "close a", "open h $f w+creat+trunc", "write h $text", "close h", "unlink #$f#"),
        replay(
            "mg, a backup by copying", program: "mg", beside: ["f.txt~"],
            "symlink nobody@host.$pid .#$f", "load $f", "open copy $f.1234567890 w+creat+excl 600", "write copy x",
            "close copy",
            "rename $f.1234567890 $f~", "open h $f w+creat+trunc", "write h $text", "close h", "unlink .#$f"),
        replay(
            "two names for one handle: dup, close, write on, close", program: "dupper",
            "open h $f w+creat+trunc", "dup h second", "close h", "write second $text", "close second"),
        replay(
            "fallocate first, then the content", program: "allocator",
            "load $f", "open h $f rw+trunc", "allocate h 6", "write h $text", "close h"),
        replay(
            "touches and attributes alone make no version", program: "toucher",
            "open h $f w+creat+trunc", "write h $text", "close h", "utimens $f 1000000000", "chmod $f 600",
            "setxattr $f user.note x", "open p $f w", "close p", "open q $f rw", "close q", "chmod $f 644"),
    ]
}
