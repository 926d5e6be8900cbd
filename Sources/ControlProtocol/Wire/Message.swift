// JSON-RPC 2.0 messages and their lines.

import FoundationEssentials

/// The message in a line. Parameters and results are read from the same line once their type is known.
public enum Message: Hashable, Sendable {
    case request(id: RequestID, method: String)
    case notification(method: String)
    /// A reply to a call of this side; without an id if the other side could not read one.
    case reply(id: RequestID?, error: ControlError?)

    /// Reads a line. The error has the answer to send, and the id if the line has one.
    public init(line: [UInt8]) throws(Unreadable) {
        guard JSONGrammar.accepts(line) else {
            throw Unreadable(id: nil, error: ControlError(.malformed, "the line is not JSON"))
        }
        let envelope: Envelope
        do {
            envelope = try Wire.decoder().decode(Envelope.self, from: Data(line))
        } catch {
            let id = (try? Wire.decoder().decode(Identified.self, from: Data(line)))?.id
            throw Unreadable(id: id, error: ControlError(.invalidRequest, "the line is not a JSON-RPC 2.0 message"))
        }
        guard envelope.jsonrpc == "2.0" else {
            throw Unreadable(id: envelope.id, error: ControlError(.invalidRequest, "the line does not say jsonrpc 2.0"))
        }
        switch (envelope.method, envelope.id) {
        case (let method?, let id?): self = .request(id: id, method: method)
        case (let method?, nil): self = .notification(method: method)
        case (nil, let id): self = .reply(id: id, error: envelope.error)
        }
    }

    /// A line without a valid message.
    public struct Unreadable: Error, Hashable, Sendable {
        public var id: RequestID?
        public var error: ControlError
    }

    private struct Envelope: Decodable {
        var jsonrpc: String
        var id: RequestID?
        var method: String?
        var error: ControlError?
    }

    private struct Identified: Decodable {
        var id: RequestID?
    }
}

/// Writes lines and reads typed parts of them. Every line ends with a newline and contains no other one.
public enum Wire {
    /// The line of a call.
    public static func line<Request: ControlRequest>(
        calling request: Request, id: RequestID
    ) throws(ControlError) -> [UInt8] {
        try encode(Call(id: id, method: Request.method, params: request))
    }

    /// The line of a notification.
    public static func line<Notification: ControlNotification>(
        notifying notification: Notification
    ) throws(ControlError) -> [UInt8] {
        try encode(Call(id: nil, method: Notification.method, params: notification))
    }

    /// The line of a reply.
    public static func line(replying result: some Encodable, to id: RequestID) throws(ControlError) -> [UInt8] {
        try encode(Success(result: result, id: id))
    }

    /// The line of a failure; the id is null if the call's id could not be read.
    public static func line(failing error: ControlError, to id: RequestID?) -> [UInt8] {
        let fallback =
            #"{"error":{"code":-32603,"message":"the error could not be written"},"id":null,"jsonrpc":"2.0"}"#
        return (try? encode(Failure(error: error, id: id))) ?? Array((fallback + "\n").utf8)
    }

    /// The parameters in the line of a call or notification that ``Message/init(line:)`` has read. Missing parameters
    /// count as an empty object.
    public static func parameters<Parameters: Decodable>(
        _ type: Parameters.Type, in line: [UInt8]
    ) throws(ControlError) -> Parameters {
        do {
            let call = try decoder().decode(ParametersOnly<Parameters>.self, from: Data(line))
            return try call.params ?? decoder().decode(Parameters.self, from: Data("{}".utf8))
        } catch {
            let misfit = unfitNumbers(in: line, error).map { "\($0) is no number that can stand there" }
            throw ControlError(.invalidParameters, "the parameters do not fit: \(misfit ?? describe(error))")
        }
    }

    /// The result in the line of a reply that ``Message/init(line:)`` has read.
    public static func result<Result: Decodable>(_ type: Result.Type, in line: [UInt8]) throws(ControlError) -> Result {
        do {
            return try decoder().decode(ResultOnly<Result>.self, from: Data(line)).result
        } catch {
            throw ControlError(.failed, "the daemon's answer cannot be read: \(describe(error))")
        }
    }

    static func decoder() -> JSONDecoder { JSONDecoder() }

    private static func encode(_ value: some Encodable) throws(ControlError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value)) + [10]
        } catch {
            throw ControlError(.failed, "the message cannot be written: \(error)")
        }
    }

    /// The parameters that are not whole numbers from 0 up. For such a number the decoder gives neither its place nor
    /// the reason.
    private static func unfitNumbers(in line: [UInt8], _ error: any Error) -> String? {
        guard case DecodingError.dataCorrupted(let context) = error, context.codingPath.isEmpty,
            let call = try? decoder().decode(ParametersOnly<[String: MaybeNumber]>.self, from: Data(line))
        else { return nil }
        let names = (call.params ?? [:]).filter { $0.value.isUnfit }.keys.sorted()
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// A parameter of any kind.
    private struct MaybeNumber: Decodable {
        var isUnfit: Bool

        init(from decoder: any Decoder) throws {
            let number = try? decoder.singleValueContainer().decode(Double.self)
            isUnfit = number.map { $0 < 0 || $0 != $0.rounded() || $0 >= 18_446_744_073_709_551_616 } ?? false
        }
    }

    /// A decoding error in a few words: the key and the reason.
    private static func describe(_ error: any Error) -> String {
        func place(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
        return switch error {
        case DecodingError.keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "\(place(context.codingPath)) is of the wrong type"
        case DecodingError.dataCorrupted(let context):
            context.codingPath.isEmpty
                ? context.debugDescription : "\(place(context.codingPath)): \(context.debugDescription)"
        default: "\(error)"
        }
    }

    private struct Call<Parameters: Encodable>: Encodable {
        var jsonrpc = "2.0"
        var id: RequestID?
        var method: String
        var params: Parameters
    }

    private struct Success<Result: Encodable>: Encodable {
        var jsonrpc = "2.0"
        var result: Result
        var id: RequestID
    }

    private struct Failure: Encodable {
        var error: ControlError
        var id: RequestID?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: TextKey.self)
            try container.encode("2.0", forKey: "jsonrpc")
            try container.encode(error, forKey: "error")
            try container.encode(id, forKey: "id")
        }
    }

    private struct ParametersOnly<Parameters: Decodable>: Decodable {
        var params: Parameters?
    }

    private struct ResultOnly<Result: Decodable>: Decodable {
        var result: Result
    }
}
