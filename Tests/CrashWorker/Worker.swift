// One program that saves in every way there is.

import CrashLoad
import Glibc

/// A system call failed: the mount is gone, or the test has found something.
struct CallFailed: Error {
    var call: String
    var code: Int32
}

struct Worker {
    private let root: String
    private let directory: String
    /// One change of so many is synchronized.
    private let syncsOneOf: Int
    private var number: UInt64
    private var dice: Dice
    /// What this worker's files hold, by name; nil once a file is gone.
    private var contents: [String: Content] = [:]
    /// The files that it works on.
    private static let names = ["a.txt", "b.txt", "c.txt", "sub/a.txt"]

    init(root: String, directory: String, first: UInt64, seed: UInt64, syncsOneOf: Int) {
        self.syncsOneOf = syncsOneOf
        self.root = root
        self.directory = directory
        number = first
        dice = Dice(seed: seed)
    }

    /// Works until a call fails or somebody closes our standard input.
    mutating func run() {
        do {
            try check("chdir", chdir(root))
            guard isOnMount else { return say("# the daemon was gone before the first call\n") }
            // The crash before may have come between the renaming of it and its making.
            _ = mkdir(path("\(directory)/sub"), 0o755)
            // It goes on with what it finds, or every first doing of it would replace a file.
            for name in Self.names {
                contents["\(directory)/\(name)"] = read("\(directory)/\(name)").flatMap { Content(of: $0) }
            }
            while !isToldToEnd(0) { try step() }
        } catch let error as CallFailed {
            // Not an entry, but of use to whoever reads the journal.
            say("# \(error.call): \(error.code)\n")
        } catch {}
    }

    /// Whether the daemon is there. On a busy machine a worker may begin only after it was killed, and its mount
    /// detached: what it did then, it would do to the directory beneath, where nobody keeps anything.
    private var isOnMount: Bool {
        var (here, above) = (stat(), stat())
        return stat(".", &here) == 0 && stat("..", &above) == 0 && here.st_dev != above.st_dev
    }

    private mutating func step() throws {
        // Renaming its directory is the rarest, because it touches every file in it.
        if Int.random(in: 0..<40, using: &dice) == 0 { return try moveDirectory() }
        if Int.random(in: 0..<60, using: &dice) == 0 { return try makeAndRemoveTree() }
        let file = "\(directory)/" + Self.names[Int.random(in: 0..<Self.names.count, using: &dice)]
        let held = contents[file]
        var actions: [Entry.Action] = [.inPlace, .inPlace, .byRename, .byRename]
        if held != nil { actions += [.append, .append, .overwrite, .patch, .mapped, .unlink, .move, .moveOver] }
        let syncs = Int.random(in: 0..<syncsOneOf, using: &dice) == 0
        switch actions[Int.random(in: 0..<actions.count, using: &dice)] {
        case .inPlace: try replace(file, syncs)
        case .byRename: try replaceByRename(file, syncs)
        case .append: try append(file, held ?? Content([]), syncs)
        case .overwrite: try overwrite(file, syncs)
        case .patch: try patch(file, held ?? Content([]), syncs)
        case .mapped: try overwriteMapped(file, syncs)
        case .unlink: try remove(file)
        case .move: try move(file, held ?? Content([]))
        case .moveOver: try moveOver(file, held ?? Content([]))
        case .moveDirectory, .survive, .exchange, .undelete, .restore, .displaced: break
        }
    }

    // MARK: Ways of saving

    private mutating func replace(_ file: String, _ syncs: Bool) throws {
        let content = fresh()
        try doing(.inPlace, file, content) {
            let descriptor = try open(file, O_WRONLY | O_CREAT | O_TRUNC)
            try write(content.bytes, to: descriptor)
            if syncs { try sync(descriptor, .inPlace, file, content) }
            try check("close", close(descriptor))
        }
        contents[file] = content
    }

    private mutating func replaceByRename(_ file: String, _ syncs: Bool) throws {
        let content = fresh()
        let temporary = "\(file).tmp.\(getpid()).\(String(dice.next(), radix: 16))"
        try doing(.byRename, file, content) {
            do {
                let descriptor = try open(temporary, O_WRONLY | O_CREAT | O_EXCL)
                try write(content.bytes, to: descriptor)
                if syncs { try check("fsync", fsync(descriptor)) }
                try check("close", close(descriptor))
            }
            try check("rename", rename(path(temporary), path(file)))
            if syncs { try syncDirectory(of: file, .byRename, content) }
        }
        contents[file] = content
    }

