// A line of a client, read: which message it is, and, where that takes long, its parameters as well.

import ControlProtocol

/// A line with what it says. A long one is read as a whole on a thread of its own, so that it does not keep the event
/// loop from the other connections: what waits there may be the answer that keeps somebody's claim.
struct IncomingLine: Sendable {
    let bytes: [UInt8]
    let message: Result<Message, Message.Unreadable>
    /// The parameters of a request that is served on the event loop, as a `Result` of its type; nil: not read yet.
    private let known: (any Sendable)?

    /// Reads which message a line is.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        message = Self.message(in: bytes)
        known = nil
    }

    /// Reads all of a line that the event loop would read.
    init(readingAll bytes: [UInt8]) {
        self.bytes = bytes
        message = Self.message(in: bytes)
        known = if case .success(.request(_, let method)) = message { Self.readers[method]?(bytes) } else { nil }
    }

    /// The parameters of the call.
    func parameters<Parameters: ControlRequest>(_ type: Parameters.Type) throws(ControlError) -> Parameters {
        if let known = known as? Result<Parameters, ControlError> { return try known.get() }
        return try Wire.parameters(type, in: bytes)
    }

    private static func message(in bytes: [UInt8]) -> Result<Message, Message.Unreadable> {
        Result { () throws(Message.Unreadable) in try Message(line: bytes) }
    }

    /// The requests that the event loop serves itself.
    private static let readers: [String: @Sendable ([UInt8]) -> any Sendable] = {
        var readers: [String: @Sendable ([UInt8]) -> any Sendable] = [:]
        func add<Request: ControlRequest>(_ type: Request.Type) {
            readers[Request.method] = { bytes in
                Result { () throws(ControlError) in try Wire.parameters(type, in: bytes) }
            }
        }
        add(ClaimRequest.self)
        add(ReleaseRequest.self)
        add(CancelClaimRequest.self)
        add(PresentRequest.self)
        add(PlacePresenterRequest.self)
        add(PresentersRequest.self)
        add(WithdrawRequest.self)
        add(QueryRequest.self)
        add(EndQueryRequest.self)
        add(UnwatchRequest.self)
        return readers
    }()
}
