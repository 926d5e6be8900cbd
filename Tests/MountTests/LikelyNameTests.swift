// Slips of the hand in names: of files, of deleted and renamed ones, and of settings.

import Foundation
import Support
import Testing

@Suite struct LikelyNameTests {
    @Test("A name that is not there is answered with the one that was meant")
    func files() throws {
        try Place.with { place in
            try place.mount()
            try shell(
                """
                mkdir c/ag; echo 1 > c/report.txt; echo 1 > c/one; mv c/one c/ag/one; echo 1 > c/vanished.txt
                rm c/vanished.txt; mkdir c/from; echo 1 > c/from/deep; mv c/from c/to
                """, in: place.path)
            for (words, hint) in [
                ("history c/reprot.txt", "did you mean 'c/report.txt'?"),
                ("conflicts c/reprot.txt", "did you mean 'c/report.txt'?"),
                ("show c/report.tx", "did you mean 'c/report.txt'?"),
                ("history c/vanishd.txt", "did you mean 'c/vanished.txt' (deleted)?"),
                ("undelete c/vanishd.txt", "did you mean 'c/vanished.txt'?"),
                ("history c/one", "renamed to c/ag/one"), ("show c/one", "renamed to c/ag/one"),
                ("history c/from/deep", "renamed to c/to/deep"),
            ] {
                let output = try run(Workplace.control, words.split(separator: " ").map(String.init), in: place.path)
                expectError(output, "hint: \(hint)")
            }
            let other = try place.ctl("history", "c/something else")
            #expect(!other.errors.contains("did you mean"), "\(other.errors)")
            try place.unmount()
        }
    }

    @Test("What lies where the caller may not look is not named")
    func rights() throws {
        try Place.with { place in
            try place.mount()
            try shell("mkdir -m 700 c/secret; echo 1 > c/plan; mv c/plan c/secret/plan", in: place.path)
            #expect(try place.ctl("history", "c/plan").errors.contains("renamed to c/secret/plan"))
            let output = try place.ctl("history", "c/plan", asUser: 65534)
            #expect(output.status == 1 && !output.errors.contains("secret"), "\(output.errors)")
            try place.unmount()
        }
    }

    @Test("A setting's key is guessed, with its table or without")
    func settings() throws {
        try Place.with { place in
            try place.mount()
            for (key, likely) in [("stale-write", "stale-writes"), ("max-file", "history.max-file")] {
                expectError(
                    try place.ctl("config", key, "x", "--container", "c"), "no setting \(key)",
                    "did you mean `\(likely)`?")
            }
            try place.unmount()
        }
    }
}
