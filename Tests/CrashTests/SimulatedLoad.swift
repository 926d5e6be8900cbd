// One program that saves in every way there is, as `CrashWorker` does, by calls of the container.

import CrashLoad
import Foundation
import Glibc
import Support

final class SimulatedLoad {
    private let container: SimulatedContainer
    private var ledger = Ledger()
    private var dice: Dice
    private var number: UInt64 = 0
    /// What files hold that were written in this round.
    private var contents: [String: Content] = [:]
    /// What they held before, and what was unlinked last under a name that is free.
    private var olds: [String: [Content]] = [:]
    private var deleted: [String: Content] = [:]
    /// Files that are being written to while other things happen.
    private var writing: [Writing] = []
    private let path: String
    /// Where the doings are told to whoever goes on after the crash; nil: that is this process.
    private var journal: Int32?
    private(set) var story: [String] = []

    /// The names that it uses.
    private static let files = ["w/a.txt", "w/b.txt", "w/sub/a.txt"]

    /// A save that takes its time.
    private struct Writing {
        var opened: SimulatedContainer.Opened
        var action: Entry.Action
        /// Its name when it was opened, or where it was moved since.
        var file: String
        /// Another file has the name now, or it was unlinked.
        var isDisplaced = false
        var content: Content
        /// What is still to be written, and where.
        var rest: ArraySlice<UInt8>
        var offset: Int
    }

    /// Doings that are not wanted, for whoever looks for what is wrong; `late` are saves that take their time.
    private static let leftOut = Set(
        (ProcessInfo.processInfo.environment["VERSIONSFS_LEAVE_OUT"] ?? "").split(separator: ",").map(String.init))

    init(_ seed: UInt64) throws {
        dice = Dice(seed: seed)
        path = try Workplace.fresh("simulated")
        try mustRun("mkdir", ["-p", path + "/w/sub"])
        container = try SimulatedContainer(path, Dice(seed: dice.next()))
    }

    /// A load in a container that is there, for a process that is to be killed.
    init(_ seed: UInt64, in path: String, from number: UInt64, journal: Int32) throws {
        dice = Dice(seed: seed)
        self.path = path
        self.journal = journal
        self.number = number
        container = try SimulatedContainer(path, Dice(seed: dice.next()), passesThrough: Bool.random(using: &dice))
        // It goes on with what it finds, or every first doing of it would replace a file.
        for file in Self.files {
            contents[file] = FileManager.default.contents(atPath: "\(path)/\(file)").flatMap { Content(of: Array($0)) }
        }
    }

