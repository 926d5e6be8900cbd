import Foundation
import LineageWorlds
import Testing

/// Each case of four suites of the container has its table: issue 14 asks for that.
@Suite struct CasesTests {
    /// By the function of the test, the stories that have its arguments.
    static let cases: [String: [String]] = [
        "ReturningNameTests.settled": [
            "an exchange settles", "saved in its new place by another's rename over it", "saved in its new place",
        ],
        "ReturningNameTests.usedAgain": ["a name for what is to be renamed may be used again and again"],
        "ReturningNameTests.savedThroughItsFirstName": ["saves through the first name, four times"],
        "ReturningNameTests.renamedAgain": [
            "a backup that is made again and again",
            "a document with an older version that is renamed and begun anew keeps its history",
            "a document that is saved twice between two renames keeps its history",
            // No rule knows of pins.
            "so does one that its mover has made just now",
            "a document that is renamed again and again, and begun anew, keeps its history",
            "one that goes elsewhere then keeps it, too",
        ],
        "ReturningNameTests.rotated": ["a program that had it open before settles nothing"],
        "ReturningNameTests.exchanged": [
            "three renames exchange a document of one version and one from before the mount",
            "three renames exchange two documents of one version each",
            "three renames exchange a document of one version and one of two",
            "three renames exchange a document of two versions and one from before the mount",
            "three renames exchange a document of two versions and one of one",
            "three renames exchange two documents of several versions",
        ],
        "ReturningNameTests.onlyMoved": ["a log that is rotated was only moved"],
        "OrphanTests.writtenAfterTheNameCameBack": [
            "a file that is written in place after its name came back",
            "a file that is written after its name came back",
        ],
        "OrphanTests.writtenAfterDeletion": [
            "a deleted file that is written in place", "a save into an unlinked document is the deleted entry's",
            "a deleted file that is written in place comes back as it is now",
            "a deleted file that is appended to comes back as it is now",
        ],
        "OrphanTests.emptiedAfterItsClose": ["a deleted file that is emptied after the close of a duplicate"],
        "OrphanTests.writtenBesideAnAppend": ["what is written beside an append to the name"],
        "OrphanTests.truncatedAfterDeletion": ["a deleted file that is emptied"],
        "OrphanTests.twoWriters": ["of two writers of a deleted file each counts"],
        "OrphanTests.lostAgainUnsaved": [
            "a file that came back, was moved, and loses its name before it is saved",
            "a file that came back, was removed, and loses its name before it is saved",
            "the same, closed after the name came back",
        ],
        "OrphanTests.writtenUnseen": [
            "what replaced a deleted file stays when another goes on writing to it unseen",
            "the same where the name has come back",
        ],
        "OrphanTests.neverWritten": ["a deleted file that was open and never written leaves nothing more"],
        "OrphanTests.writtenBesideAndRenamed": [
            "what was written by a descriptor from before stays when its document is renamed over another",
        ],
        "OrphanTests.cameBackAfterClose": ["a name that came back after its writer closed"],
        "OrphanTests.sharedByAnother": [
            "a content that another document shares outlives a save with the same content",
        ],
        "OrphanTests.synchronizedByOneOfTwo": ["what one of two writers synchronizes is amended by its close"],
        "FurtherNamesTests.allNamesOfAFileComeBackWithItsDirectory": [
            "all names of a file are deleted with its directory", "all names of a file come back with its directory",
            "all names of a file come back with its directory, the first one removed last",
        ],
        "FurtherNamesTests.theNameThatWentFirstIsGivenBackFirst": [
            "of a deleted file's names, the one that went first is given back first",
        ],
        "FurtherNamesTests.aDocumentComesBackToItsNameThoughItsFileIsAnothers": [
            "a document comes back to its name though its file is another's",
        ],
        "FurtherNamesTests.aDocumentIsUndeletedThoughItsFileIsAnothers": [
            "a document is undeleted though its file is another's",
            "a document is undeleted later though its file is another's",
        ],
        "FurtherNamesTests.aNameIsGivenBackToItsOwnDocument": [
            "a name of a file of two documents is given back to its own",
        ],
        "FurtherNamesTests.aNameIsGivenBackToWhatPartedWithItsFile": [
            "a name is given back to what parted with its file",
        ],
        "FurtherNamesTests.aNameOfAFileThatStayedIsGivenBack": [
            "a name of a file that stayed is an entry of the deleted list",
            "a name of a file that stayed is given back",
            "a name of a file that stayed is given back under another one",
        ],
        "FurtherNamesTests.aNameWhoseFileWasReplacedComesBackWithItsContent": [
            "a name whose file was replaced comes back with its content",
        ],
        "FurtherNamesTests.purgingOneNameLeavesTheFileToTheOther": [
            "purging one name leaves the file to the other", "purging all names of a file leaves nothing",
        ],
        "FurtherNamesTests.aNameThatOnlyPassedLeavesNoTrace": ["a temporary object of git"],
        "SeveralNamesTests.seenLater": ["a further name from before the mount is its file's document"],
        "SeveralNamesTests.comesBackByItsOtherName": [
            "what is left of a file under its name from before the mount is renamed over the first",
        ],
        "SeveralNamesTests.unseen": [
            "what is left of a file under its name from before the mount is renamed over the first",
        ],
    ]

    private static let suites = [
        "ReturningNameTests.swift", "OrphanTests.swift", "Operations/FurtherNamesTests.swift",
        "SeveralNamesTests.swift",
    ]

    @Test func everyCaseHasATable() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        var found: Set<String> = []
        for suite in Self.suites {
            let file = tests.appending(path: "ContainerTests/\(suite)")
            let suite = file.deletingPathExtension().lastPathComponent
            for part in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "@Test").dropFirst() {
                let function = part.components(separatedBy: "func ").dropFirst().first?.prefix { $0 != "(" }
                found.insert("\(suite).\(function ?? "?")")
            }
        }
        #expect(found == Set(Self.cases.keys))
    }

    @Test func everyTableIsThere() {
        let names = Set(Story.all.map(\.name))
        let missing = Self.cases.values.joined().filter { !names.contains($0) }
        #expect(missing.isEmpty)
    }

    /// InterleavingTests: the orders that once lost a save, word for word.
    @Test func everyOrderIsThere() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appending(path: "ContainerTests/InterleavingTests.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let list = text.components(separatedBy: "static let found = [").last?.components(separatedBy: "\n    ]").first
        let joined = (list ?? "").replacing(#/"\n *\+ "/#, with: "")
        let orders = joined.matches(of: #/"([^"]+)"/#).map { String($0.1) }
        #expect(!orders.isEmpty && Set(orders).isSubset(of: Order.found))
    }
}
