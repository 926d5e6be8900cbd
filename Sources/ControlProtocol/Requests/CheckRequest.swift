// Verifying a container: every hash and every reference, with progress.

/// Verifies the container.
public struct CheckRequest: ControlRequest {
    public static let method = "check"
    public static let isLong = true
    public typealias Reply = CheckReport
    /// Mend what can be mended.
    public var repair: Bool
    public init(repair: Bool) { self.repair = repair }
}

/// What a check found.
public struct CheckReport: Hashable, Sendable, Codable {
    public var findings: [Finding]
    /// Contents whose hash was computed.
    public var contents: Int
    /// Bytes that were read.
    public var bytes: UInt64

    public init(findings: [Finding], contents: Int, bytes: UInt64) {
        self.findings = findings
        self.contents = contents
        self.bytes = bytes
    }

    /// One thing that is not as it should be.
    public struct Finding: Hashable, Sendable, Codable {
        /// What kind of thing is wrong, in a word that scripts can compare, such as `content-missing`.
        public var kind: String
        /// The id, in hex, of the version, item, content or deleted entry concerned; else what is concerned, in a word.
        public var subject: String
        /// A sentence: what is wrong.
        public var problem: String
        /// The document or entry concerned, relative to the container's root.
        public var document: Path?
        /// A sentence: what `--repair` would do, or did; nil if nothing can be done.
        public var repair: String?
        public var repaired: Bool
        public init(
            kind: String, subject: String, problem: String, document: Path?, repair: String?, repaired: Bool
        ) {
            self.kind = kind
            self.subject = subject
            self.problem = problem
            self.document = document
            self.repair = repair
            self.repaired = repaired
        }
    }
}

/// How far a long request is; sent while it runs.
public struct ProgressNotification: ControlNotification {
    public static let method = "progress"
    /// The id of the request it is about.
    public var request: RequestID
    public var done: UInt64
    /// Nil if it is not known yet.
    public var total: UInt64?
    /// What is counted: `bytes`, `versions`, `entries`.
    public var unit: String
    public init(request: RequestID, done: UInt64, total: UInt64?, unit: String) {
        self.request = request
        self.done = done
        self.total = total
        self.unit = unit
    }
}
