// A deleted document with an unresolved loser: status, conflicts and resolve say the same, through versionsctl.

import Foundation
import Support
import Testing

@Suite struct DeletedConflictTests {
    @Test("What is deleted is in no conflict, says so, and is in its old one once it is back")
    func deleted() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo one > c/f", in: place.path)
            #expect(try place.ctl("simulate", "conflict", "c/f").status == 0)
            #expect(try place.ctl("status", "c").text.contains(Told.oneUnresolved))
            try shell("rm c/f", in: place.path)
            #expect(try !place.ctl("status", "c").text.contains("unresolved"))
            #expect(try place.ctl("conflicts", "c").text == "No conflicts.")
            for way in [["--keep", "current"], ["--newest"]] {
                let output = try run(Workplace.control, ["resolve", "c/f"] + way, in: place.path)
                expectError(output, "c/f: \(Told.deletedConflict)")
            }
            #expect(try place.ctl("history", "c/f").text.contains("conflict"))
            #expect(try place.ctl("undelete", "c/f").status == 0)
            #expect(try place.ctl("status", "c").text.contains(Told.oneUnresolved))
            #expect(try place.ctl("resolve", "c/f", "--keep", "current").status == 0)
            #expect(try place.ctl("status", "c").text.contains("none"))
            try place.unmount()
        }
    }
}
