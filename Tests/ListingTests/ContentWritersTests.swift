// The Custodian is the only writer of contents: this looks for others in the sources.

import Foundation
import Testing

@Suite struct ContentWritersTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// Functions of the store of contents, and of the deleted area, that change no file of theirs. One that is not
    /// listed counts as one that does.
    private static let harmless: Set = [
        "allocated", "closeRemoved", "contains", "forEach", "hasten", "label", "labels", "name", "open", "order",
        "place", "restore", "settle", "settleUnseen", "synchronizing", "takeOverWriting",
    ]

    /// A function of the store.
    private struct Function {
        var type: String
        var name: String
        var isPublic: Bool
        var body: String
    }

    private func sources(below top: String) throws -> [(path: String, text: String)] {
        try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: top).path).sorted()
            .filter { $0.hasSuffix(".swift") }.map { file in
                let path = top + "/" + file
                return (path, try String(contentsOf: Self.root.appending(path: path), encoding: .utf8))
            }
    }

    /// The functions of types at the top level of the store's files, as swift-format indents them.
    private func functions() throws -> [Function] {
        let type = #/^(?:(?:public|final|package)\ )*(?:class|struct|enum|actor|extension)\ ([A-Z][\w.]*)/#
        let function = #/^\ {4}(?:(public)\ |\w+\ )*func\ (\w+)/#
        var found: [Function] = []
        for (_, text) in try sources(below: "Sources/VersionStore") {
            var owner = ""
            for line in text.split(separator: "\n") {
                if let match = line.firstMatch(of: type) {
                    owner = String(match.1)
                } else if let match = line.firstMatch(of: function) {
                    found.append(
                        Function(type: owner, name: String(match.2), isPublic: match.1 != nil, body: String(line)))
                } else if found.last?.type == owner {
                    found[found.count - 1].body += "\n" + line
                }
            }
        }
        return found
    }

    /// The public functions of `VersionStore` that call one of these, some by way of others.
    private func callers(_ written: [String: Set<String>], among functions: [Function]) throws -> Set<String> {
        let own = functions.filter { $0.type == "VersionStore" }
        var names: Set<String> = []
        while true {
            let more = try own.filter { function in
                try names.contains { try function.body.contains(Regex("[^.\\w]\($0)\\(")) }
                    || written.contains { !calls($0.key, in: function.body).isDisjoint(with: $0.value) }
            }.map(\.name)
            guard !names.isSuperset(of: more) else { break }
            names.formUnion(more)
        }
        return Set(own.filter { $0.isPublic && names.contains($0.name) }.map(\.name))
    }

    /// The functions of a member that a text calls.
    private func calls(_ member: String, in text: String) -> Set<String> {
        guard let call = try? Regex("\\W\(member)\\s*\\??\\.\\s*(\\w+)\\s*[({]", as: (Substring, Substring).self) else {
            return []
        }
        return Set(text.matches(of: call).map { String($0.1) })
    }

    @Test("No code above the store changes contents, among the objects or in the deleted area, but for the Custodian")
    func onlyOne() throws {
        let functions = try functions()
        var written: [String: Set<String>] = [:]
        for (member, type) in [("contents", "ContentStore"), ("deletedArea", "DeletedArea")] {
            written[member] = Set(functions.filter { $0.type == type && $0.isPublic }.map(\.name))
                .subtracting(Self.harmless)
        }
        let catalog = #"catalog\(\)"#
        written[catalog] = try callers(written, among: functions)
        #expect(written["contents"] == ["keep", "relabel", "remove", "beginning", "drop", "put"])
        #expect(
            written["deletedArea"] == [
                "hand", "moveFromContents", "moveIn", "moveOut", "moveToContents", "note", "relabel", "remove",
                "replace",
            ])
        #expect(written[catalog] == ["cutShort", "cutToSynchronized", "keepWhole", "settleContents"])
        let files = try ["Sources", "Mount", "Examples"].flatMap { try sources(below: $0) }
            .filter { !$0.path.hasPrefix("Sources/VersionStore/") }
        for (member, names) in written {
            let places = files.filter { !calls(member, in: $0.text).isDisjoint(with: names) }.map(\.path)
            #expect(places.filter { !$0.hasPrefix("Sources/Container/Custodian/") } == [], "\(member)")
            #expect(!places.isEmpty, "no writer was found: has the store changed?")
        }
    }

    @Test("No code above the store has contents or the deleted area by another name")
    func noOtherName() throws {
        let value = #/=\s*(?:\w+\s*\.\s*)*(?:contents|deletedArea)\s*(?:$|,|\))/#.anchorsMatchLineEndings()
        let type = #/:\s*(?:ContentStore|DeletedArea)(?![.\w])/#
        let files = try ["Sources/Container", "Sources/ControlService", "Mount"].flatMap { try sources(below: $0) }
        #expect(files.filter { $0.text.contains(value) || $0.text.contains(type) }.map(\.path) == [])
    }
}
