import Lineage
import VersionModel

/// System calls of several programs in one order, written as `InterleavingTests` writes them: `0 openTruncating x;
/// 1 rename x y; 0 write 1`. A handle is counted from the program's last. What cannot be done is passed over.
public struct Order: Sendable {
    private var world: World
    private let rules: Rules
    /// Whether the writes of handles that write inside a file, or replace it, come unseen.
    private let isUnseen: Bool
    /// Handles of which a duplicate was closed.
    private var duplicated: [HandleNumber] = []

    private init(isUnseen: Bool, rules: Rules) throws(Violation) {
        self.isUnseen = isUnseen
        self.rules = rules
        world = try World.start(rules)
    }

    /// Carries the order out, closes and releases everything, and looks after each step.
    /// - Returns: what does not hold; `no such step` for one that is not understood.
    public static func problems(_ steps: String, isUnseen: Bool) -> [String] {
        let people = Set(steps.split(separator: ";").compactMap { $0.split(separator: " ").first })
        let rules = Rules(
            actors: people.count == 1 ? 1 : 9, hasMadeUpNames: false, kills: true, showsAll: people.count == 1)
        do throws(Violation) {
            var order = try Order(isUnseen: isUnseen, rules: rules)
            for step in steps.split(separator: ";") {
                guard try order.carryOut(step.split(separator: " ")) else { return ["no such step: \(step)"] }
            }
            try order.closeAll()
        } catch {
            return ["\(error)"]
        }
        return []
    }

    private mutating func carryOut(_ words: [Substring]) throws(Violation) -> Bool {
        guard words.count > 1, let number = UInt32(words[0]) else { return false }
        let actor = ActorNumber(number)
        if ["write", "writeAtStart", "close", "closeDuplicate", "release"].contains(words[1]) {
            let back = words.dropFirst(2).first.flatMap { Int($0) } ?? 0
            guard let index = handle(of: actor, back: back, isClosed: words[1] == "release") else { return true }
            if words[1] == "closeDuplicate" { duplicated.append(world.memory.handles[index].number) }
            if words[1] == "close" { duplicated.removeAll { $0 == world.memory.handles[index].number } }
            switch words[1] {
            // The handle stays: its program writes through the descriptor that is left.
            case "close", "closeDuplicate": try perform(.close(index))
            case "release": try perform(.release(index))
            default: try perform(.write(index, atStart: words[1] == "writeAtStart", isRepeating: false))
            }
            return true
        }
        guard words.count > 2, let place = Self.place(words[2]) else { return false }
        let isFree = world.disk.file(at: place) == nil
        switch words[1] {
        case "openTruncating": try perform(.open(actor, place, .replace, isUnseen: isUnseen))
        case "createNew": if isFree { try perform(.open(actor, place, .replace, isUnseen: isUnseen)) }
        case "openToAppend": if !isFree { try perform(.open(actor, place, .append, isUnseen: false)) }
        case "openInPlace", "openForBoth": if !isFree { try perform(.open(actor, place, .write, isUnseen: isUnseen)) }
        case "unlink": if !isFree { try perform(.unlink(actor, place)) }
        case "truncate": if !isFree { try perform(.truncate(actor, place)) }
        case "rename", "exchange":
            guard words.count > 3, let other = Self.place(words[3]) else { return false }
            if isFree { return true }
            if words[1] == "rename" {
                try perform(.rename(actor, place, other))
            } else if world.disk.file(at: other) != nil {
                try perform(.exchange(actor, place, other))
            }
        default: return false
        }
        return true
    }

    private mutating func closeAll() throws(Violation) {
        for index in world.memory.handles.indices where !world.memory.handles[index].isClosed {
            try perform(.close(index))
        }
        while !world.memory.handles.isEmpty { try perform(.release(0)) }
    }

    private mutating func perform(_ move: Move) throws(Violation) { world = try world.performing(move, rules) }

    private func handle(of actor: ActorNumber, back: Int, isClosed: Bool) -> Int? {
        let handles = world.memory.handles
        let own = handles.indices.filter {
            handles[$0].actor == actor
                && (handles[$0].isClosed && !duplicated.contains(handles[$0].number)) == isClosed
        }
        return own.dropLast(back).last
    }

    private static func place(_ name: Substring) -> PlaceNumber? {
        let places: [Substring: PlaceNumber] = ["x": World.x, "y": World.y, "t": World.made]
        return places[name]
    }
}
