// Opens for reading beside a program that rewrites the file.

import Lineage
import Testing
import VersionModel

@Suite("Reads of whole files")
struct WholeReadTests {
    private static func after(_ milliseconds: Int64) -> Timestamp { Timestamp(nanoseconds: milliseconds * 1_000_000) }

    private let writer = ActorNumber(1)
    private let reader = ActorNumber(2)

    @Test("an open waits until the file is quiet, or for as long as it may")
    func waits() {
        var file = WholeRead(longest: 2_000_000_000)
        #expect(file.due(for: reader, Kin(), at: Self.after(0)) == nil)
        file.empty(by: writer, at: Self.after(0))
        #expect(file.due(for: reader, Kin(), at: Self.after(0)) == Self.after(200))
        file.change(at: Self.after(150))
        #expect(file.due(for: reader, Kin(), at: Self.after(160)) == Self.after(350))
        file.change(at: Self.after(1_900))
        #expect(file.due(for: reader, Kin(), at: Self.after(1_950)) == Self.after(2_000))
        #expect(file.due(for: reader, Kin(), at: Self.after(2_000)) == nil)
    }

    @Test("the close ends it, and a program does not wait for itself or its kin")
    func goesOn() {
        var file = WholeRead(longest: 2_000_000_000)
        file.empty(by: writer, at: Self.after(0))
        #expect(file.due(for: writer, Kin(), at: Self.after(1)) == nil)
        let kin = Kin([Kin.Relation(actor: reader, lineage: [writer])])
        #expect(file.due(for: reader, kin, at: Self.after(1)) == nil)
        file.close()
        #expect(file.due(for: reader, Kin(), at: Self.after(1)) == nil)
    }
}
