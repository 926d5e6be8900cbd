// What becomes of names under claims and presenters: they are moved, deleted, and come back.

import VersionModel

@testable import Coordination

extension Crowd {
    /// An access of whatever has the name. What is to replace it is on the name, not on the item.
    mutating func access(_ path: TreePath, _ kind: AccessKind) -> Access {
        Access(path: path, item: kind.isOfName ? nil : item(at: path), kind: kind)
    }

    /// What has the name; nil for what nobody has given an identity yet.
    mutating func item(at path: TreePath) -> ItemID? {
        if let known = items[path] { return known }
        guard dice.below(3) > 0 else { return nil }
        let item = ItemID(high: 1, low: nextItem)
        nextItem += 1
        items[path] = item
        return item
    }

    /// By a program that claims nothing, or in a claim of whoever moves it.
    mutating func move() {
        guard let old = dice.element(Self.paths), let new = dice.element(Self.paths), !new.isWithin(old),
            !old.isWithin(new)
        else { return }
        if dice.below(2) == 0 { notice(access(old, .writing(.forMoving))) }
        seen.note("moved")
        if let item = items[old] { away.append((item, old)) }
        let moved = items.filter { $0.key == old || $0.key.isWithin(old) }
        for path in items.keys where [old, new].contains(where: { path == $0 || path.isWithin($0) }) {
            items[path] = nil
        }
        for (path, item) in moved { if let place = path.moved(old, to: new) { items[place] = item } }
        take("move \(old) to \(new)") { $0.moved(old, to: new, now: $1) }
    }

    /// Nobody is asked first. Claims and presenters stay where it was.
    mutating func delete() {
        guard let path = dice.element(Self.paths) else { return }
        seen.note("deleted")
        notice(access(path, .writing(.forDeleting)))
        if let item = items[path] { away.append((item, path)) }
        for gone in items.keys where gone == path || gone.isWithin(path) { items[gone] = nil }
    }

    /// What was moved away or deleted has its name again, as it is saved in one of the ways of saving.
    mutating func comeBack() {
        guard let (item, path) = dice.element(away) else { return }
        away.removeAll { $0.item == item }
        for (other, known) in items where known == item { items[other] = nil }
        items[path] = item
        seen.note("came back")
        take("item \(item.low) is back at \(path)") { $0.returned(item, to: path, now: $1) }
        for listed in arbiter.listed {
            for access in listed.claim.accesses
            where access.item == item && !access.kind.isOfName && access.path != path {
                fault("\(listed.claim.id) is at \(access.path), and its item is at \(path)")
            }
        }
    }

    /// A plain program does something without waiting; those who run answer before long.
    mutating func notice(_ access: Access) {
        let actor = FileActor(ActorRef(process: Int32(dice.element(Self.clients) ?? 1), started: 0))
        let id = ClaimID(nextClaim)
        nextClaim += 1
        seen.note("noticed")
        take("notice \(id.number): \(access.kind.strength) \(access.path)") {
            $0.notice(access, as: id, by: actor, now: $1)
        }
        for (question, asked) in arbiter.outstanding.sorted(by: { $0.key < $1.key }) where questions[question] == nil {
            let isStopped = arbiter.presenter(asked.presenter).map { stopped[$0.connection] != nil } ?? true
            if !isStopped, asked.presenter.number % 7 != 0 {
                take("answer \(question.number)") { $0.answer(question, .done, now: $1) }
            }
        }
    }
}