    func remove() {
        if ProcessInfo.processInfo.environment["VERSIONSFS_KEEP"] != "1" {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    func crash(_ ending: Ending, _ totals: inout Totals) throws -> [String] {
        (contents, olds, deleted, writing) = ([:], [:], [:], [])
        let all = Int.random(in: 1...120, using: &dice)
        container.rest = all
        container.restOfCatalog = Int.random(in: 1...all, using: &dice)
        story.append("-- crash at \(all), catalog at \(container.restOfCatalog)")
        do {
            try container.makeDirectory("w/sub")
            while true { try step() }
        } catch is CrashCame {} catch {
            throw Failure("a request failed: \(error)", evidence: story.joined(separator: "\n"))
        }
        try container.crash(ending)
        let problems = try ledger.verify(path, after: ending, totals: &totals)
        if problems.isEmpty { try container.reopen() }
        return problems
    }

    /// Works until so many requests are made, if the process lives to see that.
    func run(_ requests: Int) throws {
        container.rest = requests
        do {
            try container.makeDirectory("w/sub")
            while true { try step() }
        } catch is CrashCame {}
    }

    private func step() throws {
        if !writing.isEmpty, Int.random(in: 0..<5, using: &dice) == 0 { return try goOn() }
        if Int.random(in: 0..<20, using: &dice) == 0 { return try moveDirectory() }
        let file = Self.files[Int.random(in: 0..<3, using: &dice)]
        let held = contents[file]
        let isBusy = isBusy(file)
        var actions: [Entry.Action] = [.byRename, .byRename]
        if !isBusy { actions += [.inPlace, .inPlace] }
        if held != nil { actions += [.unlink, .move] }
        if held != nil, !isBusy {
            actions += [.append, .append, .overwrite, .patch, .mapped, .moveOver, .exchange, .restore]
        }
        if held == nil, !isBusy, deleted[file] != nil { actions += [.undelete, .undelete] }
        actions.removeAll { Self.leftOut.contains($0.rawValue) }
        let syncs = Int.random(in: 0..<3, using: &dice) == 0
        let fresh = fresh()
        let content = held ?? Content([])
        switch actions[Int.random(in: 0..<actions.count, using: &dice)] {
        case .inPlace: try change(.inPlace, file, fresh, O_WRONLY | O_CREAT | O_TRUNC, fresh.bytes, syncs)
        case .byRename: try replaceByRename(file, fresh, syncs)
        case .append:
            try change(
                .append, file, Content(content.pieces + fresh.pieces), O_WRONLY | O_APPEND, fresh.bytes,
                at: content.length, syncs)
        case .overwrite where content.pieces.count > 1 && syncs: try truncate(file, content)
        case .overwrite: try change(.overwrite, file, fresh, O_RDWR, fresh.bytes, syncs)
        case .mapped: try change(.mapped, file, fresh, O_RDWR, fresh.bytes, syncs)
        case .patch: try patch(file, content, syncs)
        case .unlink:
            try doing(.unlink, file, Content([])) { try container.unlink(file) }
            deleted[file] = isBusy ? nil : content
            displace(file)
            contents[file] = nil
        case .move: try move(file, content)
        case .moveOver: try moveOver(file, content)
        case .exchange: try exchange(file, content)
        case .undelete: try undelete(file)
        case .restore: try restore(file)
        case .moveDirectory, .survive, .displaced: break
        }
    }

    private func fresh() -> Content {
        number += 1
        return Content([.init(number: number, length: Int.random(in: 40...9_000, using: &dice))])
    }

    private func note(_ file: String, _ content: Content) {
        if let old = contents[file] { olds[file, default: []].append(old) }
        contents[file] = content
        deleted[file] = nil
    }

    // MARK: Saves

    private func change(
        _ action: Entry.Action, _ file: String, _ content: Content, _ flags: Int32, _ bytes: [UInt8],
        at offset: Int = 0,
        _ syncs: Bool
    ) throws {
        let mayTakeTime = !syncs && writing.count < 2 && !Self.leftOut.contains("late") && action != .mapped
        let takesTime = mayTakeTime && Int.random(in: 0..<6, using: &dice) == 0
        say(Entry(.begin, action, file, content))
        let opened = try container.open(file, flags)
        if takesTime {
            let cut = Int.random(in: 0...bytes.count, using: &dice)
            if cut > 0 { try container.write(bytes[..<cut], opened, at: offset) }
            writing.append(
                Writing(
                    opened: opened, action: action, file: file, content: content, rest: bytes[cut...],
                    offset: offset + cut))
            story.append("… goes on later")
            return
        }
        if action == .mapped { try container.truncate(opened, to: content.length) }
        for start in stride(from: 0, to: bytes.count, by: 3000) {
            let piece = bytes[start..<min(start + 3000, bytes.count)]
            if flags & O_ACCMODE == O_RDWR {
                try container.writeUnseen(piece, opened, at: offset + start)
            } else {
                try container.write(piece, opened, at: offset + start)
            }
        }
        if action == .overwrite { try container.truncate(opened, to: content.length) }
        if syncs {
            try container.synchronize(opened)
            say(Entry(.synced, action, file, content))
        }
        try container.close(opened)
        say(Entry(.done, action, file, content))
        note(file, content)
    }

    /// What was begun is written and closed, wherever its file is by now.
    private func goOn() throws {
        let own = writing.remove(at: Int.random(in: writing.indices, using: &dice))
        if !own.rest.isEmpty { try container.write(own.rest, own.opened, at: own.offset) }
        if own.action == .overwrite { try container.truncate(own.opened, to: own.content.length) }
        let syncs = !own.isDisplaced && Int.random(in: 0..<3, using: &dice) == 0
        if syncs {
            try container.synchronize(own.opened)
            say(Entry(.synced, own.action, own.file, own.content))
        }
        try container.close(own.opened)
        say(Entry(.done, own.isDisplaced ? .displaced : own.action, own.file, own.content))
        if !own.isDisplaced { note(own.file, own.content) }
    }

    private func isBusy(_ file: String) -> Bool { writing.contains { $0.file == file && !$0.isDisplaced } }

    /// Whoever writes to the file that has the name writes to one that has lost it.
    private func displace(_ file: String) {
        for index in writing.indices where writing[index].file == file { writing[index].isDisplaced = true }
    }

    private func patch(_ file: String, _ held: Content, _ syncs: Bool) throws {
        var content = held
        guard let index = held.pieces.indices.randomElement(using: &dice) else { return }
        number += 1
        content.pieces[index].number = number
        let offset = held.pieces[..<index].reduce(0) { $0 + $1.length }
        try change(.patch, file, content, O_WRONLY, content.pieces[index].bytes, at: offset, syncs)
    }

    private func truncate(_ file: String, _ held: Content) throws {
        let content = Content(Array(held.pieces.dropLast()))
        try doing(.overwrite, file, content) { try container.truncate(file, to: content.length) }
        note(file, content)
    }

    private func replaceByRename(_ file: String, _ content: Content, _ syncs: Bool) throws {
        let temporary = "\(file).tmp.\(getpid()).\(String(dice.next(), radix: 16))"
        try doing(.byRename, file, content) {
            let opened = try container.open(temporary, O_WRONLY | O_CREAT | O_EXCL)
            try container.write(content.bytes[...], opened, at: 0)
            if syncs { try container.synchronize(opened) }
            try container.close(opened)
            try container.rename(temporary, to: file)
            if syncs { say(Entry(.synced, .byRename, file, content)) }
        }
        displace(file)
        note(file, content)
    }

    private func undelete(_ file: String) throws {
        guard let content = deleted[file] else { return }
        try doing(.undelete, file, content) { try container.undelete(file) }
        note(file, content)
    }

    private func restore(_ file: String) throws {
        guard let content = olds[file]?.randomElement(using: &dice), content != contents[file],
            let restore = try container.restoring(file, to: content)
        else { return }
        try doing(.restore, file, content, restore)
        note(file, content)
    }

    // MARK: Names

    private func move(_ file: String, _ held: Content) throws {
        let target = "w/moved-\(number).txt"
        try doing(.move, file, held, to: target) { try container.rename(file, to: target) }
        contents[file] = nil
        contents[target] = held
        for index in writing.indices where writing[index].file == file && !writing[index].isDisplaced {
            writing[index].file = target
            writing[index].opened.file = target
            say(Entry(.begin, writing[index].action, target, writing[index].content))
        }
    }

    private func moveOver(_ file: String, _ held: Content) throws {
        let sources = contents.keys.filter { !isBusy($0) }.sorted()
        let source = Int.random(in: 0..<3, using: &dice) == 0 ? sources.randomElement(using: &dice) ?? file : file
        let others = contents.keys.filter { $0 != source && !$0.contains("moved") }.sorted()
        guard let target = others.randomElement(using: &dice), let content = contents[source] else { return }
        try doing(.moveOver, source, content, to: target) { try container.rename(source, to: target) }
        displace(target)
        contents[source] = nil
        note(target, content)
    }

    private func exchange(_ file: String, _ held: Content) throws {
        let others = contents.keys.filter { $0 != file && !isBusy($0) }.sorted()
        guard let target = others.randomElement(using: &dice), let other = contents[target] else { return }
        try doing(.exchange, file, held, to: target) { try container.exchange(file, with: target) }
        note(file, other)
        note(target, held)
    }

    private func moveDirectory() throws {
        guard !writing.contains(where: { $0.file.hasPrefix("w/sub/") && !$0.isDisplaced }) else { return }
        number += 1
        let (source, target) = ("w/sub", "w/sub-\(number)")
        try doing(.moveDirectory, source, Content([]), to: target) { try container.rename(source, to: target) }
        for (file, content) in contents where file.hasPrefix(source + "/") {
            contents[file] = nil
            contents[target + file.dropFirst(source.count)] = content
        }
        for file in deleted.keys where file.hasPrefix(source + "/") { deleted[file] = nil }
        for file in olds.keys where file.hasPrefix(source + "/") { olds[file] = nil }
        try container.makeDirectory(source)
    }

    private func doing(
        _ action: Entry.Action, _ file: String, _ content: Content, to target: String = "-", _ body: () throws -> Void
    ) throws {
        say(Entry(.begin, action, file, content, to: target))
        try body()
        say(Entry(.done, action, file, content, to: target))
    }

    private func say(_ entry: Entry) {
        if let journal {
            let line = Array(entry.line.utf8)
            _ = write(journal, line, line.count)
            return
        }
        ledger.add(entry)
        story.append("\(entry.stage.rawValue) \(entry.action) \(entry.file) \(entry.content) \(entry.target)")
    }
}
