import CLinux
import Foundation
import Glibc
import LineageShadow
import Support
import Synchronization
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

/// The steps done with a container, beside what POSIX says of the files.
final class InterleavedPlay {
    /// A file as POSIX has it.
    private final class Inode {
        var content: [UInt8] = []
        /// Appends amend a version, which begins with what it was.
        var isAppendedTo = false
    }

    private struct Handle {
        var inode: Inode
        var node: UInt64
        var id: UInt64
        var flags: Int32
        var offset = 0
        var hasChanged = false
        var isClosed = false
        /// What the close of a duplicate has saved, and what was written through this one next has not yet amended.
        var ofDuplicate: [UInt8]?
    }

    private(set) var tree: BrowsedContainer
    /// `Lineage` beside the container, where a test compares the two.
    let shadow: Shadow?
    private let ear = Ear()
    private let callers: [Caller]
    private var names: [String: Inode] = [:]
    private var handles: [[Handle]]
    /// What must be in a version, with the step that saved it, and all that files ever held.
    private var saved: [(inode: Inode, content: [UInt8], step: String)] = []
    private var held: Set<[UInt8]> = [[]]

    init(_ processes: [pid_t], isPassing: Bool, isShadowed: Bool = false) throws {
        let tree = try BrowsedContainer(listener: isShadowed ? ear : nil)
        self.tree = tree
        let clock = tree.clock
        shadow = isShadowed ? Shadow(ear, root: tree.path) { clock.now() } : nil
        if isPassing { tree.container.connect(PassingKernel()) }
        callers = processes.map { Caller(user: getuid(), group: getgid(), thread: $0, umask: 0o022) }
        handles = processes.map { _ in [] }
        for name in ["x", "y"] {
            try tree.save(name, "\(name) before;")
            let inode = Inode()
            inode.content = Array("\(name) before;".utf8)
            names[name] = inode
            note(inode)
            saved.append((inode, inode.content, "before"))
            try following {}
        }
    }

    /// - Parameter isKilled: instead of the last closes there is a kill, and another mount.
    func problems(after steps: [InterleavedStep], isKilled: Bool = false) throws -> [String] {
        for step in steps {
            do {
                try following { try perform(step) }
            } catch {
                return ["\(step): \(error)"]
            }
        }
        if isKilled { try kill() } else { try closeAll() }
        return try problems(steps, isKilled: isKilled)
    }

    private func closeAll() throws {
        for person in handles.indices {
            for index in handles[person].indices { try following { try close(person, index, "at the end") } }
        }
        for person in handles.indices {
            for handle in handles[person] {
                try following { tree.container.release(node: handle.node, handle: handle.id) }
            }
        }
    }

    private func kill() throws {
        guard let shadow else { return }
        tree = try shadow.killing(tree, ear)
    }

    private func problems(_ steps: [InterleavedStep], isKilled: Bool) throws -> [String] {
        var problems: [String] = []
        // After a kill a file holds what its last save was, if it was not whole.
        for name in isKilled ? [] : ["x", "y", "t"] {
            let text = try? tree.live(name)
            let expected = names[name].map { String(decoding: $0.content, as: UTF8.self) }
            if text != expected {
                problems.append("\(name) holds \(text ?? "nothing"), should \(expected ?? "nothing")")
            }
        }
        problems += try tree.findings()
        let texts = try tree.texts()
        let all = texts + tree.deletedTexts()
        for (inode, content, step) in saved where !content.isEmpty {
            let text = String(decoding: content, as: UTF8.self)
            if !all.contains(where: { $0 == text || inode.isAppendedTo && $0.hasPrefix(text) }) {
                problems.append("in no version: \(text), saved by \(step)")
            }
            if let contents = shadow?.contents,
                !contents.contains(where: { $0 == text || inode.isAppendedTo && $0.hasPrefix(text) })
            {
                problems.append("in no version of Lineage: \(text), saved by \(step)")
            }
        }
        // A version may say that its content is lost, if a kill came before any close: else it is missed above.
        let isLost = isKilled ? "(nothing)" : nil
        for text in texts where text != isLost && !held.contains(Array(text.utf8)) {
            problems.append("no file ever held \(text)")
        }
        let conflicts = try tree.container.store.allItems().flatMap { try tree.container.store.conflicts(of: $0.id) }
        if Set(steps.map(\.person)).count < 2, !conflicts.isEmpty {
            problems.append("a conflict of one program with itself")
        }
        if !problems.isEmpty { problems.append("versions: \(texts)\n\(try tree.summary().joined(separator: "\n"))") }
        return problems
    }

