// What is said of a version that was over history.max-file when its file was overwritten in place.

import Foundation
import Support
import Testing

@Suite struct GivenUpContentTests {
    @Test("history, show, diff, restore and status say that a content was given up, and why")
    func said() throws {
        try Place.with { place in
            try place.mount()
            let status = try place.ctl("status", "c").text
            // With reflink everything is kept.
            guard !status.contains("reflink,") else { return }
            #expect(try place.ctl("config", "history.max-file", "1MiB", in: "c").status == 0)
            try shell("head -c 2000000 /dev/zero > c/big; echo small > c/big", in: place.path)
            let history = try JSONDecoder().decode(
                HistoryRecord.self, from: Data(try place.ctl("history", "c/big", "--json").stdout))
            let lost = try #require(history.versions.last)
            #expect(lost.size == 2_000_000)
            let text = try place.ctl("history", "c/big").text
            #expect(text.contains(Told.contentLost) && text.contains("says why"), "\(text)")
            for words in [["show"], ["diff"], ["restore"]] {
                let output = try run(Workplace.control, words + ["c/big", "--version", lost.id], in: place.path)
                expectError(output, "was not kept", "history.max-file (1048576)", "2000000 bytes")
            }
            #expect(try place.ctl("status", "c").text.contains("over history.max-file"))
            let opened = try run("cat", [lost.file])
            #expect(opened.errors.contains("No data available"), "\(opened.errors)")
            // There is nothing that could be compared.
            expectError(try place.ctl("diff", "c/big"), Told.noOtherVersion)
            try place.unmount()
        }
    }
}
