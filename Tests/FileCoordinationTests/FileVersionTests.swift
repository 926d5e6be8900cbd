// NSFileVersion on a mount: finding, bringing back, resolving, adding and removing versions, and what goes wrong.

import FileCoordination
import Foundation
import Support
import Testing

@Suite("NSFileVersion") struct FileVersionTests {
    private func url(_ container: TestContainer, _ name: String) -> URL { URL(fileURLWithPath: container.file(name)) }

    private func text(_ version: NSFileVersion) -> String? { try? String(contentsOf: version.url, encoding: .utf8) }

    @Test("the current version is the file, the others are the older ones, newest first, each with who saved it")
    func finding() throws {
        try withContainer(named: "fileversion") { container in
            guard container.isVersioned else { return [] }
            for number in 1...3 { try shell("echo \(number) > a.txt", in: container.path) }
            let file = url(container, "a.txt")
            let current = try #require(NSFileVersion.currentVersionOfItem(at: file))
            let others = try #require(NSFileVersion.otherVersionsOfItem(at: file))
            #expect(current.url == file && text(current) == "3\n" && !current.isConflict && current.isResolved)
            #expect(others.map { text($0) } == ["2\n", "1\n"])
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let written = try #require(attributes[.modificationDate] as? Date)
            #expect(abs(try #require(current.modificationDate).timeIntervalSince(written)) < 0.001)
            #expect(current.localizedName == "a.txt" && current.localizedNameOfSavingComputer?.isEmpty == false)
            #expect(current.hasLocalContents && !current.hasThumbnail && current.originatorNameComponents == nil)
            // The same one, found again.
            let again = try #require(
                NSFileVersion.version(itemAt: file, forPersistentIdentifier: others[1].persistentIdentifier))
            #expect(again == others[1] && again.hash == others[1].hash && again != others[0] && again != current)
            #expect(NSFileVersion.version(itemAt: file, forPersistentIdentifier: NSString("00ff")) == nil)
            #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: file) == [])
            #expect(NSFileVersion.currentVersionOfItem(at: url(container, "nothing")) == nil)
            #expect(NSFileVersion.otherVersionsOfItem(at: url(container, "nothing")) == nil)
            return []
        }
    }

    @Test("versions that are not on this device: none yet, told once")
    func nonlocal() async throws {
        let count = await withCheckedContinuation { continuation in
            NSFileVersion.getNonlocalVersionsOfItem(at: URL(fileURLWithPath: "/etc/passwd")) { versions, error in
                continuation.resume(returning: error == nil ? versions?.count : nil)
            }
        }
        #expect(count == 0)
        #expect(try await NSFileVersion.nonlocalVersionsOfItem(at: URL(fileURLWithPath: "/etc/passwd")).isEmpty)
    }

    @Test("a conflict is shown and resolved as the document guide says, and nothing is lost by it")
    func resolving() throws {
        try withContainer(named: "fileversion", files: ["a.txt": "mine\n"]) { container in
            guard container.isVersioned else { return [] }
            try container.must("simulate", "conflict", "a.txt")
            try container.must("simulate", "conflict", "a.txt")
            let file = url(container, "a.txt")
            let losers = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: file))
            #expect(losers.count == 2 && losers.allSatisfy { $0.isConflict && !$0.isResolved })
            // One is chosen over what is in the file.
            let chosen = losers[0]
            let content = text(chosen)
            #expect(try chosen.replaceItem(at: file) == file)
            #expect(text(try #require(NSFileVersion.currentVersionOfItem(at: file))) == content)
            // The engine settles a loser that its user chooses (docs/lineage.md, "A restore").
            let settles = Workplace.servesByEngine
            #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: file)?.count == (settles ? 1 : 2))
            losers[0].isResolved = false
            #expect(!losers[0].isResolved)
            losers[1].isResolved = true
            #expect(losers[1].isResolved && losers[1].isConflict)
            #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: file) == (settles ? [] : [losers[0]]))
            try losers[0].resolve()
            try losers[0].resolve()
            #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: file) == [])
            let kept = NSFileVersion.otherVersionsOfItem(at: file)?.compactMap { text($0) } ?? []
            #expect(kept.contains("mine\n") && kept.count >= 3)
            try NSFileVersion.removeOtherVersionsOfItem(at: file)
            try NSFileVersion.removeOtherVersionsOfItem(at: file)
            #expect(NSFileVersion.otherVersionsOfItem(at: file) == [])
            #expect(try String(contentsOf: file, encoding: .utf8) == content)
            return try container.checkFindings()
        }
    }

    @Test("a loser can be read when it is resolved, and when its document is renamed")
    func movedLoser() throws {
        try withContainer(named: "fileversion", files: ["a.txt": "mine\n", "other.txt": "other\n"]) { container in
            guard container.isVersioned else { return [] }
            try container.must("simulate", "conflict", "a.txt")
            let loser = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: url(container, "a.txt"))?.first)
            let content = try #require(text(loser))
            loser.isResolved = true
            #expect(text(loser) == content)
            try shell("mv a.txt b.txt", in: container.path)
            #expect(text(loser) == content)
            try loser.replaceItem(at: url(container, "other.txt"))
            #expect(try String(contentsOf: url(container, "other.txt"), encoding: .utf8) == content)
            return []
        }
    }

    @Test("a version goes to the file of that name, though its own document had the name before")
    func takenName() throws {
        try withContainer(named: "fileversion") { container in
            guard container.isVersioned else { return [] }
            try shell("echo 1 > d.txt; echo 2 > d.txt", in: container.path)
            let old = try #require(NSFileVersion.otherVersionsOfItem(at: url(container, "d.txt"))?.first)
            try shell("mv d.txt e.txt", in: container.path)
            func content(_ name: String) throws -> String {
                try String(contentsOf: url(container, name), encoding: .utf8)
            }
            // Nothing is there: a new file.
            try old.replaceItem(at: url(container, "d.txt"))
            #expect(try content("d.txt") == "1\n" && content("e.txt") == "2\n")
            // Another one is.
            try shell("rm d.txt; echo new > d.txt", in: container.path)
            try old.replaceItem(at: url(container, "d.txt"))
            #expect(try content("d.txt") == "1\n" && content("e.txt") == "2\n")
            #expect(NSFileVersion.otherVersionsOfItem(at: url(container, "d.txt"))?.first.map { text($0) } == "new\n")
            // Its own, by the name that it has now.
            try old.replaceItem(at: url(container, "e.txt"))
            #expect(try content("e.txt") == "1\n")
            #expect(NSFileVersion.otherVersionsOfItem(at: url(container, "e.txt"))?.count == 2)
            // Deleted: it comes back with its versions.
            try shell("rm e.txt", in: container.path)
            try old.replaceItem(at: url(container, "e.txt"))
            #expect(try content("e.txt") == "1\n")
            #expect((NSFileVersion.otherVersionsOfItem(at: url(container, "e.txt"))?.count ?? 0) >= 2)
            return try container.checkFindings()
        }
    }

    @Test("what nobody has resolved is not removed with the other versions")
    func unresolvedStay() throws {
        try withContainer(named: "fileversion", files: ["a.txt": "mine\n"]) { container in
            guard container.isVersioned else { return [] }
            try shell("echo 2 > a.txt; sleep 0; echo 3 > a.txt", in: container.path)
            try container.must("simulate", "conflict", "a.txt")
            try NSFileVersion.removeOtherVersionsOfItem(at: url(container, "a.txt"))
            return NSFileVersion.unresolvedConflictVersionsOfItem(at: url(container, "a.txt"))?.count == 1
                ? [] : ["the loser is gone"]
        }
    }

    @Test("a version is put beside its file, over another one, and outside of the container")
    func replacing() throws {
        try withContainer(named: "fileversion") { container in
            guard container.isVersioned else { return [] }
            try shell("echo 1 > a.txt; echo 2 > a.txt; echo other > b.txt; chmod 640 b.txt", in: container.path)
            let file = url(container, "a.txt")
            let old = try #require(NSFileVersion.otherVersionsOfItem(at: file)?.first)
            try old.replaceItem(at: url(container, "new.txt"))
            try old.replaceItem(at: url(container, "b.txt"))
            let outside = URL(fileURLWithPath: container.path + "-outside.txt")
            defer { try? FileManager.default.removeItem(at: outside) }
            try old.replaceItem(at: outside)
            for place in [url(container, "new.txt"), url(container, "b.txt"), outside] {
                #expect(try String(contentsOf: place, encoding: .utf8) == "1\n", "\(place)")
                #expect(FileManager.default.isWritableFile(atPath: place.path))
            }
            // What was there is a version of it.
            #expect(NSFileVersion.otherVersionsOfItem(at: url(container, "b.txt"))?.map { text($0) } == ["other\n"])
            let mode =
                try FileManager.default.attributesOfItem(atPath: container.file("b.txt"))[.posixPermissions] as? Int
            #expect(mode == 0o640)
            #expect(try container.names().sorted() == ["a.txt", "b.txt", "new.txt"])
            // Moved: the version is a file of its own now.
            try old.replaceItem(at: url(container, "moved.txt"), options: .byMoving)
            #expect(NSFileVersion.otherVersionsOfItem(at: file) == [])
            #expect(try String(contentsOf: url(container, "moved.txt"), encoding: .utf8) == "1\n")
            return try container.checkFindings()
        }
    }

    @Test("contents of a program's own become a version, from the same file, from the container, and from elsewhere")
    func adding() throws {
        try withContainer(named: "fileversion", files: ["a.txt": "current\n", "b.txt": "from b\n"]) { container in
            guard container.isVersioned else { return [] }
            let file = url(container, "a.txt")
            let same = try NSFileVersion.addOfItem(at: file, withContentsOf: file)
            let other = try NSFileVersion.addOfItem(at: file, withContentsOf: url(container, "b.txt"))
            let directory = NSFileVersion.temporaryDirectoryURLForNewVersionOfItem(at: file)
            defer { try? FileManager.default.removeItem(at: directory) }
            let made = directory.appendingPathComponent("made")
            try "made\n".write(to: made, atomically: false, encoding: .utf8)
            let moved = try NSFileVersion.addOfItem(at: file, withContentsOf: made, options: .byMoving)
            #expect(!FileManager.default.fileExists(atPath: made.path))
            #expect([same, other, moved].map { text($0) } == ["current\n", "from b\n", "made\n"])
            // A version of the one becomes one of the other.
            let beside = url(container, "b.txt")
            let again = try NSFileVersion.addOfItem(at: beside, withContentsOf: moved.url, options: .byMoving)
            #expect(text(again) == "made\n" && text(moved) == "made\n")
            #expect([same, other, moved].allSatisfy { !$0.isConflict && $0.isResolved })
            #expect(Set(try #require(NSFileVersion.otherVersionsOfItem(at: file))) == [same, other, moved])
            #expect(try String(contentsOf: file, encoding: .utf8) == "current\n")
            #expect(try container.names().sorted() == ["a.txt", "b.txt"])
            // Whoever saves afterwards has no conflict with it, and it stays.
            try shell("echo next > a.txt", in: container.path)
            #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: file) == [])
            #expect(NSFileVersion.otherVersionsOfItem(at: file)?.count == 4)
            moved.isDiscardable = true
            #expect(moved.isDiscardable)
            try moved.remove()
            #expect(NSFileVersion.otherVersionsOfItem(at: file)?.count == 3)
            #expect(throws: (any Error).self) { try NSFileVersion.currentVersionOfItem(at: file)?.remove() }
            #expect(throws: (any Error).self) {
                try NSFileVersion.addOfItem(at: file, withContentsOf: url(container, "nothing"))
            }
            return try container.checkAtRest()
        }
    }

    @Test("outside of a container a file has its current version and no others")
    func outside() throws {
        let directory = try Workplace.fresh("outside")
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = URL(fileURLWithPath: directory + "/a.txt")
        #expect(NSFileVersion.currentVersionOfItem(at: file) == nil)
        try "text".write(to: file, atomically: false, encoding: .utf8)
        let current = try #require(NSFileVersion.currentVersionOfItem(at: file))
        #expect(current.url == file && current.isResolved && current.modificationDate != nil)
        #expect(NSFileVersion.otherVersionsOfItem(at: file) == [])
        #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: file) == [])
        #expect(NSFileVersion.version(itemAt: file, forPersistentIdentifier: current.persistentIdentifier) == current)
        #expect(throws: (any Error).self) { try NSFileVersion.addOfItem(at: file, withContentsOf: file) }
        #expect(throws: Never.self) { try NSFileVersion.removeOtherVersionsOfItem(at: file) }
        try current.replaceItem(at: URL(fileURLWithPath: directory + "/copy.txt"))
        #expect(try String(contentsOfFile: directory + "/copy.txt", encoding: .utf8) == "text")
        #expect(NSFileVersion.currentVersionOfItem(at: URL(string: "https://example.org/a")!) == nil)
    }

    @Test("nobody adds to, removes from or reads the versions of what they may not")
    func rights() throws {
        try withContainer(named: "fileversion", files: ["a.txt": "1\n", "b.txt": "2\n"]) { container in
            guard container.isVersioned else { return [] }
            chmod(container.path, 0o755)
            try shell("chmod 600 b.txt; echo 2 > a.txt; chmod 644 a.txt", in: container.path)
            let socket = try shell("getfattr -n user.versions.socket --only-values a.txt", in: container.path).text
            func ask(_ contents: String, _ target: String) throws -> String {
                let line =
                    #"""
                    {"id":1,"jsonrpc":"2.0","method":"addVersion","params":{"contents":{"path":"\#(contents)"},\#
                    "target":{"path":"\#(target)"}}}
                    """#
                let script =
                    """
                    import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); \
                    s.sendall(sys.argv[2].encode()+b'\\n'); print(s.makefile().readline())
                    """
                let output = try run("/usr/bin/python3", ["-c", script, socket, line], in: "/", asUser: 65534)
                return output.text + output.errors
            }
            var problems: [String] = []
            for (contents, target) in [
                ("a.txt", "a.txt"), ("b.txt", "a.txt"), ("../../etc/passwd", "a.txt"), (".versionsfs/format", "a.txt"),
            ] {
                let answer = try ask(contents, target)
                if !answer.contains(#""error""#) { problems.append("\(contents) to \(target): \(answer)") }
            }
            return problems
        }
    }
}