    private mutating func append(_ file: String, _ held: Content, _ syncs: Bool) throws {
        let piece = fresh().pieces
        let content = Content(held.pieces + piece)
        try doing(.append, file, content) {
            let descriptor = try open(file, O_WRONLY | O_APPEND)
            try write(piece.flatMap(\.bytes), to: descriptor)
            if syncs { try sync(descriptor, .append, file, content) }
            try check("close", close(descriptor))
        }
        contents[file] = content
    }

    private mutating func overwrite(_ file: String, _ syncs: Bool) throws {
        let content = fresh()
        try doing(.overwrite, file, content) {
            let descriptor = try open(file, O_RDWR)
            try write(content.bytes, to: descriptor)
            try check("ftruncate", ftruncate(descriptor, content.length))
            if syncs { try sync(descriptor, .overwrite, file, content) }
            try check("close", close(descriptor))
        }
        contents[file] = content
    }

    /// Other bytes for one piece, nothing else.
    private mutating func patch(_ file: String, _ held: Content, _ syncs: Bool) throws {
        var content = held
        guard let index = held.pieces.indices.randomElement(using: &dice) else { return }
        number += 1
        content.pieces[index].number = number
        let offset = held.pieces[..<index].reduce(0) { $0 + $1.length }
        try doing(.patch, file, content) {
            let descriptor = try open(file, O_WRONLY)
            let bytes = content.pieces[index].bytes
            guard pwrite(descriptor, bytes, bytes.count, offset) == bytes.count else {
                throw CallFailed(call: "pwrite", code: errno)
            }
            if syncs { try sync(descriptor, .patch, file, content) }
            try check("close", close(descriptor))
        }
        contents[file] = content
    }