    private func following(_ step: () throws -> Void) throws {
        if let shadow { try shadow.following(step) } else { try step() }
    }

    private func note(_ inode: Inode) { held.insert(inode.content) }

    private func perform(_ step: InterleavedStep) throws {
        let (person, name) = (step.person, step.name)
        switch step.call {
        case .load:
            guard let node = try lookup(person, name) else { return }
            let reply = try tree.container.open(callers[person], node: node, flags: O_RDONLY)
            if let handle = reply?.handle { tree.container.release(node: node, handle: handle) }
        case .quiet, .synchronize:
            let open = handles[person].filter { !$0.isClosed }
            guard let handle = open.dropLast(step.handle).last else { return }
            if step.call == .synchronize {
                return try tree.container.synchronize(node: handle.node, handle: handle.id, dataOnly: false)
            }
            // The container's clock is not that of the files' times.
            tree.clock.advance(seconds: max(0, Int64(time(nil)) - tree.clock.now().nanoseconds / 1_000_000_000) + 10)
            _ = tree.container.sealIfQuiet(try #require(tree.container.serving.files[handle.id]))
        case .openTruncating: try open(person, name, O_WRONLY | O_TRUNC | O_CREAT, step)
        case .openToAppend: try open(person, name, O_WRONLY | O_APPEND, step)
        case .openInPlace: try open(person, name, O_WRONLY, step)
        case .openForBoth: try open(person, name, O_RDWR, step)
        case .createNew:
            if names[name] == nil { try open(person, name, O_WRONLY | O_CREAT | O_EXCL, step) }
        case .write, .writeAtStart:
            let open = handles[person].indices.filter { !handles[person][$0].isClosed }
            guard let index = open.dropLast(step.handle).last else { return }
            let text = "\(step.person).\(step.number);"
            try write(person, index, Array(text.utf8), at: step.call == .writeAtStart ? 0 : nil)
        case .close, .closeDuplicate:
            let open = handles[person].indices.filter { !handles[person][$0].isClosed }
            guard let index = open.dropLast(step.handle).last else { return }
            try close(person, index, "\(step)", ofDuplicate: step.call == .closeDuplicate)
        case .release:
            let closed = handles[person].indices.filter { handles[person][$0].isClosed }
            guard let index = closed.dropLast(step.handle).last else { return }
            let handle = handles[person].remove(at: index)
            tree.container.release(node: handle.node, handle: handle.id)
        case .rename: try rename(person, name, step.other, 0, step)
        case .exchange:
            if names[step.other] != nil { try rename(person, name, step.other, linux_RENAME_EXCHANGE, step) }
        case .unlink:
            guard names[name] != nil else { return }
            try tree.container.unlink(callers[person], parent: Node.rootID, name: Array(name.utf8))
            names[name] = nil
        case .truncate:
            guard let inode = names[name], let found = try lookup(person, name) else { return }
            var edit = AttributeEdit()
            edit.size = off_t(inode.content.count / 2)
            _ = try tree.container.setAttributes(callers[person], node: found, handle: nil, edit)
            inode.content = Array(inode.content.prefix(inode.content.count / 2))
            note(inode)
        }
    }

    private func lookup(_ person: Int, _ name: String) throws -> UInt64? {
        try tree.container.lookup(callers[person], parent: Node.rootID, name: Array(name.utf8))?.node
    }

    private func open(_ person: Int, _ name: String, _ flags: Int32, _ step: InterleavedStep) throws {
        if let inode = names[name] {
            let node = try #require(try lookup(person, name))
            let reply = try #require(try tree.container.open(callers[person], node: node, flags: flags & ~O_CREAT))
            handles[person].append(Handle(inode: inode, node: node, id: reply.handle, flags: flags))
            if flags & O_TRUNC != 0 {
                inode.content = []
            }
        } else if flags & O_CREAT != 0 {
            let made = try tree.container.create(
                callers[person], parent: Node.rootID, name: Array(name.utf8), mode: 0o644, flags: flags | O_CREAT)
            let inode = Inode()
            names[name] = inode
            handles[person].append(Handle(inode: inode, node: made.found.node, id: made.reply.handle, flags: flags))
        }
    }

    private func write(_ person: Int, _ index: Int, _ bytes: [UInt8], at offset: Int?) throws {
        var handle = handles[person][index]
        let opened = try #require(tree.container.serving.files[handle.id])
        let start = handle.flags & O_APPEND != 0 ? handle.inode.content.count : offset ?? handle.offset
        if let content = handle.ofDuplicate, content == handle.inode.content {
            // Nobody has written in between: it is one save, of which that was a state.
            saved.removeAll {
                $0.inode === handle.inode && $0.content == content && $0.step == Self.duplicate(person, handle.id)
            }
        }
        handle.ofDuplicate = nil
        if !opened.state.withLock(\.isMediated) {
            #expect(pwrite(opened.descriptor.raw, bytes, bytes.count, off_t(start)) == bytes.count)
        } else {
            _ = try bytes.withUnsafeBytes {
                try tree.container.write(
                    callers[person], node: handle.node, handle: handle.id, $0, offset: off_t(start))
            }
        }
        let inode = handle.inode
        if handle.flags & O_APPEND != 0 { inode.isAppendedTo = true }
        if inode.content.count < start { inode.content += Array(repeating: 0, count: start - inode.content.count) }
        inode.content.replaceSubrange(start..<min(start + bytes.count, inode.content.count), with: bytes)
        note(inode)
        handle.offset = start + bytes.count
        handle.hasChanged = true
        handles[person][index] = handle
    }

    private static func duplicate(_ person: Int, _ handle: UInt64) -> String { "\(person) closeDuplicate of \(handle)" }

    private func close(_ person: Int, _ index: Int, _ step: String, ofDuplicate: Bool = false) throws {
        guard !handles[person][index].isClosed else { return }
        handles[person][index].isClosed = !ofDuplicate
        let handle = handles[person][index]
        tree.container.flush(callers[person], handle: handle.id)
        // Who replaces a file has saved it with the close. Writers in place share it: the last of them saves.
        let isReplacing = handle.flags & (O_TRUNC | O_EXCL) != 0
        let others = handles.joined().filter { $0.inode === handle.inode && $0.id != handle.id }
        guard handle.hasChanged, isReplacing || others.isEmpty else { return }
        if ofDuplicate { handles[person][index].ofDuplicate = handle.inode.content }
        saved.append((handle.inode, handle.inode.content, ofDuplicate ? Self.duplicate(person, handle.id) : step))
    }

    private func rename(_ person: Int, _ from: String, _ to: String, _ flags: UInt32, _ step: InterleavedStep) throws {
        guard let inode = names[from] else { return }
        let target = names[to]
        try tree.container.rename(
            callers[person], parent: Node.rootID, name: Array(from.utf8), newParent: Node.rootID,
            newName: Array(to.utf8), flags: flags)
        // What somebody is in the middle of writing is amended by the rest.
        let isWhole = !handles.joined().contains {
            $0.inode === inode && !$0.isClosed && ($0.hasChanged || $0.flags & (O_TRUNC | O_EXCL) != 0)
        }
        if target != nil, isWhole { saved.append((inode, inode.content, "\(step)")) }
        names[from] = flags == 0 ? nil : target
        names[to] = inode
    }
}
