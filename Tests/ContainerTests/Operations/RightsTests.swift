// What strangers may ask of a container.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct RightsTests: OperationTesting {
    @Test func aStrangerMayNeitherReadNorChangeWhatTheModeForbids() throws {
        let tree = try BrowsedContainer()
        // The directory of the test is closed to strangers; what is asked here is what the files say.
        #expect(chmod(tree.path, 0o755) == 0)
        try tree.save("secret", "one", mode: 0o600)
        try tree.save("secret", "two")
        let mine = try tree.container.document(at: path("secret"), as: my)
        let seen = try tree.container.document(at: path("secret"), as: stranger)
        #expect(seen.versions.allSatisfy { !tree.container.mayRead($0, of: seen, as: stranger) })
        #expect(mine.versions.allSatisfy { tree.container.mayRead($0, of: mine, as: my) })
        let old = try #require(mine.versions.last)
        #expect(kind { _ = try tree.container.restore(old, of: mine, as: stranger) } == .denied)
        #expect(kind { _ = try tree.container.purge(mine, nil, as: stranger) } == .denied)
        #expect(kind { _ = try tree.container.pin(old, of: mine, true, as: stranger) } == .denied)
        #expect(kind { _ = try tree.container.thin(dryRun: true, as: stranger) } == .denied)
        #expect(kind { _ = try tree.container.simulateConflict(mine, as: stranger) } == .denied)
        try tree.addConflict("secret", "three")
        let conflicted = try tree.container.document(at: path("secret"), as: my)
        for choice in [ResolutionChoice.current, .newest, .all] {
            #expect(kind { _ = try tree.container.resolve(conflicted, choice, as: stranger) } == .denied)
        }
        try tree.unlink("secret")
        let deletion = try tree.container.deletion(at: path("secret"), as: stranger)
        #expect(kind { _ = try tree.container.undelete(deletion, as: stranger) } == .denied)
        #expect(try tree.container.purgeDeleted(before: nil, as: stranger).deleted == 0)
    }

    @Test func aClosedDirectoryHidesWhatIsInIt() throws {
        let tree = try BrowsedContainer()
        #expect(chmod(tree.path, 0o755) == 0)
        try tree.makeDirectory("closed")
        try tree.save("closed/a", "open to all", mode: 0o644)
        #expect(chmod("\(tree.path)/closed", 0o700) == 0)
        #expect(kind { _ = try tree.container.document(at: path("closed/a"), as: stranger) } == .denied)
        try tree.unlink("closed/a")
        #expect(try tree.container.deleted(within: nil, as: stranger).isEmpty)
        try tree.removeDirectory("closed")
        #expect(try tree.container.deleted(within: nil, as: stranger).map(\.path) == [path("closed")])
        #expect(try tree.container.deleted(within: nil, as: my).count == 2)
    }
}
