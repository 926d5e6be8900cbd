// Files that are about to lose their last name, and are kept as they are.

import Lineage
import VersionModel

/// A content that is kept by moving its file, which is about to lose its last name.
struct WholeContent: Sendable {
    var content: Content
    var labels: [Label]
    /// Whether its versions counted as lost: there was no copy of them, and the file has them still.
    var wasLost = false
}

extension Engine {
    /// The content that the call can keep by moving the file itself: the file loses its last name, and no program can
    /// change it. A file that is too large for a copy is moved also while a program has it open.
    func whole(
        _ event: Event, _ plan: Plan, _ part: Remembered.Part, _ links: [FileID: UInt32], _ facts: Facts
    ) -> WholeContent? {
        let place: PlaceNumber
        switch event {
        case .unlink(_, let one, _), .rename(_, _, let one, _), .restore(_, let one, _, _, _),
            .merge(let one, _):
            place = one
        case .capture(_, let captured):
            for case .keep(captured.content, let labels) in plan.before {
                return WholeContent(content: captured.content, labels: withFirstRows(labels))
            }
            return nil
        default: return nil
        }
        guard let file = facts.occupant(of: place)?.file, links[file] == 1, facts.countOfNames(of: file) == 1,
            let (content, labels, wasLost) = leaving(file, plan, part, facts)
        else { return nil }
        let size = labels.map(\.version.fingerprint.size).max() ?? 0
        if part.memory.hasHandle(of: file), parts.kept.mayKeep(size: size) { return nil }
        let removals = plan.facts.compactMap { fact -> NameRow? in
            if case .row(let row) = fact, row.place == place, row.how == .removed { row } else { nil }
        }
        let told = withFirstRows(labels).map { label in
            var label = label
            if label.place == place { label.rows += removals }
            return label
        }
        return WholeContent(content: content, labels: told, wasLost: wasLost)
    }

    /// A file that is removed may have another time than its version: a program has set the time after the content was
    /// kept. The kept content gets that time, so that the file comes back with it.
    func touched(
        _ event: Event, _ part: Remembered.Part, _ facts: Facts
    ) -> (content: Content, modified: Timestamp)? {
        guard case .unlink(_, let place, _) = event, let id = facts.occupant(of: place)?.file,
            let file = part.memory[id], let held = file.holds.flatMap({ facts[$0] }), held.file == id,
            held.modified != file.modified, held.fingerprint == file.fingerprint
        else { return nil }
        return (held.content, file.modified)
    }

    /// The content that the file alone has: the plan keeps it; or the content was too large to be kept while a program
    /// could overwrite it, and was not overwritten.
    private func leaving(
        _ file: FileID, _ plan: Plan, _ part: Remembered.Part, _ facts: Facts
    ) -> (content: Content, labels: [Label], wasLost: Bool)? {
        for case .keep(let content, let labels) in plan.before where content.file == file {
            return (content, labels, false)
        }
        guard let live = part.memory[file], !live.isChanged, let held = live.holds.flatMap({ facts[$0] }),
            held.content.file == file, held.content != live.content || live.isKept, !held.isImage(of: file),
            parts.kept.size(of: held.content) == nil
        else { return nil }
        let labels = facts.versions(in: held.content).filter { $0.fingerprint.size == held.fingerprint.size }
            .compactMap { version in facts[version.row].map { Label(version: version, at: $0) } }
        return labels.isEmpty ? nil : (held.content, labels, true)
    }
}
