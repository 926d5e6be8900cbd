import Lineage
import VersionModel

/// One thing that was done to the disk or to the catalog, and may not have arrived when the power goes.
enum Effect: Sendable {
    case step(Step, at: Timestamp)
    case call(SystemCall, Writing?, at: Timestamp)
    case transaction([Fact])

    /// The places whose entries it changes, each a bit. A file system never has a later entry of a place without the
    /// earlier ones.
    var places: UInt64 {
        guard case .call(let call, _, _) = self else { return 0 }
        func bit(_ place: PlaceNumber) -> UInt64 { 1 << UInt64(place.number & 63) }
        switch call {
        case .create(let place, _), .unlink(let place), .makeDirectory(let place, _), .removeDirectory(let place),
            .name(_, let place):
            return bit(place)
        case .rename(let one, let other), .exchange(let one, let other), .link(let one, let other):
            return bit(one) | bit(other)
        case .open, .write, .truncate: return 0
        }
    }

    var isTransaction: Bool {
        if case .transaction = self { return true }
        return false
    }
}

/// A moment at which all was synchronized.
final class Synchronized: Sendable {
    let disk: Disk
    let facts: Facts
    /// What programs may count on since then, also when the power goes.
    let contents: [World.Acknowledged]

    init(_ world: World) {
        disk = world.disk
        facts = world.facts
        let whole = world.facts.versions.filter { version in
            !version.isForgotten && !world.memory.handles.contains { $0.saved == version.number }
        }
        contents = whole.map { World.Acknowledged(content: $0.fingerprint, file: $0.file, actor: $0.author) }
    }

    private init(_ former: Synchronized, _ disk: Disk) {
        (self.disk, facts, contents) = (disk, former.facts, former.contents)
    }

    /// The same with something that was made durably since.
    func adding(_ change: (inout Disk) -> Void) -> Synchronized {
        var disk = disk
        change(&disk)
        return Synchronized(self, disk)
    }

    /// Whether a content was saved by then, so that its keeping is durable before anything overwrites it (facts.md 4).
    func has(_ content: Content) -> Bool { facts.countOfVersions(in: content) > 0 }
}
