// From the names that there are to those that there were: which moves, returns and removals it takes.

import Lineage
import VersionModel

/// What has a name: a document, or something without versions.
struct NamedThing: Hashable, Sendable {
    var file: FileID
    /// nil for what has no versions.
    var document: DocumentNumber?
    var isDirectory = false

    /// A document may have another file than it had, and a file may have become another document's.
    func isSame(as other: NamedThing) -> Bool {
        file == other.file || document != nil && document == other.document
    }
}

/// A step of a directory's way back to its names of a moment.
enum NameStep: Hashable {
    case move(Place, to: Place)
    /// What the place had is nowhere: it comes back.
    case bring(Place)
    /// What the place has was not there. A directory goes with all that is in it.
    case remove(Place)
}

/// Finds the steps, in an order in which each can be made. A pure function of what there was and is.
struct NameSteps {
    /// What places had that do not have it now.
    private let then: [Place: NamedThing]
    /// What places have, as far as steps are about it.
    private var now: [Place: NamedThing]
    /// The directories that directories are in; the root is in none.
    private var above: [FileID: FileID]
    /// Where what is missing lies.
    private(set) var sources: [Place: Place] = [:]
    private var missing: [Place] = []
    private var unwanted: Set<Place> = []
    private var steps: [NameStep] = []

    /// - Parameters:
    ///   - then: what places of the directory had that have something else now.
    ///   - now: what places of the directory have that had something else.
    ///   - elsewhere: places out of the directory, or made in it since, from which things come back.
    ///   - above: the present directories above all that are there of the directories of these places.
    static func steps(
        then: [Place: NamedThing], now: [Place: NamedThing], elsewhere: [Place: NamedThing], above: [FileID: FileID]
    ) -> [NameStep] {
        var run = NameSteps(then: then, now: now.merging(elsewhere) { here, _ in here }, above: above)
        run.match(now)
        run.find()
        return run.steps
    }

    private init(then: [Place: NamedThing], now: [Place: NamedThing], above: [FileID: FileID]) {
        (self.then, self.now, self.above) = (then, now, above)
    }

    // MARK: What belongs together

    /// A thing that lies where it was stays there. Of the others a document is found by itself first, then by its file.
    private mutating func match(_ inside: [Place: NamedThing]) {
        missing = then.keys.filter { home in
            !(now[home].flatMap { there in then[home]?.isSame(as: there) } ?? false)
        }.sorted { $0.isBefore($1) }
        let wanted = Set(missing)
        var free = Set(now.keys.filter { then[$0] == nil || wanted.contains($0) })
        func pair<Key: Hashable>(_ key: (NamedThing) -> Key?) {
            var lying = Dictionary(grouping: free) { place in now[place].flatMap(key) }.mapValues { places in
                places.sorted { $1.isBefore($0) }
            }
            for home in missing where sources[home] == nil {
                guard let key = then[home].flatMap(key), let place = lying[key]?.popLast() else { continue }
                sources[home] = place
                free.remove(place)
            }
        }
        pair(\.document)
        pair(\.file)
        unwanted = free.filter { inside[$0] != nil }
    }

    // MARK: The order

    private mutating func find() {
        // What is to be moved out of something has to be there until it is.
        let holders = Set(sources.values.flatMap { chain(from: $0.directory) })
        for place in unwanted.sorted(by: { $0.isBefore($1) }) {
            if let there = now[place], !there.isDirectory || !holders.contains(there.file) { remove(place) }
        }
        while !missing.isEmpty {
            let rest = missing.filter { !put($0) }
            let isStuck = rest.count == missing.count
            missing = rest
            if isStuck, !makeWay() { break }
        }
        for place in unwanted.sorted(by: { $0.isBefore($1) }) { remove(place) }
    }

    private func chain(from directory: FileID) -> [FileID] {
        var chain = [directory]
        while let last = chain.last, let next = above[last], chain.count <= above.count { chain.append(next) }
        return chain
    }

    private func lies(_ directory: FileID, within thing: NamedThing) -> Bool {
        thing.isDirectory && chain(from: directory).contains(thing.file)
    }

    private mutating func remove(_ place: Place) {
        steps.append(.remove(place))
        unwanted.remove(place)
        now[place] = nil
    }

    /// - Returns: false if it cannot go there yet.
    private mutating func put(_ home: Place) -> Bool {
        guard home.directory == .root || above[home.directory] != nil, now[home] == nil else { return false }
        if let source = sources[home] {
            guard let thing = now[source], !lies(home.directory, within: thing) else { return false }
            move(source, to: home)
        } else if let thing = then[home] {
            steps.append(.bring(home))
            lie(thing, at: home)
        }
        return true
    }

    private mutating func move(_ place: Place, to home: Place) {
        guard let thing = now.removeValue(forKey: place) else { return }
        steps.append(.move(place, to: home))
        lie(thing, at: home)
    }

    private mutating func lie(_ thing: NamedThing, at place: Place) {
        now[place] = thing
        if thing.isDirectory { above[thing.file] = place.directory }
    }

    /// Names that wait for one another: one of them steps aside. What is not wanted goes once it is empty of what is.
    private mutating func makeWay() -> Bool {
        for home in missing {
            guard let there = now[home] else { continue }
            if let waiting = missing.first(where: { sources[$0] == home })
                ?? missing.first(where: { sources[$0].map { lies($0.directory, within: there) } ?? false })
            {
                return setAside(waiting, in: home.directory)
            }
            if unwanted.contains(home) {
                remove(home)
                return true
            }
        }
        return false
    }

    private mutating func setAside(_ home: Place, in directory: FileID) -> Bool {
        let hex = ContentID.random().hex.prefix(12)
        guard let source = sources[home], let name = FileName(bytes: ".restoring-\(hex)".utf8) else { return false }
        let aside = Place(directory: directory, name: name)
        move(source, to: aside)
        sources[home] = aside
        return true
    }
}

extension Place {
    /// An order for steps that may be made in any.
    fileprivate func isBefore(_ other: Place) -> Bool {
        directory == other.directory ? name < other.name : directory.number < other.directory.number
    }
}
