// The journals of several programs that save the same names, and the contents that must be found afterwards.

import CrashLoad
import Crypto
import Foundation
import Support

/// One save of a `RaceWorker`.
struct RaceSave {
    var token: String
    var name: String
    var way: Character
    var size: Int
    var opening: Int64
    var opened: Int64?
    var closing: Int64?
    var closed: Int64?
    var inode: UInt64 = 0
    var isAcknowledged = false

    /// Whether the save began with an empty file; else it wrote into the content that was there.
    var isWhole: Bool { way != "i" }

    /// Its token again and again.
    var content: [UInt8] {
        let word = Array("\(token);".utf8)
        return (0..<size).map { word[$0 % word.count] }
    }

    /// While it had the file open, or was being let in.
    fileprivate var holding: ClosedRange<Int64> { opening...max(opening, closed ?? .max) }
}

/// The journals of all programs of a run.
struct RaceJournal {
    private(set) var saves: [String: RaceSave] = [:]
    private var lines: [(time: Int64, text: String)] = []

    /// Reads the journal of a program.
    mutating func read(_ path: String) throws {
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 7, let time = Int64(words[0]), let size = Int(words[4]), let result = Int32(words[5]),
                let extra = UInt64(words[6])
            else { continue }
            lines.append((time, String(line)))
            let token = String(words[3])
            switch words[1] {
            case "opening":
                let way = Character(UnicodeScalar(UInt8(truncatingIfNeeded: extra)))
                saves[token] = RaceSave(token: token, name: String(words[2]), way: way, size: size, opening: time)
            case "opened":
                saves[token]?.opened = time
                saves[token]?.inode = extra
            case "closing": saves[token]?.closing = time
            case "closed":
                saves[token]?.closed = time
                saves[token]?.isAcknowledged = result == 0
            default: break
            }
        }
    }

    var acknowledged: [RaceSave] { saves.values.filter(\.isAcknowledged) }

    /// The calls of all programs on a save's name around it.
    func story(of save: RaceSave) -> String {
        let stem = save.name.prefix { $0 != "." }
        let around = (save.opening - 5_000_000)...((save.closed ?? save.opening) + 5_000_000)
        let (old, new) = (" \(stem)", ">\(stem) ")
        let found = lines.filter { around.contains($0.time) && ($0.text.contains(old) || $0.text.contains(new)) }
        return found.sorted { $0.time < $1.time }.map { "\(($0.time - save.opening) / 1000) \($0.text)" }
            .joined(separator: "\n")
    }

    // MARK: Saves that POSIX lets programs mix

    /// How long a program may do nothing to a file that it replaces before others go on with it (`WriterClaims.lapse`),
    /// less the time that a busy machine takes between two steps.
    private static let quiet: Int64 = 150_000_000

    /// Whether others may have overwritten a save before it was closed, as POSIX has it for programs that share a file:
    /// a writer in place wrote meanwhile, or the program did nothing for so long that others did not wait any more.
    func isShared(_ save: RaceSave) -> Bool {
        let others = saves.values.filter {
            $0.token != save.token && $0.inode == save.inode && save.inode != 0 && $0.holding.overlaps(save.holding)
        }
        if !save.isWhole { return !others.isEmpty }
        // A writer that was let in after the close has overwritten a content that was saved.
        if others.contains(where: { !$0.isWhole && $0.opened ?? .max <= save.closed ?? .max }) { return true }
        let pause = (save.closing ?? save.opening) - (save.opened ?? save.opening)
        return pause > Self.quiet && !others.isEmpty
    }

    // MARK: Contents that must be found

    /// The acknowledged contents that an unmounted container holds nowhere.
    /// - Parameter shared: counts those that are not, and need not be.
    func lost(in path: String, _ inspection: Inspection, shared: inout Int) throws -> [RaceSave] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: path)
        let files = names.compactMap { Inspection.read("\(path)/\($0)") }
        let digests = inspection.contents.union(inspection.nameless)
        // A writer in place leaves the rest of the file as it is.
        var beginnings: [ArraySlice<UInt8>: [[UInt8]]] = [:]
        for bytes in files { beginnings[bytes.prefix { $0 != UInt8(ascii: ";") }, default: []].append(bytes) }
        var lost: [RaceSave] = []
        for save in acknowledged {
            let content = save.content
            if digests.contains(SHA256.hash(data: content)) { continue }
            let key = Array(save.token.utf8)[...]
            if !save.isWhole, beginnings[key]?.contains(where: { $0.starts(with: content) }) == true { continue }
            if isShared(save) { shared += 1 } else { lost.append(save) }
        }
        return lost
    }
}
