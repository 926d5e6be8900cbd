// Renames over a file that a crash has left half done.

import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// A rename over a file may be two calls (``NameRequests``): the files exchange names, then the old name of the new
/// file is removed. In between, the displaced file has that name, and is an object already. A write to a live file must
/// not change an object.
struct HalfRenames {
    /// The largest difference between the times of two files that one system call exchanged, in nanoseconds.
    private static let leeway: Int64 = 10_000_000

    let tree: SettledTree
    let custodian: Custodian

    /// - Parameters:
    ///   - contents: those that the former mount may have been keeping at its end.
    ///   - places: those of which it was changing the names.
    func finish(_ contents: Set<ContentID>, _ places: Set<Place>) throws(Errno) {
        for content in contents.sorted() {
            let object = custodian.state.contents.place(of: content)
            guard let stat = try Backing.statIfPresent(Array(object.name.utf8), in: object.directory.rawValue),
                stat.isRegular, stat.links > 1, let labels = try? custodian.state.contents.labels(of: content),
                let label = labels.first
            else { continue }
            // Under its own name the file has not been displaced.
            if try self.stat(label.place)?.key == stat.key { continue }
            if try removeOtherName(of: stat, places.union([label.place])) { continue }
            let file = SharedDescriptor(try custodian.state.contents.open(content).rawValue)
            try custodian.keep(
                copying: file.raw, as: content, label, also: Array(labels.dropFirst()), isDurable: true)
        }
    }

    private func stat(_ place: Place) throws(Errno) -> FileStat? {
        guard let directory = try tree.directory(place.directory, depth: 0) else { return nil }
        return try Backing.statIfPresent(place.name.bytes, in: directory.raw)
    }

    /// Finds the name beside that of the file that has displaced the object.
    private func removeOtherName(of object: FileStat, _ homes: Set<Place>) throws(Errno) -> Bool {
        for home in homes {
            guard let directory = try tree.directory(home.directory, depth: 0),
                let live = try Backing.statIfPresent(home.name.bytes, in: directory.raw), live.isRegular,
                live.key != object.key, abs(live.changed.since(object.changed)) < Self.leeway
            else { continue }
            for entry in try Backing.list(directory.raw) where entry.name != home.name {
                guard let found = try Backing.statIfPresent(entry.name.bytes, in: directory.raw),
                    found.key == object.key
                else { continue }
                try Backing.unlink(entry.name.bytes, in: directory.raw)
                custodian.logger.notice("finished a rename after a crash", metadata: ["name": "\(entry.name)"])
                return true
            }
        }
        return false
    }
}
