import Synchronization
import VersionModel

/// The files, documents, versions, programs and places that a plan has asked about. A scene need not have everything
/// that is remembered: where a plan has asked for more than the scene has, the engine adds that, and plans the event
/// anew.
///
/// | asked about | a scene has |
/// |---|---|
/// | a file | it, and its handles |
/// | a document | files: of its names, and open ones that had a name of it; observations of its history |
/// | a version | the files that hold it, those of handles that have saved it |
/// | a program | how it is related |
/// | a place | whether it is quiet |
public final class Asked: Sendable {
    private struct Subjects {
        var files: [FileID] = []
        var documents: [DocumentNumber] = []
        var versions: [VersionNumber] = []
        var actors: [ActorNumber] = []
        var places: [PlaceNumber] = []
        var next = UInt64.max
    }

    /// Innermost; held for a look.
    private let subjects = Mutex(Subjects())

    public init() {}

    /// - Parameters:
    ///   - files: those that the event is about.
    ///   - documents: of which they have names.
    ///   - actors: the programs whose calls it is.
    public init(_ files: [FileID], _ documents: [DocumentNumber] = [], _ actors: [ActorNumber] = []) {
        subjects.withLock { ($0.files, $0.documents, $0.actors) = (files, documents, actors) }
    }

    /// Nothing is remembered of what the event itself makes.
    /// - Parameter next: the number of its first fact.
    public func begin(at next: UInt64) { subjects.withLock { $0.next = next } }

    /// How many subjects were asked about.
    public var count: Int { counts.remembered + counts.others }

    /// How many of them anything is remembered of, and how many programs and places there are beside those.
    public var counts: (remembered: Int, others: Int) {
        subjects.withLock {
            ($0.files.count + $0.documents.count + $0.versions.count, $0.actors.count + $0.places.count)
        }
    }

    public var files: [FileID] { subjects.withLock(\.files) }
    public var documents: [DocumentNumber] { subjects.withLock(\.documents) }
    public var versions: [VersionNumber] { subjects.withLock(\.versions) }
    public var actors: [ActorNumber] { subjects.withLock(\.actors) }
    public var places: [PlaceNumber] { subjects.withLock(\.places) }

    public func note(_ file: FileID) { subjects.withLock { if !$0.files.contains(file) { $0.files.append(file) } } }

    func note(_ document: DocumentNumber) {
        subjects.withLock { subjects in
            let isOld = document.number < subjects.next
            if isOld, !subjects.documents.contains(document) { subjects.documents.append(document) }
        }
    }

    func note(_ actor: ActorNumber) {
        subjects.withLock { if !$0.actors.contains(actor) { $0.actors.append(actor) } }
    }

    func note(_ place: PlaceNumber) {
        subjects.withLock { if !$0.places.contains(place) { $0.places.append(place) } }
    }

    func note(_ version: VersionNumber) {
        subjects.withLock { subjects in
            let isOld = version.number < subjects.next
            if isOld, !subjects.versions.contains(version) { subjects.versions.append(version) }
        }
    }
}

/// Where questions are noted: no part of what is remembered.
struct AskedNote: Hashable, Sendable {
    var asked: Asked?

    static func == (left: Self, right: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
