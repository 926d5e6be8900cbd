// The times that directories had at a moment, by the facts: a return gives them back, and a copy has them.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// What is known of directories as they were. Used by one thread.
struct FormerTimes {
    private let moment: Moment
    /// What is about to change, as it is.
    private var present: [FileID: DirectoryTimes.Times?] = [:]

    init(_ moment: Moment) { self.moment = moment }

    /// Notes a directory in which a name is about to change.
    mutating func note(_ directory: FileID) {
        guard present[directory] == nil else { return }
        let path = moment.ground.finder.livePath(of: directory)
        present[directory] = .some(path.flatMap { try? moment.live.times(ofDirectory: $0).times })
    }

    /// A directory's times at that moment; nil if they are unknown.
    /// - Parameter times: its present times, before a change in it.
    func of(_ directory: FileID, now times: DirectoryTimes.Times?) throws -> DirectoryTimes.Times? {
        let (facts, time) = (moment.facts, moment.time)
        if let before = try facts.times(of: directory, beforeRemovalSince: moment.number), before.modified <= time {
            return DirectoryTimes.Times(accessed: before.accessed, modified: before.modified)
        }
        if let times, times.modified <= time { return times }
        return try facts.lastChange(in: directory, until: moment.number).map {
            DirectoryTimes.Times(accessed: times?.accessed ?? $0, modified: $0)
        }
    }

    /// Gives the directories in which something was changed the times that they had.
    func apply() {
        let undeleting = Undeleting(host: moment.ground.browsing)
        for (directory, now) in present {
            guard let path = moment.ground.finder.livePath(of: directory), let times = try? of(directory, now: now)
            else { continue }
            undeleting.setTimes(accessed: times.accessed, modified: times.modified, of: path)
        }
    }
}
