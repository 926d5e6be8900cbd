// The moves that are possible in a world.

import Lineage
import VersionModel

/// Which moves are tried.
public enum MoveSet: Sendable {
    /// System calls of programs, one each.
    case calls
    /// These, and directories, undelete, purge, restore, truncate, unseen writing of every kind, equal letters.
    case all
}

extension World {
    static let mostWriters = 3

    /// All moves, in an order that depends on the world only.
    func moves(actors: UInt32, _ set: MoveSet) -> [Move] {
        var moves: [Move] = []
        let places = places
        for actor in (0..<actors).map(ActorNumber.init) {
            for place in places where disk.file(at: place) == nil || disk.hasFile(at: place) {
                addOpenings(&moves, actor, place, set)
                if disk.hasFile(at: place) { addNameChanges(&moves, actor, place, places, set) }
            }
            if set == .all { addDirectories(&moves, actor) }
        }
        if set == .all { moves += (facts.deleted() + facts.removedNames()).map { .purge($0.departure.number) } }
        for (index, handle) in memory.handles.enumerated() {
            if set == .all { addReopenings(&moves, index, handle, actors) }
            if handle.isClosed {
                moves.append(.release(index))
                // Through a duplicate of what was closed, and its close.
                if set == .all, canWrite(index) { moves.append(.write(index, atStart: true, isRepeating: false)) }
                if set == .all { moves.append(.close(index)) }
                continue
            }
            if canWrite(index) {
                moves.append(.write(index, atStart: false, isRepeating: false))
                if set == .all {
                    moves.append(.write(index, atStart: true, isRepeating: false))
                    moves.append(.write(index, atStart: false, isRepeating: true))
                }
            }
            if set == .all { moves.append(.empty(index)) }
            if set == .all, canCut(index) { moves.append(.cut(index)) }
            if set == .all { moves += [.seal(index, goesOn: false), .seal(index, goesOn: true)] }
            moves.append(.close(index))
        }
        moves.append(.age)
        if synchronized != nil, set == .all { moves.append(.synchronize) }
        return moves
    }

    private func addReopenings(_ moves: inout [Move], _ index: Int, _ handle: Handle, _ actors: UInt32) {
        guard memory.handles.count < Self.mostWriters, !disk.hasName(handle.file) else { return }
        for actor in [ActorNumber(0), ActorNumber(actors - 1)] {
            moves += [
                .reopen(actor, index, .write, isUnseen: true), .reopen(actor, index, .replace, isUnseen: false),
                .reopen(actor, index, .append, isUnseen: false),
            ]
        }
    }

    private func canWrite(_ index: Int) -> Bool {
        guard let file = disk[memory.handles[index].file] else { return false }
        return positions[index] < Fingerprint.longest && file.content.size < Fingerprint.longest
    }

    /// Whether half of its file is left to be cut off, and half to stay.
    func canCut(_ index: Int) -> Bool { disk[memory.handles[index].file].map { $0.content.size > 1 } ?? false }

    private func addOpenings(_ moves: inout [Move], _ actor: ActorNumber, _ place: PlaceNumber, _ set: MoveSet) {
        let hasRoom = memory.handles.count < Self.mostWriters
        if hasRoom {
            moves.append(.open(actor, place, .replace, isUnseen: false))
            if set == .all { moves.append(.open(actor, place, .replace, isUnseen: true)) }
            if set == .all, disk.file(at: place) == nil { moves.append(.open(actor, place, .append, isUnseen: false)) }
        }
        guard disk.hasFile(at: place) else { return }
        moves.append(.open(actor, place, .read, isUnseen: false))
        guard hasRoom else { return }
        moves.append(.open(actor, place, .append, isUnseen: false))
        moves.append(.open(actor, place, .write, isUnseen: true))
        guard set == .all else { return }
        moves.append(.open(actor, place, .append, isUnseen: true))
        moves.append(.open(actor, place, .write, isUnseen: false))
    }

