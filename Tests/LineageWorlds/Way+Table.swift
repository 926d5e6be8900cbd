// How programs save: the rows of saves.md, and the sequences of system calls that they have.

extension Way {
    /// `f~` is a backup and `n` a temporary name that no rule knows; `t` is one that its maker makes up.
    public static let all: [Way] = [
        Way(
            "vim with backupcopy=auto",
            "probe t; rm t; mv f f~; h=replace f; empty h; write h; close h; touch f; rm f~"),
        Way(
            "vim with backupcopy=no",
            "mv f f~; save f; rm f~"),
        Way(
            "vim with backupcopy=yes, or a link",
            "save t; h=write f; empty h; write h; close h; rm t",
            listing: "g e c a"),
        Way(
            "JetBrains today, where the backup's name is known, Emacs with its auto-save file",
            "save t; save f; rm t",
            listing: "g e c a"),
        Way(
            "vim with nowritebackup",
            "h=write f; empty h; write h; close h"),
        Way(
            "the same where no rule knows the backup's name",
            "save f~; save f; rm f~",
            listing: "g e c a", deleted: "f~ f d b"),
        Way(
            "Emacs later on, nano, VS Code, Obsidian, Python, Node, shell, tee, ed, cp onto f",
            "save f"),
        Way(
            "micro, kakoune",
            "touch f; save f"),
        Way(
            "Emacs, first save",
            "probe t; mv f f~; save f; touch f; rm t"),
        Way(
            "Emacs with backup-by-copying, nano -B, joe",
            "save f~; save f",
            listing: "g e c a", deleted: "f~ b, f~ d, f~ f"),
        Way(
            "mg",
            "save n; mv n f~; save f",
            listing: "g e c a", deleted: "f~ b, f~ d, f~ f"),
        Way(
            "Emacs with file-precious-flag",
            "save f~; save t; mv t f",
            listing: "g e c a", deleted: "f~ b, f~ d, f~ f"),
        Way(
            "gedit, GNOME, gio save",
            "h=write f; i=replace t; close h; write i; mv t f; close i"),
        Way(
            "the same with a backup",
            "h=write f; i=replace t; close h; write i; ln f f~; mv t f; close i"),
        Way(
            "Kate, KDE, Qt, Sublime, LibreOffice, Claude Code, VS Code's settings, sed, perl, patch, rsync, mv onto f",
            "save t; mv t f"),
        Way(
            "the same where no rule knows the temporary name",
            "save n; mv n f"),
        Way(
            "JetBrains until 2019",
            "save t; mv f f~; mv t f; rm f~"),
        Way(
            "Word",
            "save n; mv f f~; mv n f; rm f~"),
        Way(
            "JetBrains for huge files, patch with a backup",
            "save n; mv f f~; mv n f"),
        Way(
            "Excel, Photoshop, Arbortext",
            "save n; rm f; mv n f"),
        Way(
            "TextEdit, AppKit",
            "save t; swap t f; rm t"),
        Way(
            "TextEdit, AppKit, by a directory of their own",
            "mkdir d; save d/a; mv d/a f; rmdir d",
            deleted: "d , d , d "),
        Way(
            "git checkout, install, mv across file systems",
            "rm f; save f"),
        Way(
            "rsync --inplace",
            "h=write f; write h; close h"),
        Way(
            "truncate by name, then write",
            "truncate f; h=write f; write h; close h",
            listing: "d . c . b . a"),
        Way(
            "SQLite with a rollback journal",
            "h=write f; i=replace t; write i; write h; close i; rm t; close h",
            listing: "g e c a"),
        Way(
            "SQLite with a write-ahead log",
            "i=replace t; write i; h=write f; write h; close h; close i; rm t",
            listing: "g e c a"),
        Way(
            "LMDB, whose stores come unseen",
            "h=WRITE f; write h; close h"),
        Way(
            "nano with its lock",
            "probe t; save t; save f; rm t",
            listing: "g e c a"),
        Way(
            "append",
            "append f",
            listing: "abcd a"),
    ]

    /// The ways whose saves never conflict (DESIGN 6.1): appending and writing inside the file, and after unlinking the
    /// name oneself.
    public var conflicts: Bool {
        ![
            "rsync --inplace", "truncate by name, then write", "append",
            "git checkout, install, mv across file systems",
            "SQLite with a rollback journal", "SQLite with a write-ahead log", "LMDB, whose stores come unseen",
        ].contains(programs)
    }
}
