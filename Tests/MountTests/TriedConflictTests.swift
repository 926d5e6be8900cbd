// Conflicts made for trying out, through versionsctl: they are like any others.

import Foundation
import Support
import Testing

@Suite struct TriedConflictTests {
    @Test("A conflict made for trying out can be kept, made again and merged")
    func tried() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo one > c/f", in: place.path)
            for words in [["resolve", "c/f", "--keep", "current"], ["resolve", "c/f", "--merge"]] {
                #expect(try place.ctl("simulate", "conflict", "c/f").status == 0)
                let listed = try place.ctl("conflicts", "c/f", "--json")
                let records = try JSONDecoder().decode([ConflictRecord].self, from: Data(listed.stdout))
                #expect(records.first?.base != nil, "\(words)")
                let output = try run(Workplace.control, words, in: place.path)
                #expect(output.status == 0, "\(words): \(output.errors)")
            }
            #expect(try String(contentsOfFile: place.path + "/c/f", encoding: .utf8).contains("A line from another"))
            #expect(try place.ctl("check", "c").status == 0)
            try place.unmount()
        }
    }
}
