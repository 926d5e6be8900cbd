import Lineage
import VersionModel

/// A world that follows a script of what programs do, in which `f` has been there for long.
///
/// Commands are separated by `;`. Actor 1 gives them, from `2:` on actor 2, and so on:
///
/// | command | system calls |
/// |---|---|
/// | `save f` | open with O_CREAT and O_TRUNC, write one letter, close |
/// | `same f` | the same with a letter that is always the same, `?` |
/// | `probe f` | the same without the write |
/// | `append f` | open with O_APPEND, write one letter, close |
/// | `touch f` | open for writing, close |
/// | `truncate f` | truncate(2) to half its length |
/// | `h=replace f`, `h=append f`, `h=write f` | the open alone, as handle `h` |
/// | `h=REPLACE f`, `h=WRITE f`, `h=APPEND f` | the same for one whose writes come unseen |
/// | `flush h`, `release h` | the close(2) of a duplicate of it; its release alone |
/// | `write h`, `repeat h`, `close h` | one letter; always the same one; close(2) and its release |
/// | `write h start` | the same at the beginning of the file, also where it was opened to append |
/// | `empty h`, `cut h` | ftruncate(2) to nothing; to half its length |
/// | `seal h`, `sync h` | what it has written is a version; by fsync(2), which its later writes amend |
/// | `i=again h`, `i=AGAIN h` | one more writer of the file, which has no name |
/// | `backup f` | what it has read there last was to copy it before a save |
/// | `read f`, `rm f`, `mv f g`, `ln f g`, `swap f g` | |
/// | `mkdir d`, `rmdir d` | `d/a` and `d/b` are names in it, and `d/t` is made up |
/// | `undelete f`, `undelete f g` | what was deleted last at `f` comes back, or is `g` from then on |
/// | `renew f` | what was deleted last at `f` comes back as a new file, also if a program has it open |
/// | `pin f` | no writer goes on with its current version |
/// | `undelete d` | the directory, and all that was deleted in it |
/// | `purge f` | what was deleted last at the name is gone for good |
/// | `restore f` | the oldest content of its history, in a new file |
/// | `restore f g` | what `g` was saved with last, in a new file |
/// | `resolve f`, `resolve f first` | its conflicts are none any more; the oldest is none |
/// | `drop f`, `drop f b` | all versions go that may; that with these letters |
/// | `thin f` | all go that may, and that no program works from |
/// | `merge f` | a new letter is saved as the merge with its oldest conflict |
/// | `copy n f` | a copy of what `f` was saved with last is `n` |
/// | `add f`, `simulate f` | a new letter is a version beside its history, or a conflict |
/// | `quiet f` | what is saved there is never a rival |
/// | `scrap f` | its removal leaves nothing |
/// | `choose f`, `choose f all` | its oldest conflict, in a new file; with that all conflicts are settled |
/// | `put g`, `put g f` | not mounted, a file gets there, or a further name of `f`; then a mount |
/// | `turn f` | a kill, when a directory had taken the place of the file, or a file that of the directory |
/// | `refuse mv f g` | the same, and so of others, but the file system below refuses it |
/// | `age`, `hour` | more time goes by than names are waited for; more than an hour |
/// | `lose 2` | the power goes, and the facts of the last two calls are lost |
///
/// Letters are new with each write: `f` begins as `a`, the first save of the script writes `b`.
public struct Play: Sendable {
    public private(set) var world = World.empty()
    /// What did not hold on the way.
    public private(set) var problems: [String] = []
    private let rules: Rules
    private var isRefused = false
    private var handles: [Substring: HandleNumber] = [:]
    /// The facts before each move.
    private var past: [Facts] = []

    /// The names of a script. `t` is one that its maker makes up; no rule knows the others.
    public static let names: [Substring] = ["f", "f~", "t", "n", "g", "d"]
    /// Those in the directory `d`.
    static let inner: [Substring] = ["d/a", "d/b", "d/t"]

    public init(hasMadeUpNames: Bool = true) {
        rules = Rules(actors: 9, hasMadeUpNames: hasMadeUpNames, showsAll: false)
        run("7: save f; age")
    }

    public mutating func run(_ script: String, by actor: UInt32 = 1) {
        var actor = actor
        for command in script.split(separator: ";") {
            var words = command.split(separator: " ")
            if let first = words.first, first.last == ":", let number = UInt32(first.dropLast()) {
                actor = number
                relate(actor)
                words.removeFirst()
            }
            guard !words.isEmpty else { continue }
            if !carryOut(words, by: ActorNumber(actor)) { problems.append("no such command: \(command)") }
        }
    }

