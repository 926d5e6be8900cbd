// Traps that another user may plant in the state directory of a container, for root's daemon to run into.

/// One trap: lines of bash, run in a container's directory. `$OUT` has a file `victim` and a directory `room`, which
/// must stay as they are.
struct StateTrap: Sendable {
    /// The words that the daemon's message must contain.
    var name: String
    var lines: String

    init(_ name: String, _ lines: String) {
        self.name = name
        self.lines = lines
    }

    /// A link in the place of a part of the state.
    private static func link(_ part: String, to target: String = "victim") -> StateTrap {
        StateTrap(".versionsfs/\(part)", "rm -rf .versionsfs/\(part); ln -s $OUT/\(target) .versionsfs/\(part)")
    }

    /// A file of a trusted user, under another of its names.
    private static func name(_ part: String) -> StateTrap {
        StateTrap(
            ".versionsfs/\(part)",
            "rm -f .versionsfs/\(part); chown 5 $OUT/victim; ln $OUT/victim .versionsfs/\(part)")
    }

    private static func fifo(_ part: String) -> StateTrap {
        StateTrap(".versionsfs/\(part)", "rm -rf .versionsfs/\(part); mkfifo .versionsfs/\(part)")
    }

    static let all: [StateTrap] = [
        StateTrap(".versionsfs belongs to", "chown 65534 .versionsfs"),
        StateTrap(".versionsfs is open to others", "chmod 755 .versionsfs"),
        StateTrap(".versionsfs is open to others", "chmod 2770 .versionsfs"),
        StateTrap(".versionsfs is not a directory", "mv .versionsfs $OUT/room/s; ln -s $OUT/room/s .versionsfs"),
        StateTrap(".versionsfs is not a directory", "rm -r .versionsfs; echo x > .versionsfs"),
        StateTrap(".versionsfs is not a directory", "rm -r .versionsfs; mkfifo .versionsfs"),
        link("objects", to: "room"), link("deleted", to: "room"), link("staging", to: "room"),
        StateTrap(".versionsfs/staging", "rmdir .versionsfs/staging; echo x > .versionsfs/staging"),
        StateTrap(
            ".versionsfs/objects/", "for d in .versionsfs/objects/*; do mv $d $OUT/room; ln -s $OUT/room $d; done"),
        StateTrap(".versionsfs/objects/aa", "rm -rf .versionsfs/objects/aa; echo x > .versionsfs/objects/aa"),
        link("objects/ff", to: "room"), link("deleted/00", to: "room"), link("deleted/0f"), fifo("deleted/ab"),
        StateTrap(".versionsfs/deleted/77", "rm -rf .versionsfs/deleted/77; mkdir .versionsfs/deleted/77; "
            + "chown 65534 .versionsfs/deleted/77"),
        link("config.toml"), link("config.toml.new"), fifo("config.toml"),
        StateTrap(".versionsfs/config.toml", "rm .versionsfs/config.toml; mkdir .versionsfs/config.toml"),
        link("redo"), link("redo", to: "new"), link("redo.new"), fifo("redo"), link("redo2"), link("redo2", to: "new"),
        link("redo2.new"), fifo("redo2"), link("marks"), link("marks", to: "new"), fifo("marks"),
        link("ballast"), fifo("ballast"), StateTrap(
            ".versionsfs/ballast", "rm .versionsfs/ballast; ln $OUT/victim .versionsfs/ballast"),
        link("catalog.sqlite"), fifo("catalog.sqlite"), link("catalog.sqlite-wal"), link("catalog.sqlite-shm"),
        link("catalog.sqlite-journal"), link("catalog.sqlite", to: "new"), fifo("catalog.sqlite-journal"),
        link("catalog2.sqlite"), fifo("catalog2.sqlite"), link("catalog2.sqlite-wal"), link("catalog2.sqlite-shm"),
        link("catalog2.sqlite-journal"), link("catalog2.sqlite", to: "new"), fifo("catalog2.sqlite-journal"),
        link("catalog2.new"), link("catalog2.new-wal"), link("catalog2.new-journal"),
        StateTrap(
            ".versionsfs/catalog.sqlite-journal",
            #"printf '\xd9\xd5\x05\xf9\x20\xa1\x63\xd7' > .versionsfs/catalog.sqlite-journal"#),
        StateTrap(
            ".versionsfs/catalog2.sqlite-journal",
            #"printf '\xd9\xd5\x05\xf9\x20\xa1\x63\xd7' > .versionsfs/catalog2.sqlite-journal"#),
        link("format"), link("format.new"), fifo("format"),
        StateTrap(".versionsfs/format", "rm .versionsfs/format; mkdir .versionsfs/format"),
        StateTrap(
            ".versionsfs/format", "rm .versionsfs/format; python3 -c \"import socket; "
                + "socket.socket(socket.AF_UNIX).bind('.versionsfs/format')\""),
        link("catalog.damaged", to: "new"),
        name("config.toml"), name("format"), name("redo"), name("redo.new"), name("ballast"), name("catalog.sqlite"),
        name("catalog.sqlite-wal"), name("catalog.damaged"), name("catalog2.sqlite"), name("catalog2.sqlite-wal"),
        name("redo2"), name("marks"),
    ]
}
