// What a power cut leaves: of what was not synchronized, any part.

import Lineage
import VersionModel

extension World {
    /// So many effects are left out in every combination; of more, that many combinations are tried.
    static let mostEffects = 6
    static let mostCuts = 64

    /// All that was done is durable from now on.
    mutating func synchronize() {
        synchronized = Synchronized(self)
        unsynchronized = []
    }

    /// Each subset of what was not synchronized, settled.
    ///
    /// - The catalog's transactions are a log: none arrives without those before it.
    /// - Of one place, no later entry arrives without the earlier ones.
    /// - A content that was synchronized is kept durably before it is overwritten.
    /// - All else arrives or does not, each by itself, as far as the tree allows it.
    /// - Parameters:
    ///   - former: how many effects were not synchronized before the last move; 0 if all are to be tried again, because
    ///     time has gone by.
    ///   - checked: the worlds that were checked; nil: each is.
    func checkCuts(
        _ moment: @autoclosure () -> String, former: Int, _ checked: CheckedCuts? = nil
    ) throws(Violation) {
        guard let synchronized, !unsynchronized.isEmpty else { return }
        var left = self
        left.disk = synchronized.disk
        left.facts = synchronized.facts
        left.memory = Memory()
        left.isAfterPowerCut = true
        left.sealed = sealed(since: synchronized)
        left.acknowledged = synchronized.contents.filter { content in
            !unsynchronized.contains { $0.withdraws(content, since: synchronized.facts) }
        }
        let places = unsynchronized.map(\.places)
        for arrived in cuts(places) {
            // What nothing of the last move is in was tried before that, where all subsets are.
            if former > 0 && former <= Self.mostEffects && arrived >> UInt64(former) == 0 { continue }
            var world = left
            world.arrive(unsynchronized, arrived, keeps: synchronized.has)
            if let checked, !checked.isNew(world) { continue }
            try world.checkSettled(
                [], "the power goes \(moment()), and of the last effects arrive \(arrived.words)")
        }
    }

    /// Which effects arrive, as bits, each once: all subsets of a few; of more, half without some of the last ones, the
    /// others by chance.
    private func cuts(_ places: [UInt64]) -> [UInt64] {
        let count = min(unsynchronized.count, 63)
        let all: UInt64 = 1 << UInt64(count) - 1
        var cuts: [UInt64] = []
        func add(_ drawn: UInt64) {
            let arrived = possible(drawn, places)
            // With all of them, it is a kill, which is tried elsewhere.
            if arrived != all, !cuts.contains(arrived) { cuts.append(arrived) }
        }
        if count <= Self.mostEffects {
            for drawn in 0..<all { add(drawn) }
            return cuts
        }
        for last in 1..<UInt64(Self.mostCuts / 2) { add(all & ~(last << UInt64(count - 5))) }
        var dice = Dice(seed: nextNumber &+ UInt64(bitPattern: ticks) << 20)
        // Many draws come to the same, because little is possible of them.
        for _ in 0..<(4 * Self.mostCuts) where cuts.count < Self.mostCuts {
            add(all & (UInt64(dice.roll(1 << 32)) << 31 ^ UInt64(dice.roll(1 << 32))))
        }
        return cuts
    }

    /// Without the effects that cannot have arrived because others have not.
    private func possible(_ drawn: UInt64, _ places: [UInt64]) -> UInt64 {
        var (arrived, torn, isLogWhole) = (drawn, UInt64(0), true)
        for (index, effect) in unsynchronized.enumerated() where index < 64 {
            let bit: UInt64 = 1 << UInt64(index)
            if effect.isTransaction {
                isLogWhole = isLogWhole && drawn & bit != 0
                if !isLogWhole { arrived &= ~bit }
            } else if drawn & bit == 0 || places[index] & torn != 0 {
                arrived &= ~bit
                torn |= places[index]
            }
        }
        return arrived
    }

    /// The versions that were whole when all was synchronized, and that nothing has changed since.
    private func sealed(since synchronized: Synchronized) -> [VersionNumber] {
        synchronized.facts.versions.compactMap { version in
            let now = facts[version.number]
            return now == version && !memory.handles.contains { $0.saved == version.number } ? version.number : nil
        }
    }

    private mutating func arrive(_ effects: [Effect], _ arrived: UInt64, keeps: (Content) -> Bool) {
        for (index, effect) in effects.enumerated() {
            let isThere = index < 64 && arrived >> UInt64(index) & 1 == 1
            switch effect {
            case .transaction(let recorded):
                if isThere { for fact in recorded { facts.apply(fact) } }
            case .step(let step, let time):
                if case .keep(let content, _) = step, keeps(content) {
                    disk.perform(step, at: time)
                } else if isThere {
                    disk.arrive(step, at: time)
                }
            case .call(let call, let writing, let time):
                if isThere, disk.allows(call) { disk.perform(call, writing: writing, at: time) }
            }
        }
    }
}

extension Effect {
    /// Whether a program has given up that content by it: the content of a version when all was synchronized.
    fileprivate func withdraws(_ content: World.Acknowledged, since synchronized: Facts) -> Bool {
        guard case .transaction(let recorded) = self else { return false }
        return recorded.contains { fact in
            let number: VersionNumber
            switch fact {
            case .forget(let forgotten): number = forgotten
            case .amend(let amended): number = amended.number
            default: return false
            }
            guard let version = synchronized[number] else { return false }
            return version.file == content.file && version.fingerprint == content.content
        }
    }
}

extension Disk {
    /// A step that may come without those before it.
    fileprivate mutating func arrive(_ step: Step, at time: Timestamp) {
        if case .forget(let file) = step, hasName(file) { return }
        perform(step, at: time)
    }

    /// Whether a call makes sense here: one before it may not have arrived.
    fileprivate func allows(_ call: SystemCall) -> Bool {
        func hasDirectory(_ place: PlaceNumber) -> Bool {
            let directory = World.directory(of: place)
            return directory == World.root || directories.contains(directory)
        }
        switch call {
        case .create(let place, _), .makeDirectory(let place, _): return hasDirectory(place)
        case .name(let file, let place): return hasDirectory(place) && self[file] != nil
        case .rename(let from, let to): return file(at: from) != nil && hasDirectory(to)
        case .link(let from, let to): return file(at: from) != nil && file(at: to) == nil && hasDirectory(to)
        case .exchange(let one, let other): return file(at: one) != nil && file(at: other) != nil
        case .removeDirectory(let place):
            return !names.contains { World.directory(of: $0.place) == file(at: place) }
        case .open, .write, .truncate, .unlink: return true
        }
    }
}

extension UInt64 {
    fileprivate var words: String { "0b" + String(self, radix: 2) }
}
