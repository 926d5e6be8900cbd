// The files and documents of an event.

import Lineage
import VersionModel

/// What an event may change: a file or a document.
enum Subject: Hashable, Comparable, Sendable {
    case file(FileID)
    case document(DocumentNumber)
}

/// A set of subjects. Most events have two of them: those are compared faster than they are hashed.
struct Subjects: Equatable, Sendable, ExpressibleByArrayLiteral {
    /// In their order, each of them once.
    private var sorted: [Subject] = []

    init(arrayLiteral subjects: Subject...) { self.init(subjects) }

    init(_ subjects: [Subject]) {
        sorted = subjects
        if sorted.count < 2 { return }
        sorted.sort()
        var last: Subject?
        sorted.removeAll { subject in
            defer { last = subject }
            return subject == last
        }
    }

    init(files: [FileID], documents: [DocumentNumber]) {
        var subjects: [Subject] = []
        subjects.reserveCapacity(files.count + documents.count)
        for file in files { subjects.append(.file(file)) }
        for document in documents { subjects.append(.document(document)) }
        self.init(subjects)
    }

    init(of parts: [Subjects]) { self.init(parts.flatMap(\.sorted)) }

    var isEmpty: Bool { sorted.isEmpty }

    var files: [FileID] {
        sorted.compactMap { subject in
            if case .file(let file) = subject { file } else { nil }
        }
    }

    func union(_ others: Subjects) -> Subjects { Subjects(sorted + others.sorted) }

    mutating func formUnion(_ others: Subjects) { self = union(others) }

    func isSubset(of others: Subjects) -> Bool {
        var rest = others.sorted[...]
        for subject in sorted {
            while let first = rest.first, first < subject { rest.removeFirst() }
            guard rest.popFirst() == subject else { return false }
        }
        return true
    }

    func isDisjoint(with others: Subjects) -> Bool {
        var (one, other) = (sorted.startIndex, others.sorted.startIndex)
        while one < sorted.endIndex, other < others.sorted.endIndex {
            if sorted[one] == others.sorted[other] { return false }
            if sorted[one] < others.sorted[other] { one += 1 } else { other += 1 }
        }
        return true
    }
}
