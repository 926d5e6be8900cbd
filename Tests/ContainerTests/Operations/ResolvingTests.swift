// Resolving conflicts through the container's own interface.

import CLinux
import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct ResolvingTests: OperationTesting {
    private func conflict(_ tree: BrowsedContainer) throws -> (document: DocumentRecord, loser: Version) {
        try tree.save("a.txt", "base")
        let base = try tree.item("a.txt").current
        try tree.save("a.txt", "mine")
        let loser = try tree.addConflict("a.txt", "theirs", base: base)
        return (try tree.container.document(at: path("a.txt"), as: my), loser)
    }

    @Test func keepingTheCurrentVersionTakesTheLoserInAsAParent() throws {
        let tree = try BrowsedContainer()
        let (document, loser) = try conflict(tree)
        let outcome = try tree.container.resolve(document, .current, as: my)
        #expect(outcome.resolved == [loser.id] && outcome.current == document.current?.id)
        let after = try tree.container.document(at: path("a.txt"), as: my)
        #expect(after.conflicts.isEmpty && after.versions.count == 3)
        #expect(after.current?.parents.contains(loser.id) == true)
        #expect(try tree.live("a.txt") == "mine")
        let last = try #require(try tree.container.store.changes(after: 0, limit: 1000).last).1
        #expect(last.event == .resolved && last.version == loser.id)
        #expect(kind { _ = try tree.container.resolve(after, .current, as: my) } == .nothingToDo)
        #expect(try tree.container.store.contents.label(of: loser.content).version.kind == .history)
    }

    @Test func choosingTheLoserMakesItsContentCurrent() throws {
        let tree = try BrowsedContainer()
        let (document, loser) = try conflict(tree)
        let outcome = try tree.container.resolve(document, .version(loser.id), as: my)
        #expect(try tree.live("a.txt") == "theirs")
        let after = try tree.container.document(at: path("a.txt"), as: my)
        #expect(after.conflicts.isEmpty && after.current?.id == outcome.current)
        #expect(after.current?.parents == [document.current?.id, loser.id].compactMap { $0 })
        #expect(try after.versions.map { try text($0, after, tree) }.sorted() == ["base", "mine", "theirs", "theirs"])
    }

    @Test func keepingAllPutsTheLosersBeside() throws {
        let tree = try BrowsedContainer()
        let (document, _) = try conflict(tree)
        try tree.save("a 2.txt", "taken")
        let outcome = try tree.container.resolve(document, .all, as: my)
        #expect(try outcome.written == [path("a 3.txt")])
        #expect(try tree.live("a 3.txt") == "theirs")
        #expect(try tree.live("a.txt") == "mine")
        #expect(try tree.container.document(at: path("a.txt"), as: my).conflicts.isEmpty)
    }

    @Test func theNewestWinsAndALoserThatWasNotSeenStays() throws {
        let tree = try BrowsedContainer()
        let (document, loser) = try conflict(tree)
        let later = try tree.addConflict("a.txt", "later")
        var seen = try tree.container.document(at: path("a.txt"), as: my)
        let outcome = try tree.container.resolve(seen, .merged, seen: [loser.id], as: my)
        #expect(outcome.remaining == 1)
        seen = try tree.container.document(at: path("a.txt"), as: my)
        #expect(seen.conflicts.map(\.id) == [later.id])
        #expect(try tree.container.resolveAll(within: .root, as: my).map(\.resolved) == [[later.id]])
        #expect(try tree.container.conflicted(within: .root, as: my).isEmpty)
        #expect(document.path == seen.path)
    }

    @Test func aSimulatedConflictCanBeResolvedLikeAnyOther() throws {
        let tree = try BrowsedContainer()
        try tree.save("a.txt", "mine\n")
        let document = try tree.container.document(at: path("a.txt"), as: my)
        let made = try tree.container.simulateConflict(document, as: my)
        let loser = try #require(made.conflicts.first)
        #expect(try text(loser, made, tree).hasPrefix("mine\n"))
        #expect(loser.author.program == "versionsctl" && loser.base != nil)
        _ = try tree.container.resolve(made, .version(loser.id), as: my)
        #expect(try tree.live("a.txt").hasPrefix("mine\nA line"))
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    // MARK: The graph

    /// The versions that go back to themselves.
    private func inCircles(_ document: DocumentRecord) -> [VersionID] {
        let nodes = document.versions.map { HistoryNode($0) }
        return nodes.map(\.id).filter { HeadRule.goesBack($0, to: $0, in: nodes) }
    }

    /// How a loser may have come to a document of one version: made for trying out, or as a child of what is current,
    /// as an earlier release made them, and as it becomes where the version between them goes.
    enum Origin: CaseIterable { case simulated, goingBack }

    @Test("A resolution is a head with all that it has seen below it, and makes no circle", arguments: Origin.allCases)
    func acyclic(_ origin: Origin) throws {
        for choice in [ResolutionChoice.current, .merged, .newest, .all, nil] {
            let tree = try BrowsedContainer()
            try tree.save("a.txt", "mine\n")
            var document = try tree.container.document(at: path("a.txt"), as: my)
            switch origin {
            case .simulated: document = try tree.container.simulateConflict(document, as: my)
            case .goingBack:
                var loser = try tree.addConflict("a.txt", "theirs", base: document.current?.id)
                loser.parents = document.current.map { [$0.id] } ?? []
                tree.container.store.commit([.version(loser)])
                document = try tree.container.document(at: path("a.txt"), as: my)
            }
            let loser = try #require(document.conflicts.first)
            _ = try tree.container.resolve(document, choice ?? .version(loser.id), as: my)
            document = try tree.container.document(at: path("a.txt"), as: my)
            #expect(inCircles(document) == [] && document.conflicts.isEmpty, "\(String(describing: choice))")
            let heads = HeadRule.heads(of: document.versions.map { HistoryNode($0) })
            #expect(heads.map(\.id) == [document.current?.id], "\(String(describing: choice))")
            #expect(Set(try document.versions.map { try text($0, document, tree) }).count == 2)

            // The next conflict has something that both sides began with, and can be resolved as well.
            document = try tree.container.simulateConflict(document, as: my)
            let next = try #require(document.conflicts.first)
            #expect(MergeBase.ofConflicts(in: document.versions)[next.id] != nil, "\(String(describing: choice))")
            _ = try tree.container.resolve(document, .current, as: my)
            #expect(try inCircles(tree.container.document(at: path("a.txt"), as: my)) == [])
            #expect(try tree.findings() == [])
        }
    }

    @Test("A loser made for trying out parts from what both began with, and the document stays as it is")
    func simulated() throws {
        let tree = try BrowsedContainer()
        try tree.save("a.txt", "mine\n")
        let before = try tree.container.document(at: path("a.txt"), as: my)
        let made = try tree.container.simulateConflict(before, as: my)
        #expect(made.current?.id == before.current?.id)
        let loser = try #require(made.conflicts.first)
        #expect(HeadRule.heads(of: made.versions.map { HistoryNode($0) }).count == 2)
        let base = try #require(MergeBase.ofConflicts(in: made.versions)[loser.id])
        #expect(loser.base == base && base != made.current?.id)
        let version = try #require(made.versions.first { $0.id == base })
        #expect(try text(version, made, tree) == "mine\n")
    }

    @Test("What somebody has found as a conflict a moment ago is resolved once")
    func onceOnly() throws {
        let tree = try BrowsedContainer()
        let (document, loser) = try conflict(tree)
        #expect(try tree.container.resolve(document, .all, as: my).written == [path("a 2.txt")])
        // These have looked before it was resolved.
        for choice in [ResolutionChoice.all, .current, .merged, .newest, .version(loser.id)] {
            #expect(kind { _ = try tree.container.resolve(document, choice, as: my) } == .nothingToDo)
        }
        #expect(try tree.find("a 3.txt") == nil)
        #expect(try tree.live("a.txt") == "mine")
    }

    @Test("Of those who resolve at the same time one does it")
    func atTheSameTime() throws {
        let tree = try BrowsedContainer()
        let (document, _) = try conflict(tree)
        let written = Mutex<[TreePath]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { [container = tree.container, my] _ in
            guard let outcome = try? container.resolve(document, .all, as: my) else { return }
            written.withLock { $0 += outcome.written }
        }
        #expect(try written.withLock { $0 } == [path("a 2.txt")])
        #expect(try tree.find("a 3.txt") == nil)
    }

    // MARK: Deleted documents

    @Test("What is deleted is not among the unresolved, until it is undeleted")
    func deleted() throws {
        let tree = try BrowsedContainer()
        _ = try conflict(tree)
        #expect(try tree.container.store.statistics().conflicts == 1)
        try tree.unlink("a.txt")
        #expect(try tree.container.store.statistics().conflicts == 0)
        #expect(try tree.container.conflicted(within: .root, as: my).isEmpty)
        let gone = try tree.container.document(at: path("a.txt"), as: my)
        #expect(gone.conflicts.count == 1)
        #expect(kind { _ = try tree.container.resolve(gone, .current, as: my) } == .invalid)
        _ = try tree.container.undelete(tree.container.deletion(at: path("a.txt"), as: my), to: nil, as: my)
        #expect(try tree.container.store.statistics().conflicts == 1)
        #expect(try tree.container.conflicted(within: .root, as: my).count == 1)
    }
}
