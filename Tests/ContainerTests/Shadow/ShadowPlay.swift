// Operations done with a container, with `Lineage` in its shadow: compared after each.

import CLinux
import Foundation
import Glibc
import LineageShadow
import Synchronization
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

/// What a play has come to.
enum ShadowOutcome {
    case same
    /// Both differ as rows of facts.md 8 have it. What follows would only follow from that.
    case listed(Set<ListedChange>)
    /// Several of them meet, and no rule tells which part is by which.
    case met(Set<ListedChange>, [Difference], after: ShadowStep)
    case different([Difference], after: ShadowStep)
    /// A content that a close has acknowledged is in no version of one side: never meant.
    case lost([String], after: ShadowStep)

    /// What fails.
    var texts: [String]? {
        switch self {
        case .same, .listed: nil
        case .met(_, let differences, let step), .different(let differences, let step):
            ["after \(step):"] + differences.map { "\($0)" }
        case .lost(let texts, let step): ["after \(step):"] + texts
        }
    }
}

final class ShadowPlay: OperationTesting {
    private(set) var tree: BrowsedContainer
    let shadow: Shadow
    let callers: [Caller]
    private let ear = Ear()
    private let isPassing: Bool
    /// What closes have acknowledged.
    private(set) var saved: Set<String> = []

    init(_ processes: [pid_t], isPassing: Bool) throws {
        self.isPassing = isPassing
        tree = try BrowsedContainer(listener: ear)
        let clock = tree.clock
        shadow = Shadow(ear, root: tree.path) { clock.now() }
        if isPassing { tree.container.connect(PassingKernel()) }
        callers = processes.map { Caller(user: getuid(), group: getgid(), thread: $0, umask: 0o022) }
    }

    func outcome(of steps: [ShadowStep]) throws -> ShadowOutcome {
        for step in steps {
            // What cannot be done is passed over, so that any steps can be left out.
            do { try perform(step) } catch is Errno {} catch is OperationError {}
            let lost = try lost
            if !lost.isEmpty { return .lost(lost, after: step) }
            let today = try tree.answer
            let differences = shadow.differences(from: today)
            guard !differences.isEmpty else { continue }
            if let listed = ListedChange.explaining(differences, between: today, and: shadow) { return .listed(listed) }
            let met = ListedChange.meeting(in: differences, between: today, and: shadow)
            return met.map { .met($0, differences, after: step) } ?? .different(differences, after: step)
        }
        return .same
    }

    func perform(_ step: ShadowStep) throws {
        let (person, name, text) = (step.person, step.name, step.text)
        switch step.verb {
        case .load: try load(person, name)
        case .save: try save(person, name, text)
        case .saveByRename:
            let temporary = Self.beside(name, ".goutputstream-AB\(1000 + step.number)")
            try save(person, temporary, text)
            try rename(person, temporary, name)
        case .saveByOrdinaryRename:
            try save(person, name + ".new", text)
            try rename(person, name + ".new", name)
        case .append: try change(person, name, O_WRONLY | O_APPEND, text)
        case .overwrite: try change(person, name, O_WRONLY, text)
        case .truncate: try truncate(person, name)
        case .unlinkAndCreate:
            try unlink(person, name)
            try save(person, name, text)
        case .renameAwayAndCreate, .renameAwayAndKeep:
            try rename(person, name, name + "~")
            try save(person, name, text)
            if step.verb == .renameAwayAndCreate { try unlink(person, name + "~") }
        case .copyBackupAndSave:
            try load(person, name)
            try save(person, name + "~", try tree.live(name))
            try save(person, name, text)
            try unlink(person, name + "~")
        case .closeAfterRename, .closeAfterLoad:
            let (node, handle) = try open(person, name, O_WRONLY | O_TRUNC)
            try put(person, node, handle, text, at: 0)
            if step.verb == .closeAfterLoad {
                try load(step.second, name)
            } else {
                let temporary = Self.beside(name, ".goutputstream-AB\(1000 + step.number)")
                try save(step.second, temporary, "\(step.second).\(step.number)'")
                try rename(step.second, temporary, name)
            }
            close(person, node, handle)
        case .changeMode, .touch:
            var edit = AttributeEdit()
            if step.verb == .changeMode { edit.mode = step.number % 2 == 0 ? 0o600 : 0o644 }
            if step.verb == .touch { edit.modified = timespec(tv_sec: 1_000_000_000 + step.number, tv_nsec: 0) }
            let node = try existing(person, name)
            _ = try following { try tree.container.setAttributes(callers[person], node: node, handle: nil, edit) }
        case .delete: try unlink(person, name)
        case .move: try rename(person, name, step.other)
        case .exchange: try rename(person, name, step.other, linux_RENAME_EXCHANGE)
        case .link: try link(person, name, step.other)
        case .undelete: try undelete(name)
        case .restore: try restore(name)
        case .kill:
            tree = try shadow.killing(tree, ear)
            if isPassing { tree.container.connect(PassingKernel()) }
        case .wait: tree.clock.advance(seconds: 20)
        case .makeDirectory: try makeDirectory(person, name)
        case .removeDirectory:
            try following { try tree.container.removeDirectory(callers[person], parent: Node.rootID, name: [100]) }
        }
    }

