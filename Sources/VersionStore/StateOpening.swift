// The first steps of opening a container: the state directory and its lock, and which container it is.

import Glibc
import SystemPackage
import VersionModel

/// An opened and locked state directory, whose catalog is looked for next.
struct StateOpening {
    let root: FileDescriptor
    let options: ContainerState.Options
    private(set) var directory: StateDirectory
    /// The format line as it was found.
    let previous: FormatLine?

    init(root: FileDescriptor, options: ContainerState.Options) throws(StoreError) {
        self.root = root
        self.options = options
        directory = try StateDirectory(root: root, readOnly: options.readOnly)
        previous = directory.line
    }

    /// Whether there is state that a lost catalog must have known.
    var hasState: Bool {
        if directory.line != nil { return true }
        return [directory.objects, directory.deleted].contains { !((try? System.names(in: $0)) ?? []).isEmpty }
    }

    /// A build that knows no facts must not see what was true before them.
    func refuseFacts() throws(StoreError) {
        guard directory.writtenFormat == .facts else { return }
        directory.close()
        throw .unknownFormat(directory.line.map { String($0.text.dropLast()) } ?? "versionsfs 2")
    }

    /// Decides the container's identity, and writes it down. A failure closes the directory.
    mutating func begin(isLost: Bool) throws(StoreError) -> FormatLine {
        let isFresh = previous == nil || directory.isCopy(of: previous)
        let line = FormatLine(
            format: directory.writtenFormat ?? .former,
            container: isFresh ? .random() : previous?.container ?? .random(),
            device: isFresh ? .random() : previous?.device ?? .random(),
            epoch: (previous?.epoch ?? 0) + (isFresh || isLost ? 1 : 0), location: directory.location)
        guard !options.readOnly, line != previous else { return line }
        do throws(StoreError) { try directory.write(line) } catch {
            directory.close()
            throw error
        }
        return line
    }

    static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        gethostname(&buffer, buffer.count - 1)
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.prefix { $0 != 46 }
        let letters = bytes.map { byte -> UInt8 in
            switch byte {
            case 48...57, 65...90, 97...122, 45: byte
            default: 45
            }
        }
        return letters.isEmpty ? "device" : String(decoding: letters.prefix(32), as: UTF8.self)
    }
}
