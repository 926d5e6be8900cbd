// What happens to a container while it is not mounted.

import Lineage
import VersionModel

extension World {
    /// A file with a new letter gets to a free place, or a further name of one that is there, and no row tells of it.
    mutating func put(_ place: PlaceNumber, of other: PlaceNumber?) {
        guard disk.file(at: place) == nil else { return }
        guard let other else {
            lastLetter += 1
            let file = FileID(nextFile)
            nextFile += 1
            disk.setContent(file, Fingerprint.empty.writing(lastLetter, at: 0), at: now)
            return disk.setName(place, file)
        }
        disk.setName(place, disk.file(at: other))
    }

    /// The kill came when something without versions had taken a document's name, or a file with a new letter had taken
    /// the name of such a thing, and before the facts of that. What the document held was kept before.
    mutating func turn(_ place: PlaceNumber) {
        guard let former = disk.file(at: place) else { return }
        disk.setName(place, nil)
        if disk.directories.contains(former) {
            disk.directories.removeAll { $0 == former }
            return put(place, of: nil)
        }
        if let live = memory[former] { disk.keep(live.content, labels: []) }
        disk.forget(former)
        disk.perform(.makeDirectory(place, FileID(nextFile)), writing: nil, at: now)
        nextFile += 1
    }
}
