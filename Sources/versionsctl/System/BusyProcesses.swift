// Who uses a directory: processes with their working directory, root or open files in it.

import ControlProtocol
import Glibc

/// A process that uses a directory.
struct BusyProcess: Hashable {
    var id: Int32
    var program: String

    /// The processes that have their directory, root, program or an open file at or below an absolute path; other
    /// users' are seen by root only. This process and what it has started are not among them.
    static func using(_ directory: Path) -> [BusyProcess] {
        names(in: "/proc").compactMap { Int32($0) }.sorted().filter { $0 != getpid() && !isChild($0) }.compactMap {
            id in
            let process = "/proc/\(id)"
            let links = ["cwd", "root", "exe"] + names(in: process + "/fd").map { "fd/" + $0 }
            guard
                links.contains(where: { link in target(process + "/" + link).map { isWithin($0, directory) } ?? false })
            else { return nil }
            return BusyProcess(id: id, program: program(id))
        }
    }

    /// The daemon that has a container's directory open, by the file that it holds locked: its user and root see that.
    static func daemon(of directory: Path) -> Int32? {
        let locked = directory.bytes + Array("/.versionsfs/format".utf8)
        return names(in: "/proc").compactMap { Int32($0) }.first { id in
            program(id) == "versionsfs"
                && names(in: "/proc/\(id)/fd").contains { target("/proc/\(id)/fd/\($0)") == locked }
        }
    }

    /// The processes in other mount namespaces that have a file system of this number (`major:minor`) mounted; other
    /// users' are seen by root only.
    static func holding(device: String) -> [BusyProcess] {
        let mine = target("/proc/self/ns/mnt")
        var holds: [[UInt8]: Bool] = [:]
        return names(in: "/proc").compactMap { Int32($0) }.sorted().compactMap { id in
            guard let space = target("/proc/\(id)/ns/mnt"), space != mine else { return nil }
            let isHolder = holds[space] ?? hasMounted(device, id)
            holds[space] = isHolder
            return isHolder ? BusyProcess(id: id, program: program(id)) : nil
        }
    }

    private static func hasMounted(_ device: String, _ id: Int32) -> Bool {
        guard let file = fopen("/proc/\(id)/mountinfo", "re") else { return false }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) >= 0 {
            // `36 35 98:0 / /mnt ...`
            let fields = line.map { String(cString: $0).split(separator: " ", maxSplits: 3) } ?? []
            if fields.count > 2, fields[2] == device { return true }
        }
        return false
    }

    /// `vim (1234), bash (99) and 3 more`.
    static func list(_ processes: [BusyProcess]) -> String {
        let shown = processes.prefix(8).map { "\($0.program) (\($0.id))" }.joined(separator: ", ")
        return processes.count > 8 ? shown + " and \(processes.count - 8) more" : shown
    }

    /// Whether a process was started by this one.
    private static func isChild(_ id: Int32) -> Bool {
        guard let file = fopen("/proc/\(id)/stat", "re") else { return false }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 512)
        guard fgets(&buffer, 512, file) != nil else { return false }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // `PID (PROGRAM) STATE PARENT`; a program's name may have anything in it, a parenthesis too.
        guard let end = text.lastIndex(of: ")") else { return false }
        return text[end...].split(separator: " ").dropFirst(2).first == "\(getpid())"
    }

    private static func isWithin(_ path: [UInt8], _ directory: Path) -> Bool {
        path == directory.bytes || path.starts(with: directory.bytes + [47])
    }

    private static func target(_ link: String) -> [UInt8]? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink(link, &buffer, buffer.count)
        return count > 0 ? buffer.prefix(count).map { UInt8(bitPattern: $0) } : nil
    }

    private static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func program(_ id: Int32) -> String {
        guard let file = fopen("/proc/\(id)/comm", "r") else { return "?" }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 64)
        guard fgets(&buffer, 64, file) != nil else { return "?" }
        return String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
