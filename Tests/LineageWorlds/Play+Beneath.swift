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
}
