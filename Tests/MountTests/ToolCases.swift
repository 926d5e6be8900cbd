// Programs that save without a terminal: stream editors, copiers, languages' file functions.

import Foundation
import Support

enum Tools {
    static let all = [
        SaveCase.line("sed -i", "sed -i s/one/ONE/ f.txt", gives: "ONE\ntwo\n"),
        .line("sed -i with a backup", "sed -i.bak s/one/ONE/ f.txt", gives: "ONE\ntwo\n", beside: ["f.txt.bak"]),
        .line("perl -i", "perl -pi -e s/one/ONE/ f.txt", gives: "ONE\ntwo\n"),
        .line("ed", "printf '1s/one/ONE/\\nw\\nq\\n' | ed -s f.txt", gives: "ONE\ntwo\n"),
        .line("Emacs, when its auto-save comes before the save", emacs, gives: "new\n"),
        .line("patch", "printf '1c1\\n< one\\n---\\n> ONE\\n' | patch -s f.txt", gives: "ONE\ntwo\n"),
        .line("install", "install -m 644 <(echo new) f.txt", gives: "new\n"),
        .line("rsync", from("rsync -a \"$t/f.txt\" ."), gives: "a new text\n"),
        .line("rsync --inplace", from("rsync -a --inplace \"$t/f.txt\" ."), gives: "a new text\n"),
        .line("tee", "echo new | tee f.txt > /dev/null", gives: "new\n"),
        .line("the shell's >", "echo new > f.txt", gives: "new\n"),
        .line("the shell's >>", "echo new >> f.txt", gives: "one\ntwo\nnew\n"),
        .line("cp onto it", from("cp \"$t/f.txt\" f.txt"), gives: "a new text\n"),
        .line("cp --remove-destination", from("cp --remove-destination \"$t/f.txt\" f.txt"), gives: "a new text\n"),
        .line("mv onto it", "echo new > g && mv g f.txt", gives: "new\n"),
        .line("mv onto it from another file system", from("mv \"$t/f.txt\" f.txt"), gives: "a new text\n"),
        .line("dd in place", "printf ONE | dd of=f.txt conv=notrunc status=none", gives: "ONE\ntwo\n"),
        .line("truncate", "truncate -s 4 f.txt", gives: "one\n"),
        .line("sponge-like: read all, then write", "x=$(tac f.txt); echo \"$x\" > f.txt", gives: "two\none\n"),
        .line("gio save", "echo new | gio save f.txt", gives: "new\n"),
        .line("gio save with a backup", "echo new | gio save --backup f.txt", gives: "new\n", beside: ["f.txt~"]),
        .line("Python, open for writing", python("open('f.txt', 'w').write('new\\n')"), gives: "new\n"),
        .line(
            "Python, read and write in place", python("f=open('f.txt','r+'); f.seek(0); f.write('ONE')"),
            gives: "ONE\ntwo\n"),
        .line("Python, temporary file and replace", python(replace), gives: "new\n"),
        .line(
            "Python, shared mapping",
            python("import mmap; f=open('f.txt','r+b'); m=mmap.mmap(f.fileno(),0); m[:3]=b'ONE'; m.flush()"),
            gives: "ONE\ntwo\n"),
        .line("Node, writeFileSync", node("fs.writeFileSync('f.txt', 'new\\n')"), gives: "new\n"),
        .line("Node, promises", node("fs.promises.writeFile('f.txt', 'new\\n')"), gives: "new\n"),
        .line(
            "Node, a stream", node("const s = fs.createWriteStream('f.txt'); s.write('n'); s.end('ew\\n')"),
            gives: "new\n"),
        .line("an agent in Node: f.tmp.PID.HEX and rename", node(agent), gives: "new\n"),
    ]

    /// `#f.txt#` is written first, and goes with the save.
    private static let emacs = """
        emacs -Q --batch --eval '(progn (setq make-backup-files nil) (find-file "f.txt") (auto-save-mode 1) \
        (erase-buffer) (insert "new\\n") (do-auto-save t t) (unless (file-exists-p "#f.txt#") (kill-emacs 3)) \
        (save-buffer))'
        """

    /// A line that has a new text at `$t/f.txt`, on another file system where there is one.
    private static func from(_ line: String) -> String {
        "t=$(mktemp -d); trap 'rm -rf \"$t\"' EXIT; echo 'a new text' > \"$t/f.txt\"; " + line
    }

    private static func python(_ code: String) -> String { "python3 -c \"\(code)\"" }

    private static func node(_ code: String) -> String { "node -e \"const fs = require('fs'); \(code)\"" }

    private static let replace = """
        import os, tempfile
        d, t = tempfile.mkstemp(dir='.')
        os.write(d, b'new\\n'); os.fsync(d); os.close(d); os.replace(t, 'f.txt')
        """

    private static let agent = """
        const t = 'f.txt.tmp.' + process.pid + '.0a1b2c3d'; fs.readFileSync('f.txt'); \
        fs.writeFileSync(t, 'new\\n'); fs.renameSync(t, 'f.txt')
        """
}
