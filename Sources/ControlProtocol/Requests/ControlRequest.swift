// The requirements of every request: a method's name, parameters and the reply's type.

/// The parameters of one method. Its JSON is the `params` of a JSON-RPC call.
public protocol ControlRequest: Codable, Sendable {
    associatedtype Reply: Codable & Sendable
    /// The JSON-RPC method.
    static var method: String { get }
    /// Whether the call may take long: such calls have threads of their own and report progress.
    static var isLong: Bool { get }
}

extension ControlRequest {
    public static var isLong: Bool { false }
}

/// A message without an answer.
public protocol ControlNotification: Codable, Sendable {
    /// The JSON-RPC method.
    static var method: String { get }
}

/// The reply of a request without a result.
public struct Done: Hashable, Sendable, Codable {
    public init() {}
}
