// Purging through versionsctl: what it says went, and what is left in the state.

import Foundation
import Support
import Testing

@Suite struct PurgeTests {
    @Test("Purging says how many bytes went, and they are gone")
    func purged() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo public > c/g; echo SECRET >> c/g; echo clean > c/g", in: place.path)
            let output = try place.ctl("history", "c/g", "--json")
            let versions = try JSONDecoder().decode(HistoryRecord.self, from: Data(output.stdout)).versions
            let middle = try #require(versions.first { $0.size == 14 }?.id)
            #expect(try place.ctl("purge", "c/g", "--version", middle).text.hasPrefix("Removed 1 version, 7 B"))
            let found = try run("grep", ["-rl", "SECRET", place.path + "/c"]).text
                + run("grep", ["-rl", "SECRET", place.path + "/c/.versions/g"]).text
            #expect(found == "", "\(found)")
            #expect(try place.ctl("check", "c").status == 0)
            try place.unmount()
            #expect(try run("grep", ["-rl", "SECRET", place.path + "/c/.versionsfs/objects"]).text == "")
        }
    }
}
