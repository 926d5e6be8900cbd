// The constant facts about one process in /proc.

import VersionModel

/// The facts that make a process an actor. The program is not one of them, because exec changes it (see
/// ``ProcessTable/program(of:)``).
struct ProcessFacts: Equatable {
    var ref: ActorRef
    var parent: Int32
    /// The process that leads its session.
    var session: Int32
    /// The controlling terminal's device number; 0 for none.
    var terminal: Int32
    /// The text of `/proc/PID/cgroup`: two processes are in one group if their texts are equal.
    var group: [UInt8]
    /// Whether it is process 1, here or in a pid namespace of its own.
    var isInit: Bool

    /// Whether lineages end with this process (DESIGN 5.2).
    var leadsTerminalSession: Bool { session == ref.process && terminal != 0 }

    /// Reads the facts of a process from two files. Nil if it is gone.
    init?(process: Int32, status: [UInt8], reader: any ProcReader) {
        guard let stat = reader.contents(of: "\(process)/stat"), let fields = Self.statFields(stat) else { return nil }
        // Counted from the field after the name, which is the third of proc_pid_stat(5).
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

    /// Whether a process is in execve: it closes the files that the new program must not have. It already has its new
    /// memory, which is empty.
    ///
    /// Until the end of execve, the kernel blocks reads of its `stat`, `exe` and `maps`. A daemon that serves one of
    /// the closed files must not read them, or the two would wait for one another forever.
    /// - Parameter statm: the present content of its `/proc/PID/statm`.
    static func isBecomingAnother(statm: some Sequence<UInt8>) -> Bool {
        // `SIZE RESIDENT SHARED TEXT ...`, in pages; an ending process has no memory at all. Every save needs this, so
        // it makes no objects.
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

    /// The same for an unknown process.
    static func isBecomingAnother(_ process: Int32, reader: any ProcReader) -> Bool {
        reader.contents(of: "\(process)/statm").map { isBecomingAnother(statm: $0) } ?? false
    }

    /// The thread group of a thread, from its `/proc/TID/status`.
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

    /// The fields after the name; the name is in parentheses and may contain any bytes, parentheses too.
    private static func statFields(_ stat: [UInt8]) -> [Substring]? {
        guard let end = stat.lastIndex(of: 41) else { return nil }
        return String(decoding: stat[(end + 1)...], as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\n" })
    }
}
