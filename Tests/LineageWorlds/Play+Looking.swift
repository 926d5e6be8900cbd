// What a script has led to.

import Lineage
import VersionModel

extension Play {
    func place(_ name: Substring) -> PlaceNumber? {
        if let index = Self.names.firstIndex(of: name) { return World.place(World.root, UInt32(index)) }
        guard let index = Self.inner.firstIndex(of: name), let directory = place("d").flatMap(world.disk.file) else {
            return nil
        }
        return World.place(directory, UInt32(index))
    }

    private static func name(of place: PlaceNumber) -> Substring {
        let (names, index) = (World.directory(of: place) == World.root ? names : inner, Int(World.name(of: place)))
        return names.indices.contains(index) ? names[index] : "?"
    }

    /// The document that a name shows.
    public func document(_ name: Substring) -> DocumentNumber? {
        place(name).flatMap { world.facts.occupant(of: $0)?.document }
    }

    /// The contents of a name's versions, newest first, as words of letters; `-` for a name that is free.
    public func listing(_ name: Substring) -> String {
        document(name).map { contents(world.facts.listing(of: $0)) } ?? "-"
    }

    /// The same with all that the document goes back to.
    public func history(_ name: Substring) -> String {
        document(name).map { contents(world.facts.history(of: $0)) } ?? "-"
    }

    /// The contents of a name's conflict versions.
    public func conflicts(_ name: Substring) -> String {
        document(name).map { contents(world.facts.conflicts(of: $0)) } ?? "-"
    }

    /// The contents of what a name's current version goes back to.
    public func parents(_ name: Substring) -> String {
        let current = document(name).flatMap { world.facts.current(of: $0) }.flatMap { world.facts[$0] }
        return contents(current.map(world.facts.ancestors) ?? [])
    }

    /// The contents of what the newest version with some letters goes back to.
    func parents(of letters: Substring) -> String {
        let version = world.facts.versions.last { $0.fingerprint.letters == letters }
        return contents(version.map(world.facts.ancestors) ?? [])
    }

    /// The deleted list, oldest first: each name with its versions.
    public var deleted: String {
        world.facts.deleted().map { entry in
            let occupant = entry.occupant
            let versions = occupant.hasNoVersions ? "" : contents(world.facts.listing(of: occupant.document))
            return "\(Self.name(of: entry.departure.place)) \(versions)"
        }.joined(separator: ", ")
    }

    /// The names of several that were removed, oldest first.
    public var links: String {
        world.facts.removedNames().map { String(Self.name(of: $0.departure.place)) }.joined(separator: ", ")
    }

    /// The contents of all versions there are, oldest first.
    public var versions: String {
        contents(world.facts.versions.filter { !$0.isForgotten }.map(\.number))
    }

    /// Documents that lost their name to others, each by its versions.
    public var superseded: String {
        world.facts.superseded().map { contents(world.facts.listing(of: $0)) }.joined(separator: ", ")
    }

    /// The same as entries of the deleted list: each name with its versions.
    public var replaced: String {
        world.facts.rows.compactMap(world.facts.replacement).map { entry in
            "\(Self.name(of: entry.departure.place)) \(contents(world.facts.listing(of: entry.occupant.document)))"
        }.joined(separator: ", ")
    }

    /// What a name's file holds.
    public func content(_ name: Substring) -> String {
        place(name).flatMap { world.disk.file(at: $0) }.flatMap { world.disk[$0]?.content.letters } ?? "-"
    }

    private func contents(_ versions: [VersionNumber]) -> String {
        versions.compactMap { world.facts.fingerprint($0)?.letters }.joined(separator: " ")
    }
}