    /// Programs with three digits: 123 is the third process of program 2, and a child of 1. With five digits, 12345 is
    /// a child of 123. Program 9 is a shell at a terminal.
    private mutating func relate(_ actor: UInt32) {
        guard actor >= 100, world.kin[ActorNumber(actor)] == nil else { return }
        let lineage = sequence(first: actor / 100) { $0 >= 100 ? $0 / 100 : nil }.map { ActorNumber($0) }
        let relation = Kin.Relation(
            actor: ActorNumber(actor), lineage: lineage, program: actor / 10 % 10,
            endsAtTerminal: lineage.last == ActorNumber(9))
        world.kin = Kin(world.kin.relations + [relation])
    }

    private mutating func carryOut(_ words: [Substring], by actor: ActorNumber) -> Bool {
        guard let verb = words.first else { return false }
        if verb == "refuse" {
            isRefused = true
            defer { isRefused = false }
            return carryOut(Array(words.dropFirst()), by: actor)
        }
        if verb == "age" { return perform(.age) }
        if verb == "hour" {
            for _ in 0..<181 { perform(.age) }
            return true
        }
        guard words.count > 1 else { return false }
        if verb == "lose", let count = Int(words[1]) { return lose(count) }
        if Self.uses.contains(verb), let handle = handles[words[1]] {
            return use(handle, verb, atStart: words.last == "start")
        }
        if let handle = handles[words[1]], ["again", "AGAIN"].contains(verb.dropFirst(2)) {
            return reopen(handle, verb, by: actor)
        }
        guard let place = place(words[1]) else { return false }
        if verb.dropFirst().first == "=" {
            guard let mode = Self.modes[verb.dropFirst(2)] else { return false }
            handles[verb.prefix(1)] = open(place, mode, isUnseen: verb.last?.isUppercase ?? false, by: actor)
            return true
        }
        switch verb {
        case "save": return save(place, .replace, "write", by: actor)
        case "same": return save(place, .replace, "repeat", by: actor)
        case "probe": return save(place, .replace, nil, by: actor)
        case "append": return save(place, .append, "write", by: actor)
        case "touch": return save(place, .write, nil, by: actor)
        case "truncate": return perform(.truncate(actor, place))
        case "read": return perform(.open(actor, place, .read, isUnseen: false))
        case "backup": return perform(.readForBackup(actor, place))
        case "rm": return perform(.unlink(actor, place))
        case "restore": return restore(place, of: words.count > 2 ? self.place(words[2]) : nil, by: actor)
        case "resolve", "choose": return settle(place, verb, words.last, by: actor)
        case "drop", "thin": return drop(place, words.count > 2 ? words[2] : nil, sparesBases: verb == "thin")
        case "quiet":
            world.quiet.append(place)
            return true
        case "scrap": return perform(.unlink(actor, place, leavesNothing: true))
        case "merge": return perform(.merge(actor, place))
        case "add", "simulate": return perform(.add(actor, place, isConflict: verb == "simulate"))
        case "copy": return copy(words.count > 2 ? self.place(words[2]) : nil, to: place, by: actor)
        case "mkdir": return perform(.makeDirectory(actor, place))
        case "rmdir": return perform(.removeDirectory(actor, place))
        case "undelete": return undelete(place, to: words.count > 2 ? self.place(words[2]) : place, by: actor)
        case "renew": return entry(at: place).map {
            perform(.undelete(actor, $0.occupant.number, place, takesFormer: false))
        } ?? !problems.isEmpty
        case "pin": return perform(.pin(place))
        case "purge": return entry(at: place).map { perform(.purge($0.departure.number)) } ?? false
        case "put":
            let other = words.count > 2 ? self.place(words[2]) : nil
            return settle { $0.put(place, of: other) }
        case "turn": return settle { $0.turn(place) }
        default: break
        }
        guard words.count > 2, let other = self.place(words[2]) else { return false }
        switch verb {
        case "mv": return perform(.rename(actor, place, other))
        case "ln": return perform(.link(actor, place, other))
        case "swap": return perform(.exchange(actor, place, other))
        default: return false
        }
    }

    private static let uses: [Substring] = [
        "write", "repeat", "empty", "cut", "seal", "sync", "flush", "close", "release",
    ]
    private static let modes: [Substring: AccessMode] = [
        "replace": .replace, "append": .append, "write": .write,
        "REPLACE": .replace, "APPEND": .append, "WRITE": .write,
    ]

    /// Performs a move; after a violation, nothing more.
    @discardableResult
    public mutating func perform(_ move: Move) -> Bool {
        guard problems.isEmpty else { return true }
        past.append(world.facts)
        let move = isRefused ? Move.refused(move) : move
        do throws(Violation) { world = try world.performing(move, rules) } catch { problems.append("\(error)") }
        return true
    }

    /// What the deleted list has of a name, the latest.
    private func entry(at place: PlaceNumber) -> Facts.Deleted? {
        (world.facts.deleted() + world.facts.removedNames()).filter { $0.departure.place == place }
            .max { $0.departure.number < $1.departure.number }
    }

