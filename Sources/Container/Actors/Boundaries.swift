// The programs that end lineages: they run other programs without being their user (DESIGN 5.2).

import VersionModel

/// A set of program names from `actors.boundaries`.
public struct Boundaries: Sendable {
    private let names: Set<String>

    public init(_ names: [String]) { self.names = Set(names.map { $0.lowercased() }) }

    public static let standard = Boundaries([
        "init", "systemd", "runit", "runsv", "s6-supervise", "s6-svscan", "openrc-run", "dumb-init", "tini",
        "sshd", "dropbear", "login", "cron", "crond", "anacron", "fcron", "atd",
        "tmux", "screen", "zellij", "dtach", "abduco", "mosh-server", "ttyd", "xinetd", "inetd",
        "containerd-shim", "containerd", "dockerd", "conmon", "crun", "runc", "podman", "lxc-start", "supervisord",
        "php-fpm", "apache2", "httpd", "nginx", "gunicorn", "uwsgi", "smbd", "vsftpd", "dbus-daemon", "dbus-broker",
    ])

    /// The names as a TOML array.
    var toml: String { "[" + names.sorted().map { "\"\($0)\"" }.joined(separator: ", ") + "]" }

    /// Whether a program is one of these. `tmux: server`, `php-fpm8.2`, `containerd-shim-runc-v2` and `SCREEN` are.
    public func contain(_ program: String) -> Bool {
        ProgramName.meanings(of: program).contains { names.contains($0) }
    }
}
