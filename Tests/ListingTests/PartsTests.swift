// The parts of the container (docs/ARCHITECTURE.md) stay small, and know nothing of the whole.

import Foundation
import Testing

@Suite struct PartsTests {
    private static let container = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/Container")
    private static let parts = [
        "Actors", "Custodian", "Databases", "Mapped", "Past", "Requests", "Serving", "Space", "Tree",
    ]
    private static let most = 10
    private static let mostFiles = 4

    /// A type with the stored properties that its file says it has.
    private struct Owner {
        var kind: Substring
        var name: String
        var depth: Int
        var stored: [String] = []
    }

    /// The types of a file, as swift-format indents them: a member stands four blanks further in than its type.
    private func owners(in text: String) -> [Owner] {
        let type = #/^(\ *)(?:[a-z]+\ )*?(class|struct|enum|extension|protocol|actor)\ ([A-Z][\w.]*)/#
        let member = #/^(\ *)(?:(?:private|fileprivate|public|weak|unowned|private\(set\))\ )*(?:let|var)\ (\w+)(.*)$/#
        var (found, open): ([Owner], [Int]) = ([], [])
        for line in text.split(separator: "\n") {
            let depth = line.prefix { $0 == " " }.count
            if line.dropFirst(depth).first == "}", open.last.map({ found[$0].depth }) == depth { open.removeLast() }
            if let match = line.firstMatch(of: type) {
                let outer = open.last.map { found[$0].name + "." } ?? ""
                found.append(Owner(kind: match.2, name: outer + match.3, depth: depth))
                if !line.hasSuffix("}") { open.append(found.count - 1) }
            } else if let match = line.firstMatch(of: member), let last = open.last, found[last].depth == depth - 4 {
                // A computed one has a body, and no value.
                if !match.3.contains(#/\{(?:$|.*\}$)/#) || match.3.contains("=") {
                    found[last].stored.append(String(match.2))
                }
            }
        }
        return found
    }

    @Test(
        "No class of a part has more than ten stored properties, those of the state in its lock among them",
        arguments: Self.parts)
    func stored(_ part: String) throws {
        let folder = Self.container.appending(path: part)
        var classes = 0
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let text = try String(contentsOf: file, encoding: .utf8)
            let owners = owners(in: text)
            for owner in owners where owner.kind == "class" {
                classes += 1
                var stored = owner.stored
                // What a lock of the class guards counts in the place of the lock.
                for inner in owners where ["State", "Link"].contains(where: { inner.name == "\(owner.name).\($0)" }) {
                    stored.removeAll { inner.name.lowercased().hasSuffix("." + $0) }
                    stored += inner.stored.map { "\(inner.name).\($0)" }
                }
                #expect(stored.count <= Self.most, "\(owner.name): \(stored)")
            }
        }
        #expect(classes > 0, "no class was found: has the sources' layout changed?")
    }

    @Test("No class of a part is spread over more than four files", arguments: Self.parts)
    func files(_ part: String) throws {
        let folder = Self.container.appending(path: part)
        var (classes, files): (Set<String>, [String: Int]) = ([], [:])
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let owners = owners(in: try String(contentsOf: file, encoding: .utf8))
            classes.formUnion(owners.filter { $0.kind == "class" }.map(\.name))
            let names = owners.filter { ["class", "extension"].contains($0.kind) }.map(\.name)
            for name in Set(names) { files[name, default: 0] += 1 }
        }
        #expect(!classes.isEmpty, "no class was found: has the sources' layout changed?")
        for name in classes { #expect(files[name, default: 0] <= Self.mostFiles, "\(name)") }
    }

    @Test("No part knows LiveContainer, but in its extensions", arguments: Self.parts)
    func independence(_ part: String) throws {
        let folder = Self.container.appending(path: part)
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where !file.lastPathComponent.hasPrefix("LiveContainer+") {
            let text = try String(contentsOf: file, encoding: .utf8)
            let code = text.split(separator: "\n").filter { !$0.contains(#/^\s*\/\//#) }
            #expect(code.filter { $0.contains(#/LiveContainer/#) } == [], "\(file.lastPathComponent)")
        }
    }
}
