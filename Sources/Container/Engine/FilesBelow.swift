// What the engine asks of the files below.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// A name of the live tree, and the file that has it.
struct FileAtPlace: Hashable, Sendable {
    var place: PlaceNumber
    var file: FileID
    var type = EntryType.file
}

/// The files below, found by their identities, with or without a name.
protocol FilesBelow: Sendable {
    /// The file as it is; nil if there is none any more.
    func status(of file: FileID) throws(Errno) -> FileStat?
    /// The file, open for reading.
    func open(_ file: FileID) throws(Errno) -> SharedDescriptor
    /// The file has no name and no handle any more, and no version needs it.
    func forget(_ file: FileID)
    /// Whether the file is a database that is not compared as it lies there, because its log or its journal belongs to
    /// it.
    func awaitsCapture(_ file: FileID) -> Bool
    /// Whether a program from before this mount may still write to the file, of which nothing tells.
    func isStillWritten(_ file: FileID) -> Bool
}

extension FilesBelow {
    func awaitsCapture(_ file: FileID) -> Bool { false }
    func isStillWritten(_ file: FileID) -> Bool { false }
}

/// Contents that are kept outside their files.
protocol KeptContents: Sendable {
    /// The length of a kept content; nil if it is not there.
    func size(of content: Content) -> UInt64?
    /// Keeps a copy of an open file, which shares its blocks where the file system can.
    /// - Parameter isDurable: whether the copy has to be on the disk before the file changes, because no journal orders
    ///   the two.
    func keep(copying file: Int32, as content: Content, _ labels: [Label], isDurable: Bool) throws(Errno)
    /// Whether a content of this length is kept, or given up because it can only be copied and is too large for that.
    func mayKeep(size: UInt64) -> Bool
    /// The free bytes that a content of this length needs to be kept.
    func room(for size: UInt64) -> UInt64
    /// A content that was kept for an event is not needed outside its file, because the event was not carried out.
    func drop(_ content: Content)
    /// The file that a content was kept of had another time when it went.
    func setTime(of content: Content, _ modified: Timestamp)
    /// A kept content says of a version whether that is a conflict, so that a catalog made anew knows it.
    func label(_ version: VersionRow, isConflict: Bool)
    /// Copies the beginning of a kept content, or of an open file, into a new file.
    /// - Parameter isDurable: whether the new file has to be on the disk before it gets its name.
    func copy(_ content: Content, size: UInt64, to file: FileID, isDurable: Bool) throws(Errno)
    func copy(_ source: SharedDescriptor, size: UInt64, to file: FileID, isDurable: Bool) throws(Errno)
}

/// Where facts are recorded.
protocol FactRecorder: Sendable {
    /// The facts that are recorded, for what is not in memory.
    var log: any FactLog { get }
    /// Whether all answers of a log count: none was missed because the catalog cannot be read.
    func isSound(_ log: any FactLog) -> Bool
    /// Sets numbers aside for the facts of one event: the first of them.
    func reserve(_ count: UInt64) -> UInt64
    /// Gives back what is left of numbers that were set aside.
    func finish(_ first: UInt64)
    /// Looks at what the catalog has of versions beside their facts, also of those that are told later.
    func describe(_ facts: [Fact])
    /// Records a transaction.
    /// - Parameters:
    ///   - told: the facts that others may see, with their details; the rest stays in memory.
    ///   - first: the first of the numbers that were set aside for it. Facts with smaller ones are published late.
    ///   - last: the last of those numbers that a fact has, also one that stays in memory.
    func commit(_ told: FactTransaction, from first: UInt64, last: UInt64)
}

extension KeptContents {
    func setTime(of content: Content, _ modified: Timestamp) {}
    /// Of contents that say nothing of themselves.
    func label(_ version: VersionRow, isConflict: Bool) {}

    /// Whether a content is kept that is at least so long. One that was kept for an event that was not carried out may
    /// lack what was appended since.
    func contains(_ content: Content, size: UInt64) -> Bool { self.size(of: content).map { $0 >= size } ?? false }
}
