// Verification of a container: every hash and every reference, with progress.

/// Verifies the container.
public struct CheckRequest: ControlRequest {
    public static let method = "check"
    public static let isLong = true
    public typealias Reply = CheckReport
    /// Whether to repair the findings.
    public var repair: Bool
    public init(repair: Bool) { self.repair = repair }
}

/// The result of a check.
public struct CheckReport: Hashable, Sendable, Codable {
    public var findings: [Finding]
    /// The number of contents with a computed hash.
    public var contents: Int
    /// The number of bytes read.
    public var bytes: UInt64

    public init(findings: [Finding], contents: Int, bytes: UInt64) {
        self.findings = findings
        self.contents = contents
        self.bytes = bytes
    }

    /// One error in the container.
    public struct Finding: Hashable, Sendable, Codable {
        /// The kind of the error, as a word for scripts, such as `content-missing`.
        public var kind: String
        /// The id, in hex, of the affected version, item, content or deleted entry; for other subjects a word.
        public var subject: String
        /// A sentence about the error.
        public var problem: String
        /// The affected document or entry, relative to the container's root.
        public var document: Path?
        /// A sentence about the effect of `--repair`; nil if the error cannot be repaired.
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

/// The progress of a long request; sent while it runs.
public struct ProgressNotification: ControlNotification {
    public static let method = "progress"
    /// The id of the request.
    public var request: RequestID
    public var done: UInt64
    /// Nil as long as it is unknown.
    public var total: UInt64?
    /// The counted unit: `bytes`, `versions`, `entries`.
    public var unit: String
    public init(request: RequestID, done: UInt64, total: UInt64?, unit: String) {
        self.request = request
        self.done = done
        self.total = total
        self.unit = unit
    }
}
