// btrfs commits one log for everybody: what another program synchronizes takes along what is in the log by then.

import CrashLoad
import Crypto
import Foundation
import Support
import Testing

extension Crashes {
    /// What was synchronized is there after a power cut, although its name went to another file and any program has
    /// synchronized a file of its own since, without the daemon.
    @Suite struct LogOrderTests {
        /// How `a` loses its content, which was synchronized, once `b` was, too.
        enum Way: String, CaseIterable {
            /// A new file was synchronized and takes the name.
            case newFile
            /// A new file takes the name, in a directory that was synchronized.
            case inDirectory
            /// Another document was synchronized and takes the name.
            case otherDocument
            /// The name goes, in a directory that was synchronized.
            case unlinked
            /// The file is emptied and written anew, and was synchronized a moment before.
            case emptied
            /// A new file takes the name, is synchronized by a mapping, and is renamed over the other document.
            case mapped
            /// Another document, synchronized by a mapping alone, takes the name.
            case otherMapped
            /// The daemon puts an older version in the place of the file.
            case restored
        }

        @Test(
            "What had a name stays, though the log has the name's next file",
            .enabled(if: getuid() == 0, "only root may mount images"), arguments: Way.allCases)
        func commitByAnother(_ way: Way) throws {
            let disk = try RecordedDisk(.btrfs, megabytes: 512)
            defer { if ProcessInfo.processInfo.environment["VERSIONSFS_KEEP"] != "1" { disk.remove() } }
            let container = TestContainer(existing: disk.path + "/container")
            defer { container.abandon() }
            try mustRun("mkdir", [container.path])
            let (outside, old) = (disk.beneath + "/outside", "what a program has synchronized")
            try save("one", to: outside)
            try container.mount()
            try save("what was first", to: container.file("a"))
            for name in ["a", "b"] { try save(old + " as \(name)", to: container.file(name), synchronizing: true) }
            // The daemon knows of nothing that it has not made durable.
            for text in ["one", "two"] { try save(text, to: container.file("c")) }
            try mustRun("sync", ["-f", disk.beneath])
            try lose(way, in: container)
            try save("two", to: outside, synchronizing: true)
            let cut = Entry.now
            try container.unmount()
            try disk.detach()
            let (contents, log) = try look(disk, at: cut)
            for name in ["a", "b"] {
                let digest = SHA256.hash(data: Array("\(old) as \(name)".utf8))
                #expect(contents.contains(digest), "\(name)\n\(log)")
            }
        }

        private func lose(_ way: Way, in container: TestContainer) throws {
            let (a, b, new) = (container.file("a"), container.file("b"), container.file("new"))
            switch way {
            case .newFile:
                try save("what comes", to: new, synchronizing: true)
                try rename(new, a)
            case .inDirectory:
                try save("what else is there", to: container.file("c"))
                try synchronize(container.path)
                try save("what comes", to: new)
                try rename(new, a)
            case .otherDocument:
                try save("what comes to b", to: b, synchronizing: true)
                try rename(b, a)
            case .unlinked:
                try save("what else is there", to: container.file("c"))
                try synchronize(container.path)
                guard unlink(a) == 0 else { throw Failure.call("unlink \(a)") }
            case .emptied:
                try save("what came before", to: a, synchronizing: true)
                try save("what comes", to: a)
            case .mapped:
                try save("what comes", to: new)
                try rename(new, a)
                try map(a)
                try rename(a, b)
            case .otherMapped:
                try map(b)
                try rename(b, a)
            case .restored:
                let first = try container.history(of: "a").versions.last?.id ?? ""
                _ = try container.must("restore", a, "--version", first)
            }
        }

        private func save(_ text: String, to path: String, synchronizing: Bool = false) throws {
            let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            guard file >= 0 else { throw Failure.call("open \(path)") }
            defer { close(file) }
            try writeAll(Array(text.utf8), to: file)
            guard !synchronizing || fsync(file) == 0 else { throw Failure.call("fsync \(path)") }
        }

        private func synchronize(_ directory: String) throws {
            let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard file >= 0 else { throw Failure.call("open \(directory)") }
            defer { close(file) }
            guard fsync(file) == 0 else { throw Failure.call("fsync \(directory)") }
        }

        private func rename(_ source: String, _ target: String) throws {
            guard Foundation.rename(source, target) == 0 else { throw Failure.call("rename \(source) \(target)") }
        }

        private func map(_ path: String) throws {
            let file = open(path, O_RDWR | O_CLOEXEC)
            guard file >= 0 else { throw Failure.call("open \(path)") }
            defer { close(file) }
            guard let map = mmap(nil, 4, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED else {
                throw Failure.call("mmap \(path)")
            }
            defer { munmap(map, 4) }
            map.copyMemory(from: "WHAT", byteCount: 4)
            guard msync(map, 4, MS_SYNC) == 0 else { throw Failure.call("msync \(path)") }
        }

        /// The contents of all versions behind a cut at that time that leaves just what the disk had to have, and the
        /// log of the daemon.
        private func look(_ disk: RecordedDisk, at time: UInt64) throws -> (Set<SHA256.Digest>, String) {
            var (replay, dice) = (try disk.replay(), Dice(seed: 1))
            let end = replay.records.firstIndex { $0.time > time } ?? replay.records.count
            return try disk.cut(&replay, behind: end, .nothing, &dice) { point in
                let container = TestContainer(existing: point + "/container")
                defer { container.abandon() }
                try container.startMachineAnew()
                try container.mount()
                try container.unmount()
                let inspection = try Inspection(container.path, after: .powerCut)
                let live = ["a", "b"].compactMap { Inspection.read(container.file($0)) }
                let digests = live.map { SHA256.hash(data: $0) }
                return (inspection.contents.union(inspection.nameless).union(digests), container.log)
            }
        }
    }
}
