// A client's line after reading: its message, and for long lines also its parameters.

import ControlProtocol

/// A line with its message. Another thread reads a long line completely, so that the event loop is free for the other
/// connections: they may have an answer that keeps another client's claim alive.
struct IncomingLine: Sendable {
    let bytes: [UInt8]
    let message: Result<Message, Message.Unreadable>
    /// The parameters of a request for the event loop, as a `Result` of its type; nil: not read yet.
    private let known: (any Sendable)?

    /// Reads the message of a line.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        message = Self.message(in: bytes)
        known = nil
    }

    /// Reads all parts of a line that the event loop needs.
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
