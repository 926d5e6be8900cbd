// What must hold in every world: issue 14 has the list.

import Lineage
import VersionModel

extension World {
    /// Each invariant that does not hold.
    func problems(_ rules: Rules) -> [String] {
        var problems = contentProblems() + graphProblems() + nameProblems() + promiseProblems() + currentProblems()
        problems += custodyProblems() + exposedProblems() + rivalProblems() + holdingProblems()
        problems += publicityProblems() + feedProblems()
        if rules.showsAll { problems += shownProblems() }
        if rules.actors == 1 { problems += conflictProblems() }
        if let former, !isTree(former.names, at: former.number) {
            problems.append("the tree at \(former.number) is not the recorded one")
        }
        return problems
    }

    /// The same for a world that was settled: there, no program has a file open.
    func problems(afterCrash: Bool) -> [String] {
        var problems = contentProblems() + graphProblems() + nameProblems() + promiseProblems() + currentProblems()
        problems += custodyProblems() + holdingProblems() + rivalProblems()
        if !isAfterPowerCut { problems += feedProblems() }
        return problems
    }

    // MARK: The invariants

    /// The content of each version is where its row says, in a file that nobody but its own saver may change.
    private func contentProblems() -> [String] {
        var problems: [String] = []
        for version in facts.versions where !version.isForgotten && (sealed?.contains(version.number) ?? true) {
            if content(of: version) == version.fingerprint { continue }
            let isBeingAmended = memory.handles.contains {
                $0.file == version.content.file && (!$0.isClosed || $0.isUnseen) && $0.saved == version.number
            }
            if !isBeingAmended { problems.append("version \(version.number) has lost its content") }
        }
        return problems
    }

    /// The content as it lies on the disk; nil if it is not there.
    private func content(of version: VersionRow) -> Fingerprint? {
        let size = version.fingerprint.size
        if let object = disk.object(version.content) {
            return object.bytes.size >= size ? object.bytes.prefix(size) : nil
        }
        guard let file = disk[version.content.file],
            memory[version.content.file]?.generation == version.content.generation
        else { return nil }
        return file.content.size >= size ? file.content.prefix(size) : nil
    }

    /// Versions go back to earlier ones only.
    private func graphProblems() -> [String] {
        facts.versions.compactMap { version in
            let isOrdered = [version.parents.first, version.parents.second].allSatisfy {
                $0.map { $0 < version.number && facts[$0] != nil } ?? true
            }
            return isOrdered ? nil : "version \(version.number) goes back to a later one"
        }
            + facts.rows.compactMap { row in
                guard let origin = row.origin else { return nil }
                return facts[origin] != nil && origin.number < row.number.number
                    ? nil : "row \(row.number) begins with a later version"
            }
    }

    /// The rows, replayed, give the names; two names are one document only if they are one file.
    private func nameProblems() -> [String] {
        var problems: [String] = []
        if !isTree(disk.names, at: .max) { problems.append("the rows do not give the names") }
        let living = disk.names.compactMap { facts.occupant(of: $0.place) }
        for (index, row) in living.enumerated() {
            for other in living[(index + 1)...] where row.document == other.document && row.file != other.file {
                problems.append("document \(row.document) is in two files")
            }
        }
        return problems
    }

    /// No acknowledged content is lost.
    private func promiseProblems() -> [String] {
        acknowledged.compactMap { promised in
            let isIn = facts.versions.contains {
                guard !$0.isForgotten else { return false }
                return $0.fingerprint == promised.content
                    || ($0.isAppended && $0.content.file == promised.file || isAfterPowerCut)
                        && $0.fingerprint.begins(with: promised.content)
            }
            return isIn ? nil : "\(promised.content.letters) of file \(promised.file.number) is in no version"
        }
    }

    /// A file that no program has open holds its documents' current version.
    private func currentProblems() -> [String] {
        disk.names.compactMap { name in
            guard let row = facts.occupant(of: name.place), !row.hasNoVersions, !memory.hasHandle(of: name.file),
                let file = disk[name.file]
            else { return nil }
            let current = facts.current(of: row.document).flatMap { facts.fingerprint($0) }
            if current == file.content || current == nil && file.content.isEmpty { return nil }
            return "document \(row.document) holds \(file.content.letters), its version \(current?.letters ?? "none")"
        }
    }

    /// What the daemon believes to be kept is kept.
    private func custodyProblems() -> [String] {
        memory.files.compactMap { file in
            file.isKept == (disk.object(file.content) != nil) ? nil : "file \(file.id.number): isKept is \(file.isKept)"
        }
    }

    /// A file without a change has the bytes of the version that it holds, so that no version changes along with
    /// another file's.
    private func holdingProblems() -> [String] {
        memory.files.compactMap { file in
            guard !file.isChanged, let held = file.holds, let fingerprint = facts.fingerprint(held),
                let content = disk[file.id]?.content, content != fingerprint
            else { return nil }
            return "file \(file.id.number) has \(content.letters) and holds \(fingerprint.letters) of \(held)"
        }
    }

    /// No version has its content only in a file that a program may overwrite unseen, except the program's own.
    private func exposedProblems() -> [String] {
        var problems: [String] = []
        for handle in memory.handles where handle.mayOverwriteUnseen {
            guard let file = memory[handle.file], !file.isKept else { continue }
            for version in facts.versions(in: file.content) where version.number != handle.saved {
                problems.append("version \(version.number) is in a file that \(handle.number) may overwrite")
            }
        }
        return problems
    }

    /// No program has won against itself.
    private func rivalProblems() -> [String] {
        facts.versions.compactMap { version in
            guard let author = version.author, let loser = version.loser, facts[loser]?.author == author else {
                return nil
            }
            return "version \(version.number) is a rival of its own author's"
        }
    }

    /// What was saved is shown: by a living document, a deleted one, or one that lost its name to another.
    private func shownProblems() -> [String] {
        var shown: [Fingerprint] = []
        func add(_ versions: [VersionNumber]) {
            for version in versions {
                if let fingerprint = facts.fingerprint(version), !shown.contains(fingerprint) {
                    shown.append(fingerprint)
                }
            }
        }
        for name in disk.names { if let row = facts.occupant(of: name.place) { add(facts.history(of: row.document)) } }
        for entry in facts.deleted() { add(facts.history(of: entry.occupant.document)) }
        var isComplete = true
        func missing(_ version: VersionRow) -> Bool {
            !version.isForgotten && !version.fingerprint.isEmpty && facts[version.row]?.maker == nil
                && !shown.contains(version.fingerprint)
        }
        isComplete = !facts.versions.contains(where: missing)
        if isComplete { return [] }
        for document in facts.superseded() { add(facts.listing(of: document)) }
        return facts.versions.filter(missing).map { "version \($0.number) is shown nowhere" }
    }

    /// One program alone has no conflicts.
    private func conflictProblems() -> [String] {
        facts.versions.contains { $0.loser != nil || $0.beside == .conflict } ? ["a program conflicts with itself"] : []
    }

    /// Whether the rows up to a number, replayed, give these names (``Facts/tree(at:)``, without its table).
    private func isTree(_ names: [Found.Name], at number: UInt64) -> Bool {
        var (places, count) = ([PlaceNumber](), 0)
        for row in facts.rows.reversed() where row.number.number <= number && !places.contains(row.place) {
            places.append(row.place)
            guard let file = row.file else { continue }
            count += 1
            if !names.contains(where: { $0.place == row.place && $0.file == file }) { return false }
        }
        return count == names.count
    }
}