    // MARK: Calls

    private func following<Result>(_ request: () throws -> Result) throws -> Result { try shadow.following(request) }

    private static func beside(_ name: String, _ other: String) -> String {
        var names = name.split(separator: "/").map(String.init)
        names[names.count - 1] = other
        return names.joined(separator: "/")
    }

    private func spot(_ name: String) throws -> (parent: UInt64, name: [UInt8]) {
        let names = BrowsedContainer.bytes(name)
        guard names.count > 1 else { return (Node.rootID, names[0]) }
        guard let parent = try tree.find(Array(names.dropLast())) else { throw Errno.noSuchFileOrDirectory }
        return (parent.node, names[names.count - 1])
    }

    private func node(_ person: Int, _ name: String) throws -> UInt64? {
        let spot = try spot(name)
        return try tree.container.lookup(callers[person], parent: spot.parent, name: spot.name)?.node
    }

    private func existing(_ person: Int, _ name: String) throws -> UInt64 {
        guard let node = try node(person, name) else { throw Errno.noSuchFileOrDirectory }
        return node
    }

    private func load(_ person: Int, _ name: String) throws {
        let node = try existing(person, name)
        let reply = try following { try tree.container.open(callers[person], node: node, flags: O_RDONLY) }
        if let handle = reply?.handle { following { tree.container.release(node: node, handle: handle) } }
    }

    private func following(_ request: () -> Void) { shadow.following(request) }

    private func save(_ person: Int, _ name: String, _ text: String) throws {
        if try node(person, name) != nil { return try change(person, name, O_WRONLY | O_TRUNC, text) }
        let spot = try spot(name)
        let made = try following {
            try tree.container.create(
                callers[person], parent: spot.parent, name: spot.name, mode: 0o644,
                flags: O_WRONLY | O_CREAT | O_TRUNC)
        }
        try write(person, made.found.node, made.reply.handle, text, at: 0)
    }

    private func change(_ person: Int, _ name: String, _ flags: Int32, _ text: String) throws {
        let (node, handle) = try open(person, name, flags)
        let size = try tree.container.attributes(callers[person], node: node, handle: handle).stat.st_size
        try write(person, node, handle, text, at: flags & O_APPEND != 0 ? size : 0)
    }

