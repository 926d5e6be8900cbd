// docs/locks.md says that it has every lock: this looks for those that it has not.

import Foundation
import Testing

@Suite struct LocksTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The types that have a lock, as swift-format indents them: a member stands four blanks further in than its type.
    private func owners(in text: String) throws -> Set<String> {
        let type = #/
            ^(\ *) (?:(?:public|package|private|fileprivate|final|open)\ )*
            (?:class|struct|enum|actor|extension)\ ([A-Z]\w*)
            /#
        let lock = #/
            ^(\ *) (?:(?:public|package|private|fileprivate|static)\ )* let\ \w+ (?::|\ =)\ 
            (?:RankedMutex|Mutex|Monitor|NSLock|Guarded|UnsafeMutablePointer<pthread_)
            /#
        var types: [Int: String] = [:]
        var found: Set<String> = []
        for line in text.split(separator: "\n") {
            if let match = line.firstMatch(of: type) { types[match.1.count] = String(match.2) }
            if let match = line.firstMatch(of: lock), let owner = types[match.1.count - 4] { found.insert(owner) }
        }
        return found
    }

    @Test("Every type that has a lock is named in docs/locks.md, and what is named there exists")
    func all() throws {
        var found: Set<String> = []
        var sources = ""
        for top in ["Sources", "Mount", "Examples"] {
            let files = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: top).path)
            for file in files where file.hasSuffix(".swift") {
                let text = try String(contentsOf: Self.root.appending(path: top + "/" + file), encoding: .utf8)
                found.formUnion(try owners(in: text))
                sources += text
            }
        }
        #expect(found.count > 60, "\(found.count) were found: has the sources' layout changed?")
        let document = try String(contentsOf: Self.root.appending(path: "docs/locks.md"), encoding: .utf8)
        let words = Set(document.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        #expect(found.subtracting(words).sorted() == [])
        // `Type.member` and `Type`: a lock that is gone stays in no table.
        let named = Set(document.matches(of: #/`([A-Z]\w+)[`.]/#).map { String($0.1) })
        let known = Set(sources.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        #expect(named.subtracting(known).sorted() == [])
    }
}
