// Predicate formats with arguments, like those of NSPredicate.

import Foundation
import QueryLanguage

extension QueryPredicate {
    /// Reads a format like `NSPredicate(format:)`: `%K` stands for an attribute, by Apple's key or the query language's
    /// name, `%@` for a value (a text, whole number or date), `%d` and the like for a number. Text in quotes is
    /// literal.
    ///
    ///     try NSMetadataPredicate(format: "%K LIKE %@", NSMetadataItemFSNameKey, "*.sicd")
    ///
    /// - Throws: `QuerySyntaxError` if the format is invalid, or an argument does not fit.
    public init(format: String, _ arguments: Any...) throws {
        var rest = arguments[...]
        var text: [UInt8] = []
        let bytes = Array(format.utf8)
        var index = 0
        var quote: UInt8?
        while index < bytes.count {
            let start = index
            index += 1
            switch bytes[start] {
            case UInt8(ascii: "\\") where quote != nil && index < bytes.count: index += 1
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if quote == nil { quote = bytes[start] } else if quote == bytes[start] { quote = nil }
            case UInt8(ascii: "%") where quote == nil && index < bytes.count:
                index += 1
                if bytes[start + 1] == UInt8(ascii: "%") {
                    text.append(UInt8(ascii: "%"))
                    continue
                }
                // `%ld`, `%lu`: the length has no effect.
                if bytes[start + 1] == UInt8(ascii: "l") {
                    while index < bytes.count, "ldu".utf8.contains(bytes[index]) { index += 1 }
                }
                do {
                    text += try Self.written(rest.popFirst(), isKey: bytes[start + 1] == UInt8(ascii: "K")).utf8
                } catch {
                    throw QuerySyntaxError(error.reason, at: start, found: bytes[start..<index], in: bytes)
                }
                continue
            default: break
            }
            text += bytes[start..<index]
        }
        try self.init(parsing: text)
    }

    private struct Misfit: Error { var reason: String }

    /// An argument in the query language.
    private static func written(_ argument: Any?, isKey: Bool) throws(Misfit) -> String {
        guard let argument else { throw Misfit(reason: "there is no argument for this") }
        if isKey {
            guard let key = argument as? String, let attribute = QueryAttribute(metadataKey: key) else {
                throw Misfit(reason: "\(argument) is no attribute of items here")
            }
            return attribute.rawValue
        }
        switch argument {
        case let text as String:
            let value = QueryTest(.name, .compare(.equal, .text(text)))
            return String("\(value)".dropFirst("name = ".count))
        case let date as Date:
            let value = QueryTest(.modified, .compare(.equal, .moment(date.timestamp)))
            return String("\(value)".dropFirst("modified = ".count))
        case let number as Int: return "\(number)"
        case let number as NSNumber:
            guard number == NSNumber(value: number.int64Value) else {
                throw Misfit(reason: "\(number) is no whole number")
            }
            return "\(number.int64Value)"
        default: throw Misfit(reason: "\(argument) is no text, number or date")
        }
    }
}

extension QuerySyntaxError: LocalizedError {
    public var errorDescription: String? { description }
}
