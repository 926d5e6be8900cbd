// Crashes at any request, without a kernel and a disk, thousands of them: what recovery has to tell apart. What a file
// system really does in a power cut, and a daemon in a kill, is `PowerTests` and `KillTests`.

import CrashLoad
import Foundation
import Glibc
import Support
import SystemPackage
import Testing

extension Crashes {
    @Suite struct SimulatedTests {
        @Test("Whatever a program does, what it saved is there after a kill between two requests")
        func kills() throws { try crash(Workplace.count(500), .kill, seed: KillTests.seed &+ 4) }

        @Test("Whatever a program does, what it synchronised is there after a power cut between two requests")
        func cuts() throws { try crash(Workplace.count(1500), .powerCut, seed: KillTests.seed &+ 5) }

        private func crash(_ count: Int, _ ending: Ending, seed: UInt64) throws {
            print("simulated crashes: \(count), \(ending), seed \(seed)")
            var dice = Dice(seed: seed)
            var totals = Totals()
            while totals.crashes < count {
                let own = dice.next()
                let load = try SimulatedLoad(own)
                defer { load.remove() }
                for round in 0..<min(5, count - totals.crashes) {
                    totals.crashes += 1
                    let problems = try load.crash(ending, &totals)
                    guard problems.isEmpty else {
                        throw Failure(
                            problems.map { "seed \(seed), container \(own), crash \(round + 1): \($0)" }.joined(separator: "\n"),
                            evidence: load.story.joined(separator: "\n"))
                    }
                }
            }
            print("simulated crashes: \(totals.crashes), \(totals.contents) contents found again, \(totals.unfinished) unfinished versions seen")
        }
    }
}

/// One program that saves in every way there is, as `CrashWorker` does, by calls of the container.
final class SimulatedLoad {
    private let container: SimulatedContainer
    private var ledger = Ledger()
    private var dice: Dice
    private var number: UInt64 = 0
    private var contents: [String: Content] = [:]
    private let path: String
    private(set) var story: [String] = []

    init(_ seed: UInt64) throws {
        dice = Dice(seed: seed)
        path = try Workplace.fresh("simulated")
        try mustRun("mkdir", ["-p", path + "/w/sub"])
        container = try SimulatedContainer(path, Dice(seed: dice.next()))
    }

    func remove() {
        if ProcessInfo.processInfo.environment["VERSIONSFS_KEEP"] != "1" { try? FileManager.default.removeItem(atPath: path) }
    }

    func crash(_ ending: Ending, _ totals: inout Totals) throws -> [String] {
        contents = [:]
        let all = Int.random(in: 1...120, using: &dice)
        container.rest = all
        container.restOfCatalog = Int.random(in: 1...all, using: &dice)
        story.append("-- crash at \(all), catalog at \(container.restOfCatalog)")
        do {
            try container.makeDirectory("w/sub")
            while true { try step() }
        } catch is CrashCame {} catch { throw Failure("a request failed: \(error)", evidence: story.joined(separator: "\n")) }
        try container.crash(ending)
        let problems = try ledger.verify(path, after: ending, totals: &totals)
        if problems.isEmpty { try container.reopen() }
        return problems
    }

    private func step() throws {
        if Int.random(in: 0..<20, using: &dice) == 0 { return try moveDirectory() }
        let file = "w/" + ["a.txt", "b.txt", "sub/a.txt"][Int.random(in: 0..<3, using: &dice)]
        let held = contents[file]
        var actions: [Entry.Action] = [.inPlace, .inPlace, .byRename, .byRename]
        if held != nil { actions += [.append, .append, .overwrite, .patch, .mapped, .unlink, .move, .moveOver] }
        let syncs = Int.random(in: 0..<3, using: &dice) == 0
        let fresh = fresh()
        let content = held ?? Content([])
        switch actions[Int.random(in: 0..<actions.count, using: &dice)] {
        case .inPlace: try change(.inPlace, file, fresh, O_WRONLY | O_CREAT | O_TRUNC, fresh.bytes, syncs)
        case .byRename: try replaceByRename(file, fresh, syncs)
        case .append:
            try change(
                .append, file, Content(content.pieces + fresh.pieces), O_WRONLY | O_APPEND, fresh.bytes, at: content.length, syncs)
        case .overwrite: try change(.overwrite, file, fresh, O_RDWR, fresh.bytes, syncs)
        case .mapped: try change(.mapped, file, fresh, O_RDWR, fresh.bytes, syncs)
        case .patch: try patch(file, content, syncs)
        case .unlink:
            try doing(.unlink, file, Content([])) { try container.unlink(file) }
            contents[file] = nil
        case .move:
            let target = "w/moved-\(number).txt"
            try doing(.move, file, content, to: target) { try container.rename(file, to: target) }
            contents[file] = nil
        case .moveOver: try moveOver(file, content)
        case .moveDirectory, .survive: break
        }
    }

    private func fresh() -> Content {
        number += 1
        return Content([.init(number: number, length: Int.random(in: 40...9_000, using: &dice))])
    }

    private func change(
        _ action: Entry.Action, _ file: String, _ content: Content, _ flags: Int32, _ bytes: [UInt8], at offset: Int = 0,
        _ syncs: Bool
    ) throws {
        try doing(action, file, content) {
            let opened = try container.open(file, flags)
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
        }
        contents[file] = content
    }

    private func patch(_ file: String, _ held: Content, _ syncs: Bool) throws {
        var content = held
        guard let index = held.pieces.indices.randomElement(using: &dice) else { return }
        number += 1
        content.pieces[index].number = number
        let offset = held.pieces[..<index].reduce(0) { $0 + $1.length }
        try change(.patch, file, content, O_WRONLY, content.pieces[index].bytes, at: offset, syncs)
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
        contents[file] = content
    }

    private func moveOver(_ file: String, _ held: Content) throws {
        let others = contents.keys.filter { $0 != file && contents[$0] != nil && !$0.contains("moved") }.sorted()
        guard let target = others.randomElement(using: &dice) else { return }
        try doing(.moveOver, file, held, to: target) { try container.rename(file, to: target) }
        contents[file] = nil
        contents[target] = held
    }

    private func moveDirectory() throws {
        number += 1
        let (source, target) = ("w/sub", "w/sub-\(number)")
        try doing(.moveDirectory, source, Content([]), to: target) { try container.rename(source, to: target) }
        for (file, content) in contents where file.hasPrefix(source + "/") {
            contents[file] = nil
            contents[target + file.dropFirst(source.count)] = content
        }
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
        ledger.add(entry)
        story.append("\(entry.stage.rawValue) \(entry.action) \(entry.file) \(entry.content) \(entry.target)")
    }
}
