/// What one side says of a container: of each name, and of what has none any more.
public struct Answer: Equatable, Sendable {
    public struct Name: Equatable, Sendable {
        /// What the file holds.
        public var content: String
        /// The contents of its versions, newest first.
        public var history: [String]
        /// Those of its conflict versions, sorted.
        public var conflicts: [String]

        public init(content: String, history: [String], conflicts: [String]) {
            self.content = content
            self.history = history
            self.conflicts = conflicts
        }
    }

    /// The files, by path.
    public var names: [String: Name] = [:]
    /// The directories, by path.
    public var directories: Set<String> = []
    /// An entry of the deleted list.
    public struct Deletion: Equatable, Sendable, CustomStringConvertible {
        public var path: String
        /// The contents of its versions, newest first.
        public var history: [String]

        public var description: String { "\(path): \(history)" }
    }

    public private(set) var deletions: [Deletion] = []
    /// The deleted list: path and contents of the versions, sorted.
    public var deleted: [String] { deletions.map(\.description) }
    /// The contents of documents that lost their name to another one and hold what no name shows, sorted.
    public var superseded: [[String]] = []

    /// All contents that are shown somewhere.
    public var shown: Set<String> {
        var shown = Set(deletions.flatMap(\.history) + superseded.joined())
        for name in names.values { shown.formUnion(name.history + name.conflicts) }
        return shown
    }

    public init() {}

    /// Fills the deleted list.
    public mutating func setDeleted(_ entries: [(path: String, history: [String])]) {
        deletions = entries.map { Deletion(path: $0.path, history: $0.history) }
            .sorted { $0.description < $1.description }
    }
}

/// One thing on which the two sides do not agree.
public struct Difference: Hashable, Sendable, CustomStringConvertible {
    public enum Subject: Hashable, Sendable { case tree, content, history, conflicts, deleted, superseded }

    public var subject: Subject
    /// The name; empty for the deleted list and the tree.
    public var name: String
    /// What the container shows.
    public var today: String
    /// What the rules of `Lineage` lead to.
    public var then: String
    /// What only one of two lists has.
    public var onlyToday: [String] = []
    public var onlyThen: [String] = []
    /// The same for histories without a name; of a name, both histories.
    public var historiesToday: [[String]] = []
    public var historiesThen: [[String]] = []

    public var description: String {
        "\(subject)\(name.isEmpty ? "" : " of \(name)"):\n  the container has \(today)\n  Lineage has       \(then)"
    }
}

extension Answer {
    /// What the container says, beside what the rules say.
    public static func differences(today: Answer, then: Answer) -> [Difference] {
        var found: [Difference] = []
        func compare(_ subject: Difference.Subject, _ name: String, _ today: [String], _ then: [String]) {
            guard today != then else { return }
            found.append(
                Difference(
                    subject: subject, name: name, today: "\(today)", then: "\(then)",
                    onlyToday: today.without(then), onlyThen: then.without(today)))
        }
        compare(.tree, "", today.names.keys.sorted(), then.names.keys.sorted())
        compare(.tree, "", today.directories.sorted(), then.directories.sorted())
        for (name, now) in today.names.sorted(by: { $0.key < $1.key }) {
            guard let then = then.names[name] else { continue }
            compare(.content, name, [now.content], [then.content])
            compare(.history, name, now.history, then.history)
            if let last = found.indices.last, found[last].subject == .history, found[last].name == name {
                (found[last].historiesToday, found[last].historiesThen) = ([now.history], [then.history])
            }
            compare(.conflicts, name, now.conflicts, then.conflicts)
        }
        compare(.deleted, "", today.deleted, then.deleted)
        compare(.superseded, "", today.superseded.map(\.description), then.superseded.map(\.description))
        if let last = found.indices.last, found[last].subject == .superseded {
            found[last].historiesToday = today.superseded.filter { !then.superseded.contains($0) }
            found[last].historiesThen = then.superseded.filter { !today.superseded.contains($0) }
        }
        return found
    }
}

extension [String] {
    /// What is left once each of the others has taken away one that equals it.
    func without(_ others: [String]) -> [String] {
        var rest = self
        for other in others {
            if let index = rest.firstIndex(of: other) { rest.remove(at: index) }
        }
        return rest
    }
}
