// The documentation of the public libraries, built as docs/build-docc builds it.

import Foundation
import Support
import Testing

@Suite("Documentation", .timeLimit(.minutes(5))) struct DocumentationTests {
    @Test("DocC builds for the public libraries without warnings") func builds() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let out = try Workplace.fresh("documentation")
        let output = try run(
            root + "/docs/build-docc", [out, Workplace.products + "/Modules"], in: root, seconds: 280)
        #expect(output.status == 0, "\(output.text.suffix(4000)) \(output.errors.suffix(4000))")
        for library in ["FileCoordination", "VersionsClient"] {
            #expect(FileManager.default.fileExists(atPath: "\(out)/\(library).doccarchive/index.html") ||
                FileManager.default.fileExists(atPath: "\(out)/\(library).doccarchive/data"))
        }
    }
}
