// When places had what, as far as format 1 tells.

import Lineage
import VersionModel

/// A place had something for a time.
struct Stay {
    enum Subject: Hashable {
        /// A document, by its index.
        case document(Int32)
        case directory(FileID)
        /// What has no versions.
        case other(FileID)
    }

    /// No moment: it began before everything that is told, or it has not ended.
    static let none: Int32 = -1
    /// It ended when the next one began there.
    static let next: Int32 = -2
    /// It ended as it began: the document was somewhere before all that is told.
    static let atOnce: Int32 = -3

    var place: PlaceNumber
    var subject: Subject
    var file: FileID
    var type: EntryType
    /// The index of the moment, or one of the above.
    var begin = none
    var end = none
    /// The stay of the same document that was found before this one.
    var other: Int32 = none
}

/// Something came to a place, or left it.
struct NameMoment {
    enum What {
        /// By the stay it had its name before.
        case begins(How, from: Int32?)
        /// A document has parted from another one.
        case parts
        /// To the other stay, as far as that is known.
        case leaves(to: Int32?)
        /// With an entry of the deleted area; its index.
        case removed(Int32)
    }

    var stay: Int32
    var what: What
    /// For the order: moments that follow one another never have falling times here.
    var order: Int64
    var time: Timestamp
    var author: Author?
}

/// The places of a container, numbered in the order in which they are named.
struct PlaceTable {
    private(set) var places: [Place] = []
    private var numbers: [Place: UInt32] = [:]

    mutating func reserve(_ count: Int) {
        places.reserveCapacity(count)
        numbers.reserveCapacity(count)
    }

    /// Numbers begin at 1.
    mutating func number(_ place: Place) -> PlaceNumber {
        if let known = numbers[place] { return PlaceNumber(known) }
        places.append(place)
        let number = UInt32(places.count)
        numbers[place] = number
        return PlaceNumber(number)
    }

    subscript(_ number: PlaceNumber) -> Place { places[Int(number.number) - 1] }
}
