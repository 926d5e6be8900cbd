// The running daemon against the matrix: every ordered pair of claims, in every place, of one purpose and of two.

import Coordination
import Foundation
import Support
import Testing
import VersionModel

@Suite("The daemon and the matrix") struct MatrixTests {
    /// An access as clients ask for it, and as the matrix takes it.
    private struct Kind: Sendable {
        var mode: String
        var options: [String]
        var kind: AccessKind
        var name: String { "\(mode) \(options.joined(separator: "+"))" }
    }

    private static let kinds: [Kind] =
        [
            Kind(mode: "reading", options: [], kind: .reading([])),
            Kind(mode: "reading", options: ["withoutChanges"], kind: .reading(.withoutChanges)),
            Kind(mode: "reading", options: ["resolvesSymbolicLink"], kind: .reading(.resolvesSymbolicLink)),
            Kind(
                mode: "reading", options: ["immediatelyAvailableMetadataOnly"],
                kind: .reading(.immediatelyAvailableMetadataOnly)),
            Kind(mode: "reading", options: ["forUploading"], kind: .reading(.forUploading)),
            Kind(
                mode: "reading", options: ["withoutChanges", "immediatelyAvailableMetadataOnly"],
                kind: .reading([.withoutChanges, .immediatelyAvailableMetadataOnly])),
            Kind(
                mode: "reading",
                options: [
                    "withoutChanges", "resolvesSymbolicLink", "immediatelyAvailableMetadataOnly", "forUploading",
                ],
                kind: .reading([
                    .withoutChanges, .resolvesSymbolicLink, .immediatelyAvailableMetadataOnly, .forUploading,
                ])),
        ]
        + WritingOption.allCases.map {
            Kind(mode: "writing", options: $0 == .updating ? [] : [$0.rawValue], kind: .writing($0))
        }

    /// Where two claims can be; each pair is asked for in both orders.
    private static let places: [(String, String)] = [
        ("a", "a"), ("a", "link"), ("a", "b"), ("d", "d"), ("d", "d/a"), ("d", "d/e/b"), ("d/e", "d/a"),
        ("p.pack", "p.pack/x"), ("p.pack/x", "p.pack/y/z"), ("p.pack/x", "d/a"), ("free", "free"), ("free", "d/free"),
        ("", ""), ("", "d/e/b"), ("p.pack/q.pack/x", "p.pack/y/z"), ("p.pack/q.pack/x", "p.pack/q.pack/y"),
    ]

    @Test("the later claim waits exactly where the matrix says", arguments: [false, true])
    func everyPair(ofOnePurpose: Bool) throws {
        let files = [
            "a": "1", "b": "1", "d/a": "1", "d/e/b": "1", "p.pack/x": "1", "p.pack/y/z": "1", "p.pack/q.pack/x": "1",
        ]
        try withContainer(files: files, settings: ["packages.extensions": "[\"pack\"]"]) { container in
            try shell("ln a link", in: container.path)
            let socket = try ControlSocket(of: container)
            var problems: [String] = []
            var count = 0
            for place in Self.places {
                let orders = place.0 == place.1 ? [place] : [place, (place.1, place.0)]
                for (first, second) in orders {
                    for earlier in Self.kinds where Self.mayBe(earlier, at: first) {
                        for later in Self.kinds where Self.mayBe(later, at: second) {
                            count += 1
                            let waits = try waits(
                                socket, later, at: second, behind: earlier, at: first, ofOnePurpose: ofOnePurpose)
                            let expected = !ofOnePurpose && Self.expected(later, at: second, behind: earlier, at: first)
                            if waits == expected { continue }
                            problems.append(
                                "\(earlier.name) at \(first), then \(later.name) at \(second): waits \(waits)")
                        }
                    }
                }
            }
            print("MatrixTests: \(count) pairs")
            return Array(problems.prefix(20))
        }
    }

    /// Nobody deletes, moves or replaces the container itself.
    private static func mayBe(_ kind: Kind, at path: String) -> Bool {
        !path.isEmpty || kind.kind.strength != .takesTree
    }

    @Test("what would take the container itself away is refused")
    func root() throws {
        try withContainer(files: [:]) { container in
            let socket = try ControlSocket(of: container)
            return try Self.kinds.filter { !Self.mayBe($0, at: "") }.compactMap { kind in
                let answer = try socket.answer(to: socket.begin("claim", parameters(kind, "")))
                let code = (answer["error"] as? [String: Any])?["code"] as? Int
                return code == -32007 ? nil : "\(kind.name): \(answer)"
            }
        }
    }

