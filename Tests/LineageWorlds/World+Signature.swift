// What the future of a world depends on, with numbers replaced by their order of appearance.

import Lineage
import VersionModel

extension World {
    public var signature: Signature { signature(withDeleted: false) }

    /// - Parameter withDeleted: whether moves bring back what was deleted.
    func signature(withDeleted: Bool) -> Signature {
        var reader = SignatureReader(world: self)
        reader.readAll()
        if withDeleted { reader.readDeleted() }
        return reader.signature
    }
}

private struct SignatureReader {
    let world: World
    let planning: Planning
    var signature = Signature()
    var files = Ordinals()
    var letters = Ordinals()
    var versions = Ordinals()
    var documents = Ordinals()

    init(world: World) {
        self.world = world
        planning = Planning(world.scene)
    }

    private var facts: Facts { world.facts }

    mutating func readAll() {
        for place in world.places {
            signature.add(UInt64(place.number))
            if let row = facts.occupant(of: place) { read(row) } else { readFree(place) }
        }
        for (index, handle) in world.memory.handles.enumerated() { read(handle, at: index) }
        for (number, ordinal) in files.sorted { readFile(FileID(number), ordinal) }
    }

    private mutating func read(_ row: NameRow) {
        guard let file = row.file else { return }
        signature.add(files.ordinal(file.number))
        signature.add(row.isContinuing)
        signature.add(row.maker.map { Int($0.number) })
        signature.add(row.how == .linked)
        signature.add(row.actor.map { Int($0.number) })
        signature.add(documents.ordinal(row.document.number))
        signature.add(!facts.hasVersion(row.document))
        signature.add(isRecent(row))
        for version in facts.history(of: row.document).prefix(4) { read(version) }
        readBases(row.document)
        signature.add(facts.conflicts(of: row.document).count)
    }

    private mutating func read(_ number: VersionNumber) {
        guard let version = facts[number] else { return }
        signature.add(versions.ordinal(number.number))
        add(version.fingerprint)
        signature.add(version.author.map { Int($0.number) })
        signature.add(version.beside == .no ? 0 : version.beside == .history ? 1 : 2)
        signature.add(version.isAppended)
        for parent in [version.parents.first, version.parents.second] {
            guard let parent else { continue }
            signature.add(versions.known(parent.number))
        }
        signature.add(UInt64.max)
    }

    private mutating func readFree(_ place: PlaceNumber) {
        let claimed = planning.claim(place)
        signature.add(claimed.map { documents.ordinal($0.document.number) })
        guard let claimed, let file = claimed.file, let current = facts.current(of: claimed.document) else { return }
        signature.add(versions.ordinal(current.number))
        if let fingerprint = facts.fingerprint(current) { add(fingerprint) }
        readBases(claimed.document)
        if let departure = facts.departure(of: claimed) {
            signature.add(isRecent(departure))
            // A program that has removed the name itself makes it anew without a base.
            signature.add(departure.how.isRemoval ? departure.actor.map { Int($0.number) } : nil)
        }
        for name in facts.names(of: claimed.document) { signature.add(UInt64(name.place.number)) }
        signature.add(files.ordinal(file.number))
    }

    mutating func readDeleted() {
        for (isName, entries) in [(false, facts.deleted()), (true, facts.removedNames())] {
            for entry in entries where world.disk.file(at: entry.occupant.place) == nil {
                signature.add(isName)
                signature.add(UInt64(entry.occupant.place.number))
                signature.add(documents.ordinal(entry.occupant.document.number))
                for version in facts.history(of: entry.occupant.document).prefix(4) { read(version) }
            }
        }
    }

    private mutating func read(_ handle: Handle, at index: Int) {
        signature.add(UInt64(handle.actor.number))
        signature.add(files.ordinal(handle.file.number))
        switch handle.mode {
        case .read: signature.add(0)
        case .write: signature.add(1)
        case .replace: signature.add(2)
        case .append: signature.add(3)
        }
        signature.add(min(world.positions[index], 3))
        signature.add(handle.isDirty)
        signature.add(handle.isClosed)
        signature.add(handle.isUnseen)
        signature.add(handle.hasEmptied)
        signature.add(handle.saved.map { versions.ordinal($0.number) })
        signature.add(UInt64(handle.place.number))
        if let row = facts.names(of: handle.file).last {
            signature.add(handle.opened > row.number)
        } else if let row = facts.lastRow(of: handle.file) {
            signature.add(documents.ordinal(row.document.number))
            signature.add(!facts.hasName(row.document))
            if let departure = facts.departure(of: row) {
                signature.add(departure.file != nil ? 3 : departure.how.isRemoval ? 1 : 2)
            }
        }
    }

    private mutating func readFile(_ id: FileID, _ ordinal: Int) {
        signature.add(ordinal)
        if let file = world.disk[id] { add(file.content) }
        guard let file = world.memory[id] else { return }
        signature.add(file.holds.map { versions.ordinal($0.number) })
        signature.add(file.isOnlyExtended)
        signature.add(file.isChanged)
        signature.add(file.isKept)
        signature.add(min(facts.countOfVersions(in: file.content), 3))
    }

    private mutating func readBases(_ document: DocumentNumber) {
        for actor in 0..<UInt32(2) {
            signature.add(planning.base(of: ActorNumber(actor), in: document).map { versions.ordinal($0.number) })
        }
    }

    private mutating func add(_ content: Fingerprint) {
        for position in 0..<Int(content.size) { signature.add(letters.ordinal(UInt64(content.letter(position)))) }
    }

    private func isRecent(_ row: NameRow) -> Bool { world.now.since(row.time) <= 15_000_000_000 }
}
