// Files of which the kernel does not tell whether they are mapped: the watch ends all the same, and keeps what was
// stored.

import CTestSupport
import Dispatch
import Foundation
import Glibc
import Support
import Synchronization
import Testing
import VersionModel

@testable import Container

@Suite(.timeLimit(.minutes(2))) struct UnansweredWatchTests {
    /// Whether the watch is over after each of some answers, which come at these times.
    private func over(
        _ answers: [(WritableMappings.Answer, at: Int64)], _ look: inout MappingWatch.Look, hasWriters: Bool = false
    ) -> [Bool] {
        answers.map { look.isOver($0.0, hasWriters: hasWriters, now: $0.at, patience: 10) }
    }

    @Test("without an answer and without a change the watch ends, with either it goes on")
    func patience() {
        var look = MappingWatch.Look(requester: nil)
        let quiet = over([(.unknown, 0), (.unknown, 9), (.unknown, 10)], &look)
        #expect(quiet == [false, false, true])
        // An answer, a writer or a change begins the time anew.
        look = MappingWatch.Look(requester: nil)
        let answered = over([(.unknown, 0), (.some, 10), (.unknown, 11), (.unknown, 20)], &look)
        let written = over([(.unknown, 21)], &look, hasWriters: true)
        let again = over([(.unknown, 22), (.unknown, 31)], &look)
        look.since = 31
        let changed = over([(.unknown, 32)], &look)
        look.since = nil
        let last = over([(.unknown, 33), (.unknown, 43)], &look)
        #expect(!(answered + written + again + changed).contains(true) && last == [false, true])
        let told = over([(.none, 44), (.some, 1000)], &look)
        let open = over([(.none, 1001)], &look, hasWriters: true)
        #expect(told == [true, false] && open == [false])
    }

    /// Begins the container's work on threads that may lease no files of others.
    private func startWithoutLeases(_ container: LiveContainer) {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // Version 3 of the header, for this thread; then what is effective, permitted and inherited, in two halves.
            var header: [UInt32] = [0x2008_0522, 0]
            var rights = [UInt32](repeating: 0, count: 6)
            header.withUnsafeMutableBytes { header in
                rights.withUnsafeMutableBytes { rights in
                    let (head, body) = (Int(bitPattern: header.baseAddress), Int(bitPattern: rights.baseAddress))
                    #expect(vfs_call3(VFS_CAPGET, head, body, 0) == 0)
                    rights.storeBytes(of: rights.load(as: UInt32.self) & ~(1 << 28), as: UInt32.self)
                    #expect(vfs_call3(VFS_CAPSET, head, body, 0) == 0)
                }
            }
            container.start()
            done.signal()
        }
        done.wait()
    }

    @Test(
        "a file of another owner is not watched for ever, and what was stored is a version",
        .enabled(if: getuid() == 0))
    func otherOwner() throws {
        let tree = try BrowsedContainer(unanswered: 1)
        try tree.save("f", "saved")
        let path = tree.path + "/f"
        #expect(chown(path, 12_345, 12_345) == 0)
        let node = try #require(tree.container.nodes[try tree.node("f")])
        startWithoutLeases(tree.container)
        node.openings.state.withLock { $0.maybeMapped = true }
        tree.container.mappedFiles.watchMapping(of: node, by: nil)
        let deadline = Deadline.after(seconds: 40)
        // The first look keeps the content as it was saved.
        let document = try #require(tree.container.knownDocument(of: node))
        while !document.state.withLock(\.isKept), !deadline.isOver { _ = Deadline.after(seconds: 0.01).poll([]) }
        let file = open(path, O_WRONLY | O_CLOEXEC)
        #expect(pwrite(file, "STORE", 5, 0) == 5)
        close(file)
        while tree.container.mappedFiles.isWatched(node), !deadline.isOver { _ = Deadline.after(seconds: 0.1).poll([]) }
        #expect(!tree.container.mappedFiles.isWatched(node))
        let maybeMapped = node.openings.state.withLock(\.maybeMapped)
        #expect(!maybeMapped)
        #expect(try tree.texts().sorted() == ["STORE", "saved"])
    }
}
