// What /proc says about one process that does not change under its feet, and how it is read.

import VersionModel

/// The facts by which a process becomes an actor. The program is not among them: exec changes it (see
/// ``ProcessTable/program(of:)``).
struct ProcessFacts: Equatable {
    var ref: ActorRef
    var parent: Int32
    /// The process that leads its session.
    var session: Int32
    /// The controlling terminal's device number; 0 for none.
    var terminal: Int32
    /// `/proc/PID/cgroup` as it is: two processes are in one group if the texts are equal.
    var group: [UInt8]
    /// Whether it is process 1, here or in a pid namespace of its own.
    var isInit: Bool

    /// Whether lineages end with this process (DESIGN 5.2).
    var leadsTerminalSession: Bool { session == ref.process && terminal != 0 }

    /// Reads the facts of a process: two files. Nil if it is gone.
    init?(process: Int32, status: [UInt8], reader: any ProcReader) {
        guard let stat = reader.contents(of: "\(process)/stat"), let fields = Self.statFields(stat) else { return nil }
        // Counted from the field behind the name, which is the third of proc_pid_stat(5).
        guard fields.count > 19, let parent = Int32(fields[1]), let session = Int32(fields[3]),
            let terminal = Int32(fields[4]), let started = UInt64(fields[19])
        else { return nil }
        ref = ActorRef(process: process, started: started)
        self.parent = parent
        self.session = session
        self.terminal = terminal
        group = reader.contents(of: "\(process)/cgroup") ?? []
        isInit = process == 1 || Self.isNamespaceInit(status)
    }

    /// Whether a process is becoming another program just now (execve), and closes the files that the new one is not to
    /// have. It has its new memory by then, with nothing in it.
    ///
    /// Until that is done the kernel lets nobody look at its `stat`, `exe` or `maps`: whoever serves one of those files
    /// must not wait for that, or the two wait for one another for ever.
    /// - Parameter statm: what its `/proc/PID/statm` says just now.
    static func isBecomingAnother(statm: some Sequence<UInt8>) -> Bool {
        // `SIZE RESIDENT SHARED TEXT ...`, in pages; a process that ends has no memory at all. Asked at every save:
        // nothing is made of it.
        var (field, hasSize, hasText) = (0, false, false)
        for byte in statm where field < 4 {
            switch (byte, field) {
            case (32, _): field += 1
            case (49...57, 0): hasSize = true
            case (49...57, 3): hasText = true
            default: break
            }
        }
        return field >= 3 && hasSize && !hasText
    }

    /// The same of a process that is not known.
    static func isBecomingAnother(_ process: Int32, reader: any ProcReader) -> Bool {
        reader.contents(of: "\(process)/statm").map { isBecomingAnother(statm: $0) } ?? false
    }

    /// The thread group that a thread belongs to, from its `/proc/TID/status`.
    static func threadGroup(status: [UInt8]) -> Int32? {
        field("Tgid:", of: status)?.first.flatMap { Int32($0) }
    }

    /// The innermost number of a process in nested pid namespaces is the last of `NSpid`.
    private static func isNamespaceInit(_ status: [UInt8]) -> Bool {
        guard let numbers = field("NSpid:", of: status), numbers.count > 1 else { return false }
        return numbers.last == "1"
    }

    private static func field(_ key: String, of status: [UInt8]) -> [Substring]? {
        let key = Array(key.utf8)
        for line in status.split(separator: 10) where line.starts(with: key) {
            let value = String(decoding: line.dropFirst(key.count), as: UTF8.self)
            return value.split(whereSeparator: { $0 == "\t" || $0 == " " })
        }
        return nil
    }

    /// The fields behind the name; the name is in parentheses and may hold anything, parentheses too.
    private static func statFields(_ stat: [UInt8]) -> [Substring]? {
        guard let end = stat.lastIndex(of: 41) else { return nil }
        return String(decoding: stat[(end + 1)...], as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\n" })
    }
}
