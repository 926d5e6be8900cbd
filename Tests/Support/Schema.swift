// Checking JSON against the schemas in docs/schemas, as far as these use the language of schemas.

import Foundation

/// One schema, with those beside it that it refers to.
public struct Schema {
    private let directory: String
    private let root: [String: Any]

    /// - Parameter name: the file's name without `.json`.
    public init(_ name: String, in directory: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name).json"))
        guard let root = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw Failure("\(name).json is no schema")
        }
        self.root = root
        self.directory = directory
    }

    /// What does not fit, each with its place; empty if all does.
    public func problems(_ text: some Sequence<UInt8>) throws -> [String] {
        let value = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
        return try problems(value, root, at: "")
    }

    /// The keys of a text that could be missing: each with those above it, as in `entries.from`. Of a list two values
    /// are looked at.
    public func optionalKeys(_ text: some Sequence<UInt8>) throws -> Set<String> {
        let value = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
        return try optionalKeys(in: value, at: []) { try problems($0, root, at: "") }
    }

    /// - Parameter problems: those of the whole text with another value in this place.
    private func optionalKeys(
        in value: Any, at place: [String], _ problems: (Any) throws -> [String]
    ) throws -> Set<String> {
        var found: Set<String> = []
        if let list = value as? [Any] {
            for (index, element) in list.enumerated().prefix(2) {
                found.formUnion(
                    try optionalKeys(in: element, at: place) { other in
                        var list = list
                        list[index] = other
                        return try problems(list)
                    })
            }
        }
        for (key, element) in value as? [String: Any] ?? [:] {
            var without = value as? [String: Any] ?? [:]
            without[key] = nil
            let name = place + [key]
            if try problems(without).isEmpty { found.insert(name.joined(separator: ".")) }
            found.formUnion(
                try optionalKeys(in: element, at: name) { other in
                    without[key] = other
                    return try problems(without)
                })
        }
        return found
    }

    /// The places of objects that do not say which of their keys are required, or require one that they do not know.
    public func withoutRequired() -> [String] { Self.withoutRequired(root, at: "") }

    private static func withoutRequired(_ value: Any, at place: String) -> [String] {
        if let list = value as? [Any] { return list.flatMap { withoutRequired($0, at: place) } }
        guard let schema = value as? [String: Any] else { return [] }
        var found = schema.flatMap { withoutRequired($0.value, at: "\(place)/\($0.key)") }
        if let properties = schema["properties"] as? [String: Any], schema["type"] != nil {
            let required = schema["required"] as? [String]
            if required?.allSatisfy({ properties[$0] != nil }) != true { found.append(place) }
        }
        return found
    }

    private func problems(_ value: Any, _ schema: [String: Any], at place: String) throws -> [String] {
        if let reference = schema["$ref"] as? String {
            let other = try Schema(String(reference.dropLast(".json".count)), in: directory)
            return try other.problems(value, other.root, at: place)
        }
        if let choices = schema["anyOf"] as? [[String: Any]] {
            let all = try choices.map { try problems(value, $0, at: place) }
            return all.contains([]) ? [] : all.min { $0.count < $1.count } ?? []
        }
        if let words = schema["enum"] as? [String] {
            return (value as? String).map(words.contains) == true ? [] : ["\(place): \(value) is none of \(words)"]
        }
        let types = schema["type"] as? [String] ?? (schema["type"] as? String).map { [$0] } ?? []
        guard types.isEmpty || types.contains(where: { Self.isOf($0, value) }) else {
            return ["\(place): \(value) is not of \(types)"]
        }
        if let text = value as? String, let pattern = schema["pattern"] as? String,
            text.range(of: pattern, options: .regularExpression) == nil
        {
            return ["\(place): \(text) does not match \(pattern)"]
        }
        if let least = schema["minimum"] as? Double, let number = (value as? NSNumber)?.doubleValue, number < least {
            return ["\(place): \(number) is less than \(least)"]
        }
        if let list = value as? [Any], let items = schema["items"] as? [String: Any] {
            return try list.enumerated().flatMap { try problems($1, items, at: "\(place)[\($0)]") }
        }
        guard let object = value as? [String: Any] else { return [] }
        return try problems(object: object, schema, at: place)
    }

    private func problems(object: [String: Any], _ schema: [String: Any], at place: String) throws -> [String] {
        let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
        let patterns = schema["patternProperties"] as? [String: [String: Any]] ?? [:]
        var problems = (schema["required"] as? [String] ?? []).filter { object[$0] == nil }.map { "\(place): no \($0)" }
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            let pattern = patterns.first { key.range(of: $0.key, options: .regularExpression) != nil }?.value
            if let known = properties[key] ?? pattern {
                problems += try self.problems(value, known, at: "\(place).\(key)")
            } else if schema["additionalProperties"] as? Bool == false {
                problems.append("\(place): \(key) is not in the schema")
            }
        }
        return problems
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "null": value is NSNull
        case "string": value is String
        case "array": value is [Any]
        case "object": value is [String: Any]
        case "boolean": (value as? NSNumber).map(isBoolean) ?? false
        case "integer":
            (value as? NSNumber).map { !isBoolean($0) && $0.doubleValue.rounded() == $0.doubleValue } ?? false
        default: false
        }
    }

    private static func isBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
}
