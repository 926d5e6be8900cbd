// What the product is compared with in the random test.

/// A reference that follows the operations of a directory's programs without a file system.
protocol RuleReference {
    init(_ setting: RuleSetting)

    /// A document that was there before the container was mounted.
    mutating func adopt(_ name: String, _ content: String)
    mutating func addRoot(_ process: Int, shell: Int, program: String)
    /// - Returns: the outcome of each call that may be refused, in order. What follows a refusal is not done.
    mutating func apply(_ operation: RuleOperation) -> [RuleOutcome]

    /// The ancestors of each living process that count with it, nearest first.
    var lineages: [Int: [Int]] { get }
    func program(_ process: Int) -> String
    /// The names that are there, in their order.
    var present: [String] { get }
    func content(_ name: String) -> String?
    /// What the versions of a name's document hold.
    func contents(everIn name: String) -> [String]
    func document(_ name: String) -> RuleDocument?
    /// The deleted list: each name with the length of its content, in their order.
    var deletions: [String] { get }
}

/// The setting `stale-writes`.
enum RuleSetting: String { case keep, merge, refuse }

/// What a call comes to: refused with ESTALE or done.
enum RuleOutcome { case done, refused }

/// A document of a reference, as it is compared.
struct RuleDocument {
    struct Version {
        var kind: String
        var content: String
        /// The process that saved it; nil if no program did.
        var author: Int?
        /// The contents of the versions of the list that it goes back to.
        var parents: [String]
    }

    var versions: [Version]
    /// Of the only conflict there is: what the two may have parted from, one of which is shown; empty if that is not
    /// known. nil with none or several conflicts.
    var bases: [String]?
}