    private func addNameChanges(
        _ moves: inout [Move], _ actor: ActorNumber, _ place: PlaceNumber, _ places: [PlaceNumber], _ set: MoveSet
    ) {
        moves.append(.unlink(actor, place))
        if set == .all { moves += [.truncate(actor, place), .unlink(actor, place, leavesNothing: true)] }
        for other in places where other != place {
            let isFree = disk.file(at: other) == nil
            guard isFree || disk.hasFile(at: other) else { continue }
            moves.append(.rename(actor, place, other))
            if isFree {
                moves.append(.link(actor, place, other))
            } else if place < other {
                moves.append(.exchange(actor, place, other))
            }
        }
        if set == .all, let row = facts.occupant(of: place), let oldest = facts.history(of: row.document).last {
            moves.append(.restore(actor, place, oldest))
            addResolutions(&moves, actor, place, facts.conflicts(of: row.document))
            let versions = facts.versions(of: row.document).map(\.number)
            addCopies(&moves, actor, row)
            moves.append(.pin(place))
            if versions.count > 1, actor.number == 0 {
                moves += [.drop(place, versions, sparesBases: true), .drop(place, [versions[0]], sparesBases: false)]
            }
        }
    }

    private func addResolutions(
        _ moves: inout [Move], _ actor: ActorNumber, _ place: PlaceNumber, _ conflicts: [VersionNumber]
    ) {
        guard let oldest = conflicts.first, let newest = conflicts.last else { return }
        moves += [.resolve(place, [oldest]), .resolve(place, conflicts)]
        moves += [.restore(actor, place, oldest), .restore(actor, place, newest, settling: conflicts)]
    }

    private func addCopies(_ moves: inout [Move], _ actor: ActorNumber, _ row: NameRow) {
        // A program alone has no conflicts.
        moves.append(.add(actor, row.place, isConflict: actor.number > 0))
        if !facts.conflicts(of: row.document).isEmpty { moves.append(.merge(actor, row.place)) }
        guard let oldest = facts.history(of: row.document).last else { return }
        for place in places where disk.file(at: place) == nil { moves.append(.put(actor, place, oldest)) }
    }

    private func addDirectories(_ moves: inout [Move], _ actor: ActorNumber) {
        let (one, other) = (Self.place(Self.root, 3), Self.place(Self.root, 4))
        for (place, target) in [(one, other), (other, one)] {
            guard let directory = disk.file(at: place) else {
                if disk.directories.count < 2 { moves.append(.makeDirectory(actor, place)) }
                continue
            }
            if !disk.names.contains(where: { Self.directory(of: $0.place) == directory }) {
                moves.append(.removeDirectory(actor, place))
            }
            if disk.file(at: target) == nil { moves.append(.rename(actor, place, target)) }
        }
        for entry in facts.deleted() + facts.removedNames() {
            let (place, hasRoom) = (entry.occupant.place, disk.directories.count < 2 || !entry.occupant.hasNoVersions)
            let directory = Self.directory(of: place)
            if disk.file(at: place) == nil, hasRoom, directory == Self.root || disk.directories.contains(directory) {
                moves.append(.undelete(actor, entry.occupant.number, place))
                moves.append(.undelete(actor, entry.occupant.number, place, takesFormer: false))
            }
        }
    }

    /// Whole saves and changes of names, each of several calls: what identities depend on.
    func wholeMoves(actors: UInt32) -> [[Move]] {
        var moves: [[Move]] = [[.age]]
        let places = [Self.x, Self.y, Self.made]
        for actor in (0..<actors).map(ActorNumber.init) {
            for place in places {
                let handle = memory.handles.count
                moves.append([
                    .open(actor, place, .replace, isUnseen: false), .write(handle, atStart: false, isRepeating: false),
                    .close(handle), .release(handle),
                ])
                guard disk.file(at: place) != nil else { continue }
                moves.append([.open(actor, place, .read, isUnseen: false)])
                moves.append([.unlink(actor, place)])
                for other in places where other != place {
                    moves.append([.rename(actor, place, other)])
                    if disk.file(at: other) == nil {
                        moves.append([.link(actor, place, other)])
                    } else if place < other {
                        moves.append([.exchange(actor, place, other)])
                    }
                }
            }
            for entry in facts.deleted() + facts.removedNames() where disk.file(at: entry.occupant.place) == nil {
                moves.append([.undelete(actor, entry.occupant.number, entry.occupant.place)])
            }
        }
        return moves
    }
}
