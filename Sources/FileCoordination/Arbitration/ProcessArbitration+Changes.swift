// Changes of items outside of containers: found by a look before and after a claim, and reported by the program that
// moves an item.

import ControlProtocol
import Coordination
import Foundation
import Glibc
import VersionModel
import VersionsClient

extension ProcessArbitration {
    func moved(_ old: Path, to new: Path, by purpose: String) {
        guard let old = old.tree, let new = new.tree else { return }
        drive { state, now in
            state.tell(.renamed, at: new, from: old, by: purpose)
            state.lookAfterMove(old, to: new)
            return state.arbiter.moved(old, to: new, now: now)
        }
    }

    /// Reports visible changes to the presenters of written items at the end of a claim.
    func tellChanges(_ held: Held, _ accesses: [Access]) {
        var changes: [(path: TreePath, event: ChangeEvent)] = []
        for (access, seen) in zip(accesses, held.seen) where access.kind.strength != .reads {
            guard let event = seen.change(to: Stamp(Path(access.path))) else { continue }
            // Both names of a move lead to one item by now.
            if !changes.contains(where: { $0 == (access.path, event) }) { changes.append((access.path, event)) }
        }
        guard !changes.isEmpty else { return }
        drive { state, _ in
            for (path, event) in changes { state.tell(event, at: path, by: held.wanted.purpose) }
            return []
        }
    }
}

extension ProcessArbitration.State {
    /// Finds the presenters' files again: names may have other files by now, and a file may have more names.
    mutating func lookAtPresenters() {
        for (presenter, _) in arbiter.allPresenters {
            guard let path = presenter.path else { continue }
            let item = Stamp(Path(path))?.item
            if item != presenter.item { arbiter.place(presenter.id, at: path, item: item) }
        }
    }

    /// Looks again at an item right after its move, so that the reported move is not reported again as a change.
    fileprivate mutating func lookAfterMove(_ old: TreePath, to new: TreePath) {
        for id in Array(claims.keys) {
            guard let accesses = arbiter.claim(id)?.accesses, var seen = claims[id]?.seen, seen.count == accesses.count
            else { continue }
            for (index, access) in accesses.enumerated() where access.path == old || access.path == new {
                let goesAlong = access.path == old && !access.kind.isOfName
                let place = goesAlong ? new : access.path
                seen[index].look(again: Stamp(Path(place)), isSame: goesAlong)
            }
            claims[id]?.seen = seen
        }
    }

    /// Reports another program's change to the presenters.
    fileprivate mutating func tell(_ event: ChangeEvent, at path: TreePath, from: TreePath? = nil, by purpose: String) {
        let concerned = from ?? path
        for (presenter, _) in arbiter.allPresenters {
            guard let place = presenter.path, presenter.purpose.hex != purpose, let sink = sinks[presenter.id]
            else { continue }
            let isOfItem = place == concerned || (from != nil && place.isWithin(concerned))
            // The presenter's item is now the moved one.
            let isReplaced = !isOfItem && place == path
            guard isOfItem || path.isWithin(place) || concerned.isWithin(place) else { continue }
            let told = WatchEvent(
                sequence: 0, event: isReplaced ? .saved : event, path: Path(path),
                from: isReplaced ? nil : from.map { Path($0) }, time: SystemClock().now(), pid: getpid())
            let change = PresentedChange(
                event: told, relation: isOfItem || isReplaced ? .item : .inDirectory,
                place: Path(from.flatMap { place.moved($0, to: path) } ?? place))
            outbox.append { sink.take(PresenterMessage(.changes([change], sequence: 0)) { _ in }) }
        }
    }
}

/// An item of a claim as last seen.
struct SeenItem: Sendable {
    var stamp: Stamp?
    /// Whether the item was moved, or replaced by a moved one, and its presenters know it.
    private var wasMoved = false
    /// Whether it was changed before it was moved.
    private var wasChanged = false

    init(stamp: Stamp?) { self.stamp = stamp }

    /// Takes the state right after a move as the state before the claim.
    /// - Parameter isSame: whether the item is the earlier one at its new place.
    mutating func look(again now: Stamp?, isSame: Bool) {
        if isSame, let stamp, let now, !stamp.hasContent(of: now) { wasChanged = true }
        stamp = now
        wasMoved = true
    }

    /// The change since the last look; nil if no change is visible.
    func change(to after: Stamp?) -> ChangeEvent? {
        switch (stamp, after) {
        case (nil, nil): return nil
        case (nil, .some): return .created
        case (.some, nil): return .deleted
        case (let before?, let after?):
            if wasChanged || before != after { return .saved }
            // A directory does not show changes inside it; a directory that was only moved is unchanged.
            return after.isDirectory && !wasMoved ? .saved : nil
        }
    }
}

/// The attributes of an item that show a change.
struct Stamp: Hashable {
    let device: UInt64
    let inode: UInt64
    let links: UInt64
    let size: Int64
    let modified: [Int64]
    let isDirectory: Bool

    /// Nil if the item does not exist.
    init?(_ path: Path) {
        var status = stat()
        guard Path(bytes: [47] + path.bytes).withCString({ lstat($0, &status) }) == 0 else { return nil }
        (device, inode, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
        links = UInt64(status.st_nlink)
        modified = [
            Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), Int64(status.st_ctim.tv_sec),
            Int64(status.st_ctim.tv_nsec),
        ]
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
    }

    /// Two names of one file are one item. A file with one name is known by its name, because the next new file may get
    /// the number of a deleted one.
    var item: ItemID? { isDirectory || links < 2 ? nil : ItemID(high: device, low: inode) }

    /// Whether the content is unchanged, as far as the attributes show it; a move alone changes the other times.
    func hasContent(of other: Stamp) -> Bool {
        size == other.size && modified.prefix(2) == other.modified.prefix(2)
    }
}

extension Arbiter {
    /// Whether a waiting claim is on a file that may have other names.
    var isAnyFileKnown: Bool {
        listed.contains { $0.isWaiting && $0.claim.accesses.contains { $0.item != nil } }
    }
}

extension TreePath {
    /// The new path after a move; nil if the move does not affect this path.
    func moved(_ old: TreePath, to new: TreePath) -> TreePath? {
        guard isWithin(old), !old.bytes.isEmpty else { return nil }
        return TreePath(bytes: new.bytes + bytes.dropFirst(old.bytes.count))
    }
}