    @Test("a claim goes along with what is moved; only one to replace what has a name stays with the name, too")
    func moving() throws {
        try withContainer(files: [:]) { container in
            let stranger = try ActorProcess("stranger", in: container.path)
            let socket = try ControlSocket(of: container)
            let writing = Self.kinds.first { $0.mode == "writing" && $0.options.isEmpty } ?? Self.kinds[0]
            var problems: [String] = []
            for (number, kind) in Self.kinds.enumerated() {
                let (old, new) = ("old\(number)", "new\(number)")
                try container.put("1", at: old)
                let held = try held(socket, kind, at: old)
                try stranger.must("rename", old, new)
                let isOfName = kind.options == ["forReplacing"]
                // At the new name a writer waits in any case: it is still the item that somebody is about to replace.
                for (name, expected) in [(old, isOfName), (new, true)]
                where try isHeldUp(socket, writing, at: name) != expected {
                    problems.append(
                        """
                        \(kind.name) at a file that is moved: a writer of \(name) does \(expected ? "not wait" : "wait")
                        """)
                }
                _ = try socket.answer(to: socket.begin("release", ["claim": held.claim]))
            }
            return problems
        }
    }

    /// What the pure function says.
    private static func expected(_ later: Kind, at second: String, behind earlier: Kind, at first: String) -> Bool {
        // Two names of one file are one item.
        func access(_ kind: Kind, _ at: String) -> Access {
            let item = at == "a" || at == "link" ? ItemID(high: 0, low: 1) : nil
            return Access(path: TreePath(bytes: Array(at.utf8)) ?? .root, item: item, kind: kind.kind)
        }
        return ClaimMatrix.waits(
            later: later.kind.strength, forEarlier: earlier.kind.strength,
            ClaimMatrix.relation(
                ofLater: access(later, second), toEarlier: access(earlier, first), Packages(extensions: ["pack"])))
    }

    /// Makes the one claim, then the other, and gives both up.
    private func waits(
        _ socket: ControlSocket, _ later: Kind, at second: String, behind earlier: Kind, at first: String,
        ofOnePurpose: Bool
    ) throws -> Bool {
        let held = try held(socket, earlier, at: first)
        let waits = try isHeldUp(socket, later, at: second, purpose: ofOnePurpose ? held.purpose : nil)
        _ = try socket.answer(to: socket.begin("release", ["claim": held.claim]))
        return waits
    }

    private func parameters(_ kind: Kind, _ path: String) -> [String: Any] {
        ["accesses": [["mode": kind.mode, "path": path, "options": kind.options] as [String: Any]], "key": 1]
    }

    /// Makes a claim that nothing holds up.
    private func held(_ socket: ControlSocket, _ kind: Kind, at path: String) throws -> (
        claim: NSNumber, purpose: String
    ) {
        let answer = try socket.answer(to: socket.begin("claim", parameters(kind, path)))
        guard let result = answer["result"] as? [String: Any], let claim = result["claim"] as? NSNumber,
            let purpose = result["purpose"] as? String
        else { throw Failure("\(kind.name) at \(path): \(answer)") }
        return (claim, purpose)
    }

    /// Makes a claim, which is cancelled: it is answered so if it waits, else it is granted, and given back.
    private func isHeldUp(
        _ socket: ControlSocket, _ kind: Kind, at path: String, purpose: String? = nil
    ) throws -> Bool {
        var wanted = parameters(kind, path)
        if let purpose { wanted["purpose"] = purpose }
        let call = try socket.begin("claim", wanted)
        let cancelling = try socket.begin("cancelClaim", ["key": 1])
        var (answer, isCancelled): ([String: Any]?, Bool) = (nil, false)
        while answer == nil || !isCancelled {
            let message = try socket.next()
            if message["id"] as? Int == call { answer = message }
            if message["id"] as? Int == cancelling { isCancelled = true }
        }
        guard let granted = (answer?["result"] as? [String: Any])?["claim"] as? NSNumber else {
            guard (answer?["error"] as? [String: Any])?["code"] as? Int == -32010 else {
                throw Failure("\(kind.name) at \(path): \(answer ?? [:])")
            }
            return true
        }
        _ = try socket.answer(to: socket.begin("release", ["claim": granted]))
        return false
    }
}
