// Documents that never conflict, over the engine (DESIGN 6.1).

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Tells the rules which places are quiet: by their names, as a repository's own data, or because a repository ignores
/// them. It is asked only where a conflict would arise.
final class QuietNames: Sendable {
    private struct Link { weak var recorded: RecordedTree? }

    private struct Answer {
        var isQuiet: Bool
        var until: Int64
        /// Which settings said so.
        var changes: Int
    }

    /// An event is planned several times, the last time with the names held: then no file is read again.
    private static let lasting: Int64 = 1_000_000_000
    private static let most = 1000

    private let policy: Policy
    private let link = RankedMutex(Link())
    /// Innermost, like the link.
    private let answers = RankedMutex([PlaceNumber: Answer]())

    init(_ policy: Policy) { self.policy = policy }

    /// Says where the places are.
    func connect(_ recorded: RecordedTree) { link.withLock { $0.recorded = recorded } }

    func quiet(_ places: [PlaceNumber]) -> [PlaceNumber] {
        guard let recorded = link.withLock({ $0.recorded }) else { return [] }
        return places.filter { isQuiet($0, recorded) }
    }

    private func isQuiet(_ place: PlaceNumber, _ recorded: RecordedTree) -> Bool {
        let (now, changes) = (Scheduler.now, policy.changes)
        if let known = answers.withLock({ $0[place] }), known.until > now, known.changes == changes {
            return known.isQuiet
        }
        let answer = Answer(isQuiet: look(at: place, recorded), until: now + Self.lasting, changes: changes)
        answers.withLock { answers in
            if answers.count >= Self.most { answers.removeAll() }
            answers[place] = answer
        }
        return answer.isQuiet
    }

    private func look(at number: PlaceNumber, _ recorded: RecordedTree) -> Bool {
        guard let place = try? recorded.facts.place(number), let directory = recorded.path(of: place.directory) else {
            return false
        }
        let path = directory.appending(place.name)
        return policy.isQuiet(path, isIgnoredByRepository: isIgnored(path, below: recorded.tree.root))
    }

    /// Whether the repository that a document lies in ignores it: by the `.gitignore` files from the repository's root
    /// down to the document's directory.
    private func isIgnored(_ path: TreePath, below root: SharedDescriptor) -> Bool {
        guard let ignoreFile = FileName(".gitignore"), let repository = FileName(".git") else { return false }
        var lists: [IgnoreLists.List] = []
        var above = path.parent
        while let directory = above {
            if let text = smallFile(directory.appending(ignoreFile), below: root) {
                lists.append(.init(directory: directory, patterns: IgnorePatterns(file: text)))
            }
            if let found = try? Backing.open(
                beneath: directory.appending(repository).bytes, in: root.raw, flags: linux_O_PATH | O_NOFOLLOW)
            {
                close(found)
                return IgnoreLists(lists.reversed()).ignores(path, isDirectory: false)
            }
            above = directory.parent
        }
        return false
    }

    /// The whole of a small file; nil if there is none.
    private func smallFile(_ path: TreePath, below root: SharedDescriptor) -> [UInt8]? {
        guard let raw = try? Backing.open(
            beneath: path.bytes, in: root.raw, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        else { return nil }
        let file = SharedDescriptor(raw)
        guard let stat = try? Backing.stat(raw), stat.isRegular else { return nil }
        return try? ContentText.read(file.raw, size: min(stat.size, ThreeWayMerge.maximumSize))
    }
}