    private mutating func restore(_ place: PlaceNumber, of other: PlaceNumber?, by actor: ActorNumber) -> Bool {
        let document = world.facts.occupant(of: other ?? place)?.document
        let oldest = document.flatMap { world.facts.history(of: $0).last }
        let version = other == nil ? oldest : document.flatMap { world.facts.current(of: $0) }
        return version.map { perform(.restore(actor, place, $0)) } ?? !problems.isEmpty
    }

    private mutating func settle(
        _ place: PlaceNumber, _ verb: Substring, _ which: Substring?, by actor: ActorNumber
    ) -> Bool {
        let conflicts = world.facts.occupant(of: place).map { world.facts.conflicts(of: $0.document) } ?? []
        guard let oldest = conflicts.first else { return !problems.isEmpty }
        return verb == "resolve"
            ? perform(.resolve(place, which == "first" ? [oldest] : conflicts))
            : perform(.restore(actor, place, oldest, settling: which == "all" ? conflicts : []))
    }

    private mutating func drop(_ place: PlaceNumber, _ letters: Substring?, sparesBases: Bool) -> Bool {
        let versions = world.facts.occupant(of: place).map { world.facts.versions(of: $0.document) } ?? []
        let chosen = versions.filter { letters == nil || $0.fingerprint.letters == letters ?? "" }
        return perform(.drop(place, chosen.map(\.number), sparesBases: sparesBases))
    }

    private mutating func copy(_ place: PlaceNumber?, to other: PlaceNumber, by actor: ActorNumber) -> Bool {
        let document = place.flatMap { world.facts.occupant(of: $0)?.document }
        let current = document.flatMap { world.facts.current(of: $0) }
        return current.map { perform(.put(actor, other, $0)) } ?? !problems.isEmpty
    }

    private mutating func undelete(_ place: PlaceNumber, to other: PlaceNumber?, by actor: ActorNumber) -> Bool {
        guard let entry = entry(at: place), let other else { return !problems.isEmpty }
        perform(.undelete(actor, entry.occupant.number, other))
        let (occupant, new) = (entry.occupant, world.disk.file(at: other))
        guard occupant.hasNoVersions, let former = occupant.file, let new else {
            return true
        }
        for inner in world.facts.deleted() + world.facts.removedNames()
        where World.directory(of: inner.departure.place) == former {
            let place = World.place(new, World.name(of: inner.departure.place))
            perform(.undelete(actor, inner.occupant.number, place))
        }
        return true
    }

    /// Something happens while the container is not mounted. It is mounted then.
    private mutating func settle(_ change: (inout World) -> Void) -> Bool {
        guard problems.isEmpty else { return true }
        change(&world)
        do throws(Violation) { world = try world.checkingSettled(afterPowerCut: false) } catch {
            problems.append("\(error)")
        }
        return true
    }

    /// The power goes, the facts of the last moves with it, and the container is mounted again.
    private mutating func lose(_ count: Int) -> Bool {
        guard problems.isEmpty, past.indices.contains(past.count - count) else { return !problems.isEmpty }
        world.facts = past[past.count - count]
        world.listener = Listener(world.facts)
        do throws(Violation) { world = try world.checkingSettled(afterPowerCut: true) } catch {
            problems.append("\(error)")
        }
        return true
    }

    private mutating func save(
        _ place: PlaceNumber, _ mode: AccessMode, _ writing: Substring?, by actor: ActorNumber
    ) -> Bool {
        guard let handle = open(place, mode, by: actor) else { return true }
        if let writing { _ = use(handle, writing) }
        return use(handle, "close")
    }

    private mutating func open(
        _ place: PlaceNumber, _ mode: AccessMode, isUnseen: Bool = false, by actor: ActorNumber
    ) -> HandleNumber? {
        perform(.open(actor, place, mode, isUnseen: isUnseen))
        return world.memory.handles.last?.number
    }

    private mutating func reopen(_ handle: HandleNumber, _ verb: Substring, by actor: ActorNumber) -> Bool {
        guard let index = world.memory.handles.firstIndex(where: { $0.number == handle }) else {
            return !problems.isEmpty
        }
        perform(.reopen(actor, index, .write, isUnseen: verb.hasSuffix("N")))
        handles[verb.prefix(1)] = world.memory.handles.last?.number
        return true
    }

    private mutating func use(_ handle: HandleNumber, _ verb: Substring, atStart: Bool = false) -> Bool {
        guard let index = world.memory.handles.firstIndex(where: { $0.number == handle }) else {
            return !problems.isEmpty
        }
        if verb == "empty" { return perform(.empty(index)) }
        if verb == "cut" { return perform(.cut(index)) }
        if verb == "seal" || verb == "sync" { return perform(.seal(index, goesOn: verb == "sync")) }
        if verb == "flush" { return perform(.close(index)) }
        if verb == "release" { return perform(.release(index)) }
        if verb != "close" { return perform(.write(index, atStart: atStart, isRepeating: verb == "repeat")) }
        perform(.close(index))
        return perform(.release(index))
    }
}
