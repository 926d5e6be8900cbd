// What many claims cost: the arbiter works under a lock that every open waits for.

import Testing
import VersionModel

@testable import Coordination

@Suite("What many claims cost", .serialized) struct ArbiterCostTests {
    private static func play(_ rounds: Int, _ body: (inout Play, UInt64) -> Void, in play: inout Play) -> Duration {
        // The quickest of several: others use the machine as well.
        (0..<5).map { _ in ContinuousClock().measure { for round in 0..<rounds { body(&play, UInt64(round)) } } }.min()
            ?? .zero
    }

    /// A number of clients contend for one file, each anew when it has had it.
    private static func contend(_ clients: UInt64, with presenter: Bool) -> Duration {
        var play = Play()
        if presenter { play.present(1, of: 999, "d/a") }
        for id in 1...clients { play.claim(id, of: id, [("d/a", .write)]) }
        var holder: UInt64 = 1
        return Self.play(10, { play, _ in
            if presenter { play.answer(1, for: holder) }
            play.release(holder)
            play.claim(holder + clients, of: holder % clients, [("d/a", .write)])
            holder += 1
        }, in: &play)
    }

    @Test("those who wait for a presenter's answer cost about what they cost without a presenter") func presenter() {
        let (without, with) = (Self.contend(64, with: false), Self.contend(64, with: true))
        #expect(with < without * 20, "\(with) with a presenter, \(without) without")
    }

    /// Programs have many files open while a client takes part, and one file is renamed to and fro.
    private static func rename(among opens: UInt64) -> Duration {
        var play = Play()
        play.present(1, of: 999, "other")
        for id in 1...opens { play.open(id, by: id, "d/f\(id)", .write, patience: 0) }
        return Self.play(10, { play, _ in
            play.move("d/f1", to: "d/g")
            play.move("d/g", to: "d/f1")
        }, in: &play)
    }

    @Test("a rename costs about the same whether few or many files are claimed") func renames() {
        let (few, many) = (Self.rename(among: 10), Self.rename(among: 500))
        #expect(many < few * 20, "\(many) among many, \(few) among few")
    }
}
