// The moment before the last run of a program (`--before PROGRAM`).

import VersionModel
import VersionStore

extension Finder {
    /// The moment before the last run of a program that changed something in a directory; nil if none is remembered.
    /// - Parameters:
    ///   - program: a name, or the number of a process.
    ///   - all: what was changed, in order.
    ///   - begins: when the container began, if that is known.
    func momentBefore(
        lastRunOf program: String, in path: TreePath, among all: [Change], begins: Timestamp?, as principal: Principal
    ) -> Timestamp? {
        let inside = all.indices.filter { index in
            all[index].author != nil
                && (all[index].path.isWithin(path) || all[index].from.map { $0.isWithin(path) } ?? false)
        }
        let wanted = RunName(program, among: inside.lazy.compactMap { all[$0].author })
        var known = KnownDirectories()
        let last = inside.last { index in
            all[index].author.map { wanted.matches($0) } ?? false && mayKnow(all[index], as: principal, &known)
        }
        guard let last, let author = all[last].author else { return nil }
        let first = author.process > 0 ? inside.first { all[$0].author == author } ?? last : last
        let time = all[first].time
        // A version and a deletion have times of their own, a little before that of the change: so the moment of the
        // change before is meant.
        guard first > 0 else { return max(time.advanced(byNanoseconds: -1_000_000_000), begins ?? time) }
        return min(all[first - 1].time, time.advanced(byNanoseconds: -1))
    }
}
