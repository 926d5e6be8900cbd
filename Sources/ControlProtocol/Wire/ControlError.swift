// An error in messages: a code for programs, a sentence for users, the affected path, and advice.

import VersionModel

/// An error of a request. `versionsctl` prints it as `error: PATH: message` and `hint: advice`.
public struct ControlError: Error, Hashable, Sendable {
    public var code: Code
    /// The error: a clause without a full stop, such as `no version 12ab34`.
    public var message: String
    /// The affected path, relative to the container's root or absolute.
    public var path: Path?
    /// The next step, such as "`versionsctl history FILE` lists them".
    public var advice: String?
    /// The new path of a renamed item.
    public var renamed: Path?
    /// The system's error number, if a system call was the cause.
    public var errno: Int32?
    /// The start of the history, if the requested time is before it.
    public var begins: Timestamp?

    public init(
        _ code: Code, _ message: String, path: Path? = nil, advice: String? = nil, errno: Int32? = nil,
        begins: Timestamp? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.advice = advice
        self.errno = errno
        self.begins = begins
    }

    /// The kind of the error: JSON-RPC's own numbers, and those of VersionsFS from -32000 down. Unknown codes are kept.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The line is not JSON.
        public static let malformed = Code(rawValue: -32700)
        /// The JSON is not a message, or it is too long.
        public static let invalidRequest = Code(rawValue: -32600)
        /// The daemon has no such method.
        public static let unknownMethod = Code(rawValue: -32601)
        /// The parameters do not fit the method.
        public static let invalidParameters = Code(rawValue: -32602)
        /// A bug, or a failure without a code of its own.
        public static let failed = Code(rawValue: -32603)
        /// No such document, directory, version or entry.
        public static let notFound = Code(rawValue: -32001)
        /// The caller's own rights do not allow it.
        public static let denied = Code(rawValue: -32002)
        /// The name to write to exists.
        public static let exists = Code(rawValue: -32003)
        /// A prefix of several ids.
        public static let ambiguous = Code(rawValue: -32004)
        /// The container is not mounted.
        public static let notMounted = Code(rawValue: -32005)
        /// Another program holds a needed resource.
        public static let busy = Code(rawValue: -32006)
        /// A setting or argument that is not valid.
        public static let invalidValue = Code(rawValue: -32007)
        /// The content is gone, or not on this device.
        public static let contentMissing = Code(rawValue: -32008)
        /// No space, read-only, or an I/O error: see `errno`.
        public static let system = Code(rawValue: -32009)
        /// The client is gone or has cancelled.
        public static let cancelled = Code(rawValue: -32010)
        /// The tool and the daemon use different protocols.
        public static let incompatible = Code(rawValue: -32011)
        /// The other side closed the connection (made by the client library, never sent).
        public static let disconnected = Code(rawValue: -32012)
        /// The path is in no container (made by the client library, never sent).
        public static let noContainer = Code(rawValue: -32013)
        /// The request has no effect: no conflict to resolve, no deleted item there.
        public static let nothingToDo = Code(rawValue: -32014)
        /// A claim that would wait forever: other claims wait for its holder's items.
        public static let deadlock = Code(rawValue: -32015)
        /// A presenter could not save, or refused the deletion of its item.
        public static let refused = Code(rawValue: -32016)
    }
}

extension ControlError: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        code = try container.decode(Code.self, forKey: "code")
        message = try container.decode(String.self, forKey: "message")
        guard container.contains("data"),
            let data = try? container.nestedContainer(keyedBy: TextKey.self, forKey: "data")
        else { return }
        path = try data.decodePathIfPresent(forKey: "path")
        advice = try data.decodeIfPresent(String.self, forKey: "advice")
        renamed = try data.decodePathIfPresent(forKey: "renamed")
        errno = try data.decodeIfPresent(Int32.self, forKey: "errno")
        begins = try data.decodeIfPresent(Timestamp.self, forKey: "begins")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(code, forKey: "code")
        try container.encode(message, forKey: "message")
        guard path != nil || advice != nil || renamed != nil || errno != nil || begins != nil else { return }
        var data = container.nestedContainer(keyedBy: TextKey.self, forKey: "data")
        try data.encodeIfPresent(path: path, forKey: "path")
        try data.encodeIfPresent(advice, forKey: "advice")
        try data.encodeIfPresent(path: renamed, forKey: "renamed")
        try data.encodeIfPresent(errno, forKey: "errno")
        try data.encodeIfPresent(begins, forKey: "begins")
    }
}
