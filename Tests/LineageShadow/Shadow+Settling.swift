// A kill, and what the rules settle at the next mount.

import Lineage
import VersionModel

extension Shadow {
    /// A name that the container shows after the kill.
    public struct Shown {
        public var place: Place
        public var file: FileID
        public var isDirectory: Bool

        public init(_ place: Place, _ file: FileID, isDirectory: Bool) {
            (self.place, self.file, self.isDirectory) = (place, file, isDirectory)
        }
    }

    /// Nothing is remembered, and the files are what they are. All that was recorded before the kill has arrived.
    ///
    /// - Parameters:
    ///   - names: those of the next mount, which has judged by now what is torn: rules settle what is left.
    ///   - crashed: the time of the kill.
    public func settle(_ names: [Shown], crashed: Timestamp) {
        dropNews()
        noteUnsaved()
        seenBefore += memory.observations
        kills.append(facts.lastNumber)
        for name in names where !name.isDirectory { hold(name.file, at: name.place) }
        let plan = Settling.settle(
            Scene(facts: facts, memory: Memory(), now: now(), nextNumber: nextNumber, kin: kin), found(names),
            crashed: crashed)
        settled.formUnion(record(plan).map(\.number))
        handles = [:]
        opening = nil
    }

    /// What programs have seen, oldest first, also before a kill: conflicts from then are still there.
    var observations: [Observation] { seenBefore + memory.observations }

    /// The rules, with all that programs have seen.
    var planning: Planning {
        var all = memory
        all.observations = observations
        return Planning(Scene(facts: facts, memory: all, now: now(), nextNumber: nextNumber, kin: kin))
    }

    private func found(_ names: [Shown]) -> Found {
        let found = names.map { Found.Name(place: number($0.place), file: number($0.file)) }
        let directories = names.filter(\.isDirectory).map { number($0.file) }
        let named = found.map(\.file).filter { !directories.contains($0) }
        // Files without a name lay there for the programs that had them open.
        let ids = Set(named + memory.files.map(\.id).filter { !directories.contains($0) })
        let files = ids.sorted().compactMap { id in
            read(id).map { Found.File(id: id, fingerprint: self.texts.fingerprint($0.bytes), modified: $0.modified) }
        }
        let texts = texts
        return Found(
            names: found.sorted { $0.place < $1.place }, directories: directories.sorted(), files: files,
            objects: kept.sorted { ($0.file, $0.generation) < ($1.file, $1.generation) }
                .map { Found.Object(content: $0, labels: []) },
            begins: { texts.begins($0.fingerprint, with: $1) })
    }
}
