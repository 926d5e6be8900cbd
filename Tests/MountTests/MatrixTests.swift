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
        ]
        + WritingOption.allCases.map {
            Kind(mode: "writing", options: $0 == .updating ? [] : [$0.rawValue], kind: .writing($0))
        }

    /// Where two claims can be; each pair is asked for in both orders.
    private static let places: [(String, String)] = [
        ("a", "a"), ("a", "link"), ("a", "b"), ("d", "d"), ("d", "d/a"), ("d", "d/e/b"), ("d/e", "d/a"),
        ("p.pack", "p.pack/x"), ("p.pack/x", "p.pack/y/z"), ("p.pack/x", "d/a"), ("free", "free"), ("free", "d/free"),
    ]

    @Test("the later claim waits exactly where the matrix says", arguments: [false, true])
    func everyPair(ofOnePurpose: Bool) throws {
        let files = ["a": "1", "b": "1", "d/a": "1", "d/e/b": "1", "p.pack/x": "1", "p.pack/y/z": "1"]
        try withContainer(files: files, settings: ["packages.extensions": "[\"pack\"]"]) { container in
            try shell("ln a link", in: container.path)
            let socket = try ControlSocket(of: container)
            var problems: [String] = []
            var count = 0
            for place in Self.places {
                let orders = place.0 == place.1 ? [place] : [place, (place.1, place.0)]
                for (first, second) in orders {
                    for earlier in Self.kinds {
                        for later in Self.kinds {
                            count += 1
                            let waits = try waits(
                                socket, later, at: second, behind: earlier, at: first, ofOnePurpose: ofOnePurpose)
                            let expected = !ofOnePurpose && Self.expected(later, at: second, behind: earlier, at: first)
                            if waits == expected { continue }
                            problems.append("\(earlier.name) at \(first), then \(later.name) at \(second): waits \(waits)")
                        }
                    }
                }
            }
            print("MatrixTests: \(count) pairs")
            return Array(problems.prefix(20))
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

    /// Makes the one claim, then the other, which is cancelled: it is answered so if it waits, else it is granted.
    private func waits(
        _ socket: ControlSocket, _ later: Kind, at second: String, behind earlier: Kind, at first: String,
        ofOnePurpose: Bool
    ) throws -> Bool {
        func parameters(_ kind: Kind, _ path: String) -> [String: Any] {
            ["accesses": [["mode": kind.mode, "path": path, "options": kind.options] as [String: Any]], "key": 1]
        }
        let held = try socket.answer(to: socket.begin("claim", parameters(earlier, first)))
        guard let result = held["result"] as? [String: Any], let claim = result["claim"] as? NSNumber,
            let purpose = result["purpose"] as? String
        else { throw Failure("\(earlier.name) at \(first): \(held)") }
        var wanted = parameters(later, second)
        if ofOnePurpose { wanted["purpose"] = purpose }
        let call = try socket.begin("claim", wanted)
        let cancelling = try socket.begin("cancelClaim", ["key": 1])
        var (answer, isCancelled): ([String: Any]?, Bool) = (nil, false)
        while answer == nil || !isCancelled {
            let message = try socket.next()
            if message["id"] as? Int == call { answer = message }
            if message["id"] as? Int == cancelling { isCancelled = true }
        }
        let granted = (answer?["result"] as? [String: Any])?["claim"] as? NSNumber
        if granted == nil, (answer?["error"] as? [String: Any])?["code"] as? Int != -32010 {
            throw Failure("\(later.name) at \(second): \(answer ?? [:])")
        }
        for claim in [claim] + (granted.map { [$0] } ?? []) {
            _ = try socket.answer(to: socket.begin("release", ["claim": claim]))
        }
        return granted == nil
    }
}
