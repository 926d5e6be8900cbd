// The kernel sends releases by as many threads as there are: two of them
// at once, or one in the middle of another close.

import CLinux
import Dispatch
import Foundation
import Glibc
import Support
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite struct ReleasesAtOnceTests {
    @Test(
        "a close saves what its program has written, though the release of the opening before is under way",
        arguments: [
        O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC,
    ])
    func closeWithinARelease(flags: Int32) throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "0000000")
        let node = try tree.node("x")
        for round in 1...Workplace.count(4000) {
            let text = String(format: "%07d", round)
            let before = try open(tree, node, flags)
            try tree.write(text, node, before, at: 0)
            tree.container.flush(tree.caller, handle: before)
            let after = try open(tree, node, O_WRONLY)
            try tree.write("\(round % 10)", node, after, at: 0)
            DispatchQueue.concurrentPerform(iterations: 2) { [container = tree.container, caller = tree.caller] side in
                if side == 0 {
                    container.release(node: node, handle: before)
                } else {
                    container.flush(caller, handle: after)
                }
            }
            // What the close has not saved would be no version after a kill.
            let isSaved = try isSaved(tree, node)
            tree.container.release(node: node, handle: after)
            try #require(isSaved, "round \(round): closed, and no version")
        }
    }

    @Test("of two releases at once one saves what was written", arguments: [O_WRONLY, O_RDWR])
    func releasedAtOnce(flags: Int32) throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "0000000")
        let node = try tree.node("x")
        for round in 1...Workplace.count(4000) {
            let handles = try (0..<2).map { _ in try open(tree, node, flags) }
            let text = String(format: "%07d", round)
            try tree.write(text, node, handles[round % 2], at: 0)
            DispatchQueue.concurrentPerform(iterations: 2) { [container = tree.container] side in
                container.release(node: node, handle: handles[side])
            }
            try #require(try isSaved(tree, node), "round \(round): released, and no version")
        }
        #expect(try tree.findings() == [])
    }

    /// What a program does to a file without its content.
    enum MetadataChange: CaseIterable { case times, mode, attribute }

    @Test("a change of metadata beside a release is no change of the content", arguments: MetadataChange.allCases)
    func metadataBesideARelease(change: MetadataChange) throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "0000000")
        let node = try tree.node("x")
        let isOver = Atomic(false)
        let first = DispatchSemaphore(value: 0)
        let changes = DispatchGroup()
        changes.enter()
        Thread.detachNewThread { [container = tree.container, caller = tree.caller] in
            var number = 0
            while !isOver.load(ordering: .relaxed) {
                number += 1
                let isDone = (try? change.perform(number, container, caller, node)) != nil
                if isDone { first.signal() }
            }
            changes.leave()
        }
        defer {
            isOver.store(true, ordering: .relaxed)
            changes.wait()
        }
        try #require(first.wait(timeout: .now() + 60) == .success, "no change was made")
        for round in 1...Workplace.count(4000) {
            let handle = try open(tree, node, O_WRONLY)
            try tree.write(String(format: "%07d", round), node, handle, at: 0)
            tree.container.flush(tree.caller, handle: handle)
            let saved = try generation(tree, node)
            tree.container.release(node: node, handle: handle)
            try #require(try generation(tree, node) == saved, "round \(round)")
        }
    }

    private func generation(_ tree: BrowsedContainer, _ node: UInt64) throws -> [UInt8] {
        try tree.container.extendedAttribute(tree.caller, node: node, name: Array("user.versions.generation".utf8))
    }

    private func open(_ tree: BrowsedContainer, _ node: UInt64, _ flags: Int32) throws -> UInt64 {
        try #require(try tree.container.open(tree.caller, node: node, flags: flags)).handle
    }

    /// Whether the file holds its current version.
    private func isSaved(_ tree: BrowsedContainer, _ id: UInt64) throws -> Bool {
        let node = try tree.container.node(id)
        let stat = try tree.container.stat(node)
        let document = try #require(tree.container.knownDocument(of: node))
        return document.state.withLock { !$0.differs(from: stat) }
    }
}

extension ReleasesAtOnceTests.MetadataChange {
    func perform(_ round: Int, _ container: LiveContainer, _ caller: Caller, _ node: UInt64) throws {
        var edit = AttributeEdit()
        switch self {
        case .times: edit.modified = timespec(tv_sec: 1_000_000_000 + round, tv_nsec: 0)
        case .mode: edit.mode = round % 2 == 0 ? 0o600 : 0o644
        case .attribute:
            let value = Array("\(round)".utf8)
            return try value.withUnsafeBytes { bytes in
                try container.setExtendedAttribute(
                    caller, node: node, name: Array("user.round".utf8), value: bytes, flags: 0)
            }
        }
        _ = try container.setAttributes(caller, node: node, handle: nil, edit)
    }
}