    private func open(_ person: Int, _ name: String, _ flags: Int32) throws -> (node: UInt64, handle: UInt64) {
        let node = try existing(person, name)
        let reply = try following { try tree.container.open(callers[person], node: node, flags: flags) }
        return (node, try #require(reply).handle)
    }

    private func write(_ person: Int, _ node: UInt64, _ handle: UInt64, _ text: String, at offset: off_t) throws {
        try put(person, node, handle, text, at: offset)
        close(person, node, handle)
    }

    /// What a side has in no version, though a close has acknowledged it. Appends amend: what they extend begins so.
    private var lost: [String] {
        get throws {
            let texts = try tree.texts() + tree.deletedTexts()
            let contents = shadow.contents
            return saved.sorted().flatMap { content in
                [(texts, "the container"), (Array(contents), "Lineage")].compactMap { all, side in
                    all.contains { $0.hasPrefix(content) } ? nil : "in no version of \(side): \(content)"
                }
            }
        }
    }

    private func close(_ person: Int, _ node: UInt64, _ handle: UInt64) {
        if let file = tree.container.serving.files[handle]?.descriptor.raw {
            // The handle may be for writing alone.
            let text = try? String(contentsOfFile: "/proc/self/fd/\(file)", encoding: .utf8)
            if let text, !text.isEmpty { saved.insert(text) }
        }
        following { tree.container.flush(callers[person], handle: handle) }
        following { tree.container.release(node: node, handle: handle) }
    }

    private func put(_ person: Int, _ node: UInt64, _ handle: UInt64, _ text: String, at offset: off_t) throws {
        let opened = try #require(tree.container.serving.files[handle])
        if opened.state.withLock(\.isMediated) {
            _ = try following {
                try Array(text.utf8).withUnsafeBytes {
                    try tree.container.write(callers[person], node: node, handle: handle, $0, offset: offset)
                }
            }
        } else {
            #expect(pwrite(opened.descriptor.raw, text, text.utf8.count, offset) == text.utf8.count)
        }
    }

    private func truncate(_ person: Int, _ name: String) throws {
        let node = try existing(person, name)
        var edit = AttributeEdit()
        edit.size = try tree.container.attributes(callers[person], node: node, handle: nil).stat.st_size / 2
        _ = try following { try tree.container.setAttributes(callers[person], node: node, handle: nil, edit) }
    }

    private func unlink(_ person: Int, _ name: String) throws {
        let spot = try spot(name)
        try following { try tree.container.unlink(callers[person], parent: spot.parent, name: spot.name) }
    }

    private func rename(_ person: Int, _ from: String, _ to: String, _ flags: UInt32 = 0) throws {
        let (from, to) = (try spot(from), try spot(to))
        try following {
            try tree.container.rename(
                callers[person], parent: from.parent, name: from.name, newParent: to.parent, newName: to.name,
                flags: flags)
        }
    }

    private func link(_ person: Int, _ name: String, _ other: String) throws {
        let node = try existing(person, name)
        let spot = try spot(other)
        _ = try following {
            try tree.container.link(callers[person], node: node, parent: spot.parent, name: spot.name)
        }
    }

    private func makeDirectory(_ person: Int, _ name: String) throws {
        _ = try following {
            try tree.container.makeDirectory(
                callers[person], parent: Node.rootID, name: Array(name.utf8), mode: 0o755)
        }
    }

    /// What was deleted last at a name comes back.
    private func undelete(_ name: String) throws {
        guard try tree.find(name) == nil,
            let entry = try tree.container.store.deletions(within: nil)
                .filter({ "\($0.path)" == name && $0.type == .file })
                .max(by: { $0.deleted < $1.deleted })
        else { return }
        _ = try following { try tree.container.undelete(entry, as: my) }
    }

    /// The oldest version of a name becomes its newest. Not where the file has other names: today they are restored,
    /// too, while facts.md 2 has them part. That is not decided yet.
    private func restore(_ name: String) throws {
        guard try tree.find(name)?.attributes.stat.st_nlink == 1 else { return }
        guard let path = TreePath(bytes: name.utf8), try tree.find(name) != nil else { return }
        let document = try tree.container.document(at: path, as: my)
        guard let oldest = document.versions.min(by: { $0.time < $1.time }) else { return }
        _ = try following { try tree.container.restore(oldest, of: document, as: my) }
    }
}
