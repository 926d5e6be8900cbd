// Reading the journal through journalctl, which knows its files and who may see what.

import ControlProtocol
import FoundationEssentials
import Glibc
import LocalState
import VersionModel
import VersionsClient

struct JournalTool {
    /// The container's directory.
    var container: Path
    var lines: Int?
    var follows: Bool

    private var arguments: [Path] {
        var words = ["--quiet", "-t", Journal.identifier]
        if let lines { words += ["-n", "\(lines)"] }
        if follows { words.append("-f") }
        return words.map { Path($0) }
    }

    private var match: Path { Path(bytes: Array("\(Journal.containerField)=".utf8) + container.bytes) }

    /// Becomes journalctl, pager and all.
    func show() throws(ControlError) -> Never {
        var signals = sigset_t()
        sigemptyset(&signals)
        // Threads of the runtime block most signals, and a program has those of the thread that it comes from.
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        let words = [Path("journalctl")] + arguments + [match]
        var pointers = words.map { word in word.withCString { strdup($0) } }
        pointers.append(nil)
        execvp("journalctl", &pointers)
        throw missing(errno)
    }

    /// Reads the entries.
    /// - Parameter body: gets each as it comes.
    func read(_ body: (LogLine) throws -> Void) throws {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ControlError(system: "no pipe can be made", path: nil) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        let process: pid_t
        do throws(ControlError) {
            defer { close(ends[1]) }
            let words = ["-o", "json", "--all", "--output-fields=MESSAGE,PRIORITY"].map { Path($0) }
            process = try Subprocess.start("journalctl", arguments + words + [match], standard: [1: ends[1]])
        } catch {
            close(ends[0])
            throw missing(error.errno ?? ENOENT)
        }
        guard let stream = fdopen(ends[0], "r") else {
            close(ends[0])
            throw ControlError(system: "journalctl cannot be read", path: nil)
        }
        defer { fclose(stream) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while case let count = getline(&line, &capacity, stream), count > 0 {
            if let entry = Self.entry(UnsafeRawBufferPointer(start: line, count: count)) { try body(entry) }
        }
        guard Subprocess.wait(process) == 0 else {
            throw ControlError(.failed, "journalctl failed", path: container, advice: "it has said why above")
        }
    }

    /// An entry as `journalctl -o json` prints it; nil for anything else.
    static func entry(_ line: UnsafeRawBufferPointer) -> LogLine? {
        guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(line)), let time = Int64(entry.time),
            let message = entry.message?.text
        else { return nil }
        let levels = ["critical", "critical", "critical", "error", "warning", "notice", "info", "debug"]
        let priority = entry.priority.flatMap { Int($0) } ?? 6
        return LogLine(
            time: Timestamp(nanoseconds: time.multipliedReportingOverflow(by: 1000).partialValue),
            level: levels.indices.contains(priority) ? levels[priority] : "info", message: message)
    }

    private struct Entry: Decodable {
        var time: String
        var message: Text?
        var priority: String?

        enum CodingKeys: String, CodingKey {
            case time = "__REALTIME_TIMESTAMP", message = "MESSAGE", priority = "PRIORITY"
        }
    }

    /// A text; its bytes where it is none, or has control characters.
    private struct Text: Decodable {
        var text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self.text = text
            } else {
                text = String(decoding: try container.decode([UInt8].self), as: UTF8.self)
            }
        }
    }

    private func missing(_ number: CInt) -> ControlError {
        errno = number
        guard number == ENOENT else { return ControlError(system: "cannot be started", path: Path("journalctl")) }
        return ControlError(
            .failed, "its log is in the journal, and there is no journalctl to read it", path: container,
            advice: "put journalctl (of systemd) into PATH")
    }
}
