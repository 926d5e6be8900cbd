// The daemon's command line, from mount(8) or from a terminal.

import Glibc

/// The requested action. Paths are bytes.
struct Arguments {
    enum Mode {
        case mount
        /// Change the options of an existing mount.
        case remount
        /// Answer control messages on standard input for an unmounted container.
        case offline
        case version
        case help
    }

    var mode = Mode.mount
    var directory: [UInt8] = []
    var mountpoint: [UInt8]?
    /// The options that mount(8) knows for every file system.
    var table = MountTableOptions()
    /// The other options: libfuse's and the daemon's own.
    var options: [String] = []
    var inForeground = false
    var isDebugging = false
    /// The descriptor on which a detached daemon reports that it is ready; only the daemon itself passes it.
    var readyDescriptor: Int32?

    /// A command line with a mistake; the text explains it.
    struct UsageError: Error { var text: String }

    static let synopsis = "versionsfs DIR [MOUNTPOINT] [-o OPTIONS] [-f] [-d] [-V] [-h]"

    static let usage = """
        usage: \(synopsis)

        Turns DIR into a container, where every save is a version, and mounts it over
        itself or on MOUNTPOINT.

          -o OPTIONS  mount options, separated by commas: those that mount(8) lists for
                      every file system (ro, noatime, nosuid, sync, remount, ...),
                      allow_other, list-versions, source-open, ...
                      no-ring: use /dev/fuse for requests instead of io_uring (slower)
          -f          stay in the foreground and log to standard error
          -d          stay in the foreground and log every detail
          -V          print the version
          -h          print this help

        `versionsctl history FILE` lists versions, and `versionsctl unmount DIR` ends
        the mount.

        """

    init(_ words: [[UInt8]]) throws(UsageError) {
        var rest = words[...]
        var names: [[UInt8]] = []
        var onlyNames = false
        while let word = rest.popFirst() {
            guard !onlyNames, word.first == 45, word.count > 1 else {
                names.append(word)
                continue
            }
            switch String(decoding: word, as: UTF8.self) {
            case "--": onlyNames = true
            case "-f": inForeground = true
            case "-d": (inForeground, isDebugging) = (true, true)
            case "-V", "--version": mode = .version
            case "-h", "--help": mode = .help
            case "--offline": mode = .offline
            case "--ready": readyDescriptor = rest.popFirst().flatMap { Int32(String(decoding: $0, as: UTF8.self)) }
            case "-n", "-s", "-v": break
            case "-o":
                guard let value = rest.popFirst() else { throw UsageError(text: "missing options after -o") }
                add(options: value)
            case let text where text.hasPrefix("-o"): add(options: Array(word.dropFirst(2)))
            case let text: throw UsageError(text: "unknown option \(text)")
            }
        }
        guard mode == .mount || mode == .offline else { return }
        guard let first = names.first, !first.isEmpty else { throw UsageError(text: "missing argument DIR") }
        guard names.count <= 2 else { throw UsageError(text: "too many arguments: one directory and one mount point") }
        directory = first
        if names.count == 2, names[1] != first { mountpoint = names[1] }
        if mode == .mount, table.isRemount { mode = .remount }
    }

    private mutating func add(options text: [UInt8]) {
        for option in String(decoding: text, as: UTF8.self).split(separator: ",").map(String.init) {
            if !table.take(option) { options.append(option) }
        }
    }

    /// The daemon's own options, which the kernel does not know.
    static let own: Set<String> = ["list-versions", "source-open", "no-ring"]
    var kernelOptions: [String] { options.filter { !Self.own.contains($0) } }
    func has(_ option: String) -> Bool { options.contains(option) }
}
