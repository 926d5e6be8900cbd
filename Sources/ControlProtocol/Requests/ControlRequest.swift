// What every request has: a method's name, parameters and the reply's type.

/// The parameters of one method. Its JSON is the `params` of a JSON-RPC call.
public protocol ControlRequest: Codable, Sendable {
    associatedtype Reply: Codable & Sendable
    /// The JSON-RPC method.
    static var method: String { get }
    /// Whether it may take longer than a person waits: such calls have threads of their own and report progress.
    static var isLong: Bool { get }
}

extension ControlRequest {
    public static var isLong: Bool { false }
}

/// A message that has no answer.
public protocol ControlNotification: Codable, Sendable {
    /// The JSON-RPC method.
    static var method: String { get }
}

/// The reply of a request that has nothing to tell.
public struct Done: Hashable, Sendable, Codable {
    public init() {}
}
