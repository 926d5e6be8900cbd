// What was heard, in the words of the rules.

import Container
import Glibc
import Lineage
import VersionModel

extension Shadow {
    func translate(_ event: RequestEvent) {
        switch event {
        case .created, .opened: opening = event
        case .served(let handle, let isUnseen): served(handle, isUnseen: isUnseen)
        case .read(let places, let actor):
            guard let place = places.first else { return }
            perform(.read(number(actor, ""), number(place)))
        case .readForBackup(let places, let actor):
            guard let place = places.first else { return }
            perform(.readForBackup(number(actor, ""), number(place)))
        case .writing(let handle, let appends):
            // A handle that a program has taken O_APPEND from writes inside the file.
            guard let handle = handles[handle], let mode = memory[handle]?.mode else { return }
            if !appends, mode == .append { memory[handle]?.mode = .write }
            perform(.write(handle))
        case .resized(let place, _, let handle, let size, let requester):
            resized(place, handle.flatMap { handles[$0] }, size, requester)
        case .closed(let handle):
            if let handle = handles[handle] { perform(.close(handle)) }
        case .released(let handle):
            if let handle = handles.removeValue(forKey: handle) { perform(.release(handle)) }
        case .directoryMade(let place, let file, let requester):
            perform(.makeDirectory(number(requester), number(place), number(file)))
        case .directoryRemoved(let place, let requester):
            perform(.removeDirectory(number(requester), number(place)))
        case .renamed, .exchanged, .linked, .unlinked, .undeleted, .replaced: translateName(event)
        }
    }

    private func translateName(_ event: RequestEvent) {
        switch event {
        case .renamed(let from, let to, _, let isMadeUp, let requester):
            perform(.rename(number(requester), from: number(from), to: number(to), isMadeUp: isMadeUp))
        case .exchanged(let one, let other, let requester):
            perform(.exchange(number(requester), number(one), number(other)))
        case .linked(let file, let to, let requester):
            guard let former = facts.names(of: number(file)).first else { return }
            perform(.link(number(requester), from: former.place, to: number(to)))
        case .unlinked(let place, let requester): perform(.unlink(number(requester), number(place)))
        case .undeleted(let from, let to, let file, let requester):
            let deleted = facts.deleted().last { $0.departure.place == number(from) }
            guard let row = deleted?.occupant, !row.hasNoVersions else { return }
            let isOpen = row.file.map { memory[$0] != nil } ?? false
            hold(file, at: to)
            perform(.undelete(number(requester), row.number, number(to), number(file, isNew: !isOpen)))
        case .replaced(let place, let file, let requester):
            hold(file, at: place)
            let new = number(file, isNew: true)
            guard let row = facts.occupant(of: number(place)), let bytes = read(new)?.bytes else { return }
            let content = texts.fingerprint(bytes)
            guard let version = facts.history(of: row.document).first(where: { facts.fingerprint($0) == content })
            else { return }
            perform(.restore(number(requester), number(place), version, new))
        default: break
        }
    }

    /// The opening that was heard of before, as it is served.
    private func served(_ handle: UInt64, isUnseen: Bool) {
        guard let event = opening else { return }
        opening = nil
        let number = HandleNumber(UInt32(truncatingIfNeeded: handle))
        switch event {
        case .created(let place, let file, handle, let flags, let isMadeUp, let requester):
            handles[handle] = number
            hold(file, at: place)
            perform(
                .create(
                    self.number(requester), self.number(place), self.number(file, isNew: true), number,
                    flags & O_APPEND != 0 ? .append : .replace, isMadeUp: isMadeUp, isUnseen: isUnseen))
        case .opened(let place, _, handle, let flags, let requester):
            handles[handle] = number
            let mode: AccessMode = flags & O_TRUNC != 0 ? .replace : flags & O_APPEND != 0 ? .append : .write
            perform(.open(self.number(requester), self.number(place), number, mode, isUnseen: isUnseen))
        default: break
        }
    }

    private func resized(_ place: Place, _ handle: HandleNumber?, _ size: UInt64, _ requester: Requester) {
        if let handle {
            // What the file held before it was resized.
            let former = memory[handle].flatMap { memory[$0.file] }?.fingerprint.size ?? 0
            return perform(size == 0 ? .empty(handle) : size < former ? .shorten(handle) : .write(handle))
        }
        perform(.truncate(number(requester), number(place)))
        look()
        perform(.save(number(requester), number(place)))
    }

    // MARK: Numbers

    func number(_ place: Place) -> PlaceNumber {
        if let index = places.firstIndex(of: place) { return PlaceNumber(UInt32(index)) }
        places.append(place)
        return PlaceNumber(UInt32(places.count - 1))
    }

    func number(_ requester: Requester) -> ActorNumber {
        guard let actor = requester.actor else { return ActorNumber(.max) }
        return number(actor, requester.author.program)
    }

    func number(_ actor: FileActor, _ program: String) -> ActorNumber {
        let known = number(actor.ref)
        // A reader's program is not told.
        guard kin[known].map({ $0.program == nil && !program.isEmpty }) ?? true else { return known }
        var code: UInt32?
        if !program.isEmpty {
            if !programs.contains(program) { programs.append(program) }
            code = programs.firstIndex(of: program).map { UInt32($0) }
        }
        let relation = Kin.Relation(
            actor: known, lineage: actor.lineage.map { number($0) }, program: code,
            endsAtTerminal: actor.endsAtTerminal)
        kin = Kin(kin.relations.filter { $0.actor != known } + [relation])
        return known
    }

    private func number(_ actor: ActorRef) -> ActorNumber {
        if let index = actors.firstIndex(of: actor) { return ActorNumber(UInt32(index)) }
        actors.append(actor)
        return ActorNumber(UInt32(actors.count - 1))
    }
}