    private mutating func overwriteMapped(_ file: String, _ syncs: Bool) throws {
        let content = fresh()
        try doing(.mapped, file, content) {
            let descriptor = try open(file, O_RDWR)
            try check("ftruncate", ftruncate(descriptor, content.length))
            let map = try map(descriptor, content.length)
            content.bytes.withUnsafeBytes {
                map.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(map), byteCount: $0.count)
            }
            if syncs {
                try check("msync", msync(map, content.length, MS_SYNC))
                try sync(descriptor, .mapped, file, content)
            }
            munmap(map, content.length)
            try check("close", close(descriptor))
        }
        contents[file] = content
    }

    private mutating func remove(_ file: String) throws {
        try doing(.unlink, file, Content([])) { try check("unlink", unlink(path(file))) }
        contents[file] = nil
    }

    private mutating func move(_ file: String, _ held: Content) throws {
        let target = "\(directory)/moved-\(number).txt"
        number += 1
        try doing(.move, file, held, to: target) { try check("rename", rename(path(file), path(target))) }
        contents[file] = nil
    }

    /// Over another of its files, where that is there.
    private mutating func moveOver(_ file: String, _ held: Content) throws {
        let others = contents.keys.filter { $0 != file && contents[$0] != nil && !$0.contains("moved") }.sorted()
        guard let target = others.randomElement(using: &dice) else { return }
        try doing(.moveOver, file, held, to: target) { try check("rename", rename(path(file), path(target))) }
        contents[file] = nil
        contents[target] = held
    }

    /// `sub` goes to another name with all that is in it, and is made anew.
    private mutating func moveDirectory() throws {
        let (source, target) = ("\(directory)/sub", "\(directory)/sub-\(number)")
        number += 1
        try doing(.moveDirectory, source, Content([]), to: target) {
            try check("rename", rename(path(source), path(target)))
        }
        for (file, content) in contents where file.hasPrefix(source + "/") {
            contents[file] = nil
            contents[target + file.dropFirst(source.count)] = content
        }
        try check("mkdir", mkdir(path(source), 0o755))
    }

    /// A directory with a few files, and what `rm -rf` does to it.
    private mutating func makeAndRemoveTree() throws {
        let tree = "\(directory)/tree-\(number)"
        number += 1
        try check("mkdir", mkdir(path(tree), 0o755))
        try check("mkdir", mkdir(path(tree + "/inner"), 0o755))
        let files = ["\(tree)/one", "\(tree)/inner/two", "\(tree)/inner/three"]
        for file in files { try replace(file, false) }
        for file in files.reversed() { try remove(file) }
        try check("rmdir", rmdir(path(tree + "/inner")))
        try check("rmdir", rmdir(path(tree)))
    }

    // MARK: Beyond the crash

    /// Writes through a descriptor and a mapping that it has had from before a crash, and finishes when told to: what
    /// it wrote has to be there then.
    mutating func survive() {
        do {
            try check("chdir", chdir(root))
            guard isOnMount else { return say("# the daemon was gone before the first call\n") }
            let file = "\(directory)/survivor.txt"
            let (before, after) = (fresh(), fresh())
            say(Entry(.begin, .survive, file, before).line)
            let descriptor = try open(file, O_RDWR | O_CREAT | O_TRUNC)
            try write(before.bytes, to: descriptor)
            try check("ftruncate", ftruncate(descriptor, after.length))
            let map = try map(descriptor, after.length)
            say(Entry(.done, .survive, file, before).line)
            while !isToldToEnd(100) {
                guard pwrite(descriptor, "~", 1, 0) == 1 else { throw CallFailed(call: "pwrite", code: errno) }
            }
            say(Entry(.begin, .survive, file, after).line)
            // One half through the one, the rest through the other.
            let bytes = after.bytes
            let half = bytes.count / 2
            guard pwrite(descriptor, bytes, half, 0) == half else { throw CallFailed(call: "pwrite", code: errno) }
            bytes.withUnsafeBytes { all in
                guard let base = all.baseAddress else { return }
                (map + half).copyMemory(from: base + half, byteCount: bytes.count - half)
            }
            munmap(map, after.length)
            close(descriptor)
            say(Entry(.done, .survive, file, after).line)
        } catch let error as CallFailed {
            say("# \(error.call): \(error.code)\n")
        } catch {}
    }

    // MARK: Small things

    private mutating func fresh() -> Content {
        number += 1
        let big = Int.random(in: 0..<8, using: &dice) == 0
        let length = Int.random(in: big ? 60_000...300_000 : 40...9_000, using: &dice)
        return Content([.init(number: number, length: length)])
    }

    private func doing(
        _ action: Entry.Action, _ file: String, _ content: Content, to target: String = "-", _ body: () throws -> Void
    ) throws {
        say(Entry(.begin, action, file, content, to: target).line)
        try body()
        say(Entry(.done, action, file, content, to: target).line)
    }

    /// Relative to where we stand: a path from the root would lead beneath the mount once that is gone.
    private func path(_ file: String) -> String { file }

    private func open(_ file: String, _ flags: Int32) throws -> Int32 {
        let descriptor = Glibc.open(path(file), flags | O_CLOEXEC, 0o644)
        try check("open", descriptor)
        return descriptor
    }

    private func read(_ file: String) -> [UInt8]? {
        let descriptor = Glibc.open(path(file), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var (bytes, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 1 << 16))
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += buffer.prefix(count)
        }
    }

    private func map(_ descriptor: Int32, _ length: Int) throws -> UnsafeMutableRawPointer {
        guard let map = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), map != MAP_FAILED else {
            throw CallFailed(call: "mmap", code: errno)
        }
        return map
    }

    /// In pieces, so that a crash can come in between.
    private func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var done = 0
        while done < bytes.count {
            let count = min(bytes.count - done, 16_384)
            let start = done
            let result = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress.map { $0 + start }, count) }
            guard result > 0 else { throw CallFailed(call: "write", code: errno) }
            done += result
        }
    }

    private func sync(_ descriptor: Int32, _ action: Entry.Action, _ file: String, _ content: Content) throws {
        try check("fsync", fsync(descriptor))
        say(Entry(.synced, action, file, content).line)
    }

    private func syncDirectory(of file: String, _ action: Entry.Action, _ content: Content) throws {
        let parent = file.split(separator: "/").dropLast().joined(separator: "/")
        let descriptor = try open(parent, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        try sync(descriptor, action, file, content)
    }

    private func check(_ call: String, _ result: Int32) throws {
        if result < 0 { throw CallFailed(call: call, code: errno) }
    }

    private func say(_ line: String) {
        let bytes = Array(line.utf8)
        _ = Glibc.write(1, bytes, bytes.count)
    }

    /// Whether standard input has ended, waiting so many milliseconds for that.
    private func isToldToEnd(_ milliseconds: Int32) -> Bool {
        var set = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        return poll(&set, 1, milliseconds) > 0
    }
}
