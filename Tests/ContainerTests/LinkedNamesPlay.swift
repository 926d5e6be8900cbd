// Operations with files of several names, and what must hold whatever their order.

import CLinux
import Foundation
import Glibc
import Support
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

/// One operation of one program. What cannot be done is passed over.
struct LinkedStep: WordedStep {
    enum Verb: String, CaseIterable {
        case save, saveByRename, append, overwrite, truncate, load, link, move, exchange, delete, undelete, restore
        case wait, remount
    }

    var verb: Verb
    var person: Int
    var name: String
    var other: String
    /// Tells texts apart.
    var number: Int

    var description: String {
        switch verb {
        case .move, .exchange, .link: "\(person) \(verb) \(name) \(other)"
        default: "\(person) \(verb) \(name)"
        }
    }

    /// Of another length than those of the steps around it.
    var text: String { "\(person).\(number);" + String(repeating: "-", count: (number * 7 + 3) % 5) }

    init(verb: Verb, person: Int, name: String, other: String, number: Int) {
        (self.verb, self.person, self.name, self.other, self.number) = (verb, person, name, other, number)
    }

    init(_ verb: Verb, by person: Int, _ words: [String], number: Int) {
        self.init(verb: verb, person: person, name: words.first ?? "", other: words.last ?? "", number: number)
    }

    private static let names = ["x", "y", "t"]
    private static let shares: [Verb: Int] = [
        .save: 10, .saveByRename: 3, .append: 3, .overwrite: 3, .truncate: 2, .load: 4, .link: 8, .move: 8,
        .exchange: 2, .delete: 5, .undelete: 3, .restore: 2, .wait: 2, .remount: 2,
    ]

    /// Each time with some of the verbs only: what fails is nearer together.
    static func draw(using dice: inout SeededGenerator) -> [LinkedStep] {
        let always: [Verb] = [.save, .link, .move]
        let verbs = Verb.allCases.filter { always.contains($0) || Bool.random(using: &dice) }
            .flatMap { Array(repeating: $0, count: shares[$0] ?? 0) }
        let people = Int.random(in: 1...4, using: &dice)
        let beginning = Bool.random(using: &dice) ? Self.steps("0 save t; 0 save y; 0 link t x; 1 move x y") : []
        let count = beginning.count
        return beginning + (count..<count + Int.random(in: 3...10, using: &dice)).compactMap { number in
            guard let verb = verbs.randomElement(using: &dice), let name = names.randomElement(using: &dice),
                let other = names.filter({ $0 != name }).randomElement(using: &dice)
            else { return nil }
            return LinkedStep(
                verb: verb, person: Int.random(in: 0..<people, using: &dice), name: name, other: other, number: number)
        }
    }
}

/// Each save is in a version, and each version is a content that a save, a rename or a truncation has left.
final class LinkedNamesPlay: OperationTesting {
    private final class Inode {
        var content: [UInt8] = []
        var isAppendedTo = false
    }

    private var tree: BrowsedContainer
    private let isPassing: Bool
    private let callers: [Caller]
    private var names: [String: Inode] = [:]
    /// The container of before each remounting, which removes the directory in the end.
    private var former: [BrowsedContainer] = []
    private var saved: [(inode: Inode, content: [UInt8], step: String)] = []

    init(_ processes: [pid_t], isPassing: Bool) throws {
        tree = try BrowsedContainer()
        self.isPassing = isPassing
        if isPassing { tree.container.connect(PassingKernel()) }
        callers = processes.map { Caller(user: getuid(), group: getgid(), thread: $0, umask: 0o022) }
    }

    func problems(after steps: [LinkedStep]) throws -> [String] {
        for step in steps {
            do { try perform(step) } catch { return ["\(step): \(error)"] }
        }
        var problems: [String] = []
        for name in ["x", "y", "t"] {
            let (text, expected) = (try? tree.live(name), names[name].map { string($0.content) })
            if text != expected {
                problems.append("\(name) holds \(text ?? "nothing"), should \(expected ?? "nothing")")
            }
        }
        problems += try tree.findings()
        let texts = try tree.texts()
        let deleted = "\(tree.path)/.versionsfs/deleted"
        let entries = FileManager.default.enumerator(atPath: deleted)?.compactMap { $0 as? String } ?? []
        let all = texts + entries.map { (try? String(contentsOfFile: "\(deleted)/\($0)", encoding: .utf8)) ?? "" }
        for (inode, content, step) in saved where !content.isEmpty {
            let text = string(content)
            if !all.contains(where: { $0 == text || inode.isAppendedTo && $0.hasPrefix(text) }) {
                problems.append("in no version: \(text), saved by \(step)")
            }
        }
        let left = Set(saved.map { string($0.content) })
        for text in texts where !left.contains(text) { problems.append("no save has left \(text)") }
        problems += try histories()
        if !problems.isEmpty { problems.append("versions: \(texts)\n\(try tree.summary().joined(separator: "\n"))") }
        return problems
    }

    /// A name's newest version is what its file holds.
    private func histories() throws -> [String] {
        try names.sorted { $0.key < $1.key }.compactMap { name, inode in
            // A name that was not looked at since the container was mounted catches up.
            _ = try tree.container.document(at: try path(name), as: my)
            guard let item = try tree.container.store.item(at: try tree.place(name)) else {
                return "\(name) has no history"
            }
            let versions = try tree.container.store.versions(of: item.id)
            guard let newest = versions.first(where: { $0.id == item.current }) else {
                return "\(name) has no current version"
            }
            let text = try text(newest)
            return text == string(inode.content) ? nil : "\(name)'s current version is \(text)"
        }
    }

    private func text(_ version: Version) throws -> String {
        guard let file = try StoreCheck(store: tree.container.store, repairs: false).open(version) else {
            return "(nothing)"
        }
        defer { try? file.close() }
        var buffer = [UInt8](repeating: 0, count: Int(clamping: version.size))
        let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    private func string(_ content: [UInt8]) -> String { String(decoding: content, as: UTF8.self) }

    private func note(_ inode: Inode, _ step: LinkedStep) { saved.append((inode, inode.content, "\(step)")) }

    // MARK: Steps

    private func perform(_ step: LinkedStep) throws {
        let name = step.name
        switch step.verb {
        case .save: try save(name, step)
        case .saveByRename:
            let temporary = ".goutputstream-AB\(1000 + step.number)"
            try create(temporary, step)
            try rename(step.person, temporary, name, 0)
            names[name] = names.removeValue(forKey: temporary)
        case .append: try change(name, O_WRONLY | O_APPEND, step)
        case .overwrite: try change(name, O_WRONLY, step)
        case .truncate: try truncate(name, step)
        case .load:
            guard names[name] != nil, let node = try node(step.person, name) else { return }
            let reply = try tree.container.open(callers[step.person], node: node, flags: O_RDONLY)
            if let handle = reply?.handle { tree.container.release(node: node, handle: handle) }
        case .link:
            guard let inode = names[name], names[step.other] == nil, let node = try node(step.person, name) else {
                return
            }
            _ = try tree.container.link(
                callers[step.person], node: node, parent: Node.rootID, name: Array(step.other.utf8))
            names[step.other] = inode
        case .move:
            guard let inode = names[name] else { return }
            try rename(step.person, name, step.other, 0)
            // Two names of one file: nothing happens.
            if names[step.other] !== inode { (names[step.other], names[name]) = (inode, nil) }
        case .exchange:
            guard names[name] != nil, names[step.other] != nil else { return }
            try rename(step.person, name, step.other, linux_RENAME_EXCHANGE)
            (names[name], names[step.other]) = (names[step.other], names[name])
        case .delete:
            guard names.removeValue(forKey: name) != nil else { return }
            try tree.container.unlink(callers[step.person], parent: Node.rootID, name: Array(name.utf8))
        case .undelete: try undelete(name)
        case .restore: try restore(name, step)
        case .remount: try remount()
        case .wait: tree.clock.advance(seconds: 20)
        }
    }

    private func node(_ person: Int, _ name: String) throws -> UInt64? {
        try tree.container.lookup(callers[person], parent: Node.rootID, name: Array(name.utf8))?.node
    }

    private func save(_ name: String, _ step: LinkedStep) throws {
        if names[name] != nil { return try change(name, O_WRONLY | O_TRUNC, step) }
        try create(name, step)
    }

    private func create(_ name: String, _ step: LinkedStep) throws {
        let made = try tree.container.create(
            callers[step.person], parent: Node.rootID, name: Array(name.utf8), mode: 0o644, flags: O_WRONLY | O_CREAT)
        let inode = Inode()
        names[name] = inode
        try write(made.found.node, made.reply.handle, inode, at: 0, step)
    }

    private func change(_ name: String, _ flags: Int32, _ step: LinkedStep) throws {
        guard let inode = names[name], let node = try node(step.person, name) else { return }
        let reply = try #require(try tree.container.open(callers[step.person], node: node, flags: flags))
        if flags & O_TRUNC != 0 { inode.content = [] }
        if flags & O_APPEND != 0 { inode.isAppendedTo = true }
        try write(node, reply.handle, inode, at: flags & O_APPEND != 0 ? inode.content.count : 0, step)
    }

    /// One write, and the close.
    private func write(_ node: UInt64, _ handle: UInt64, _ inode: Inode, at offset: Int, _ step: LinkedStep) throws {
        let bytes = Array(step.text.utf8)
        let opened = try #require(tree.container.serving.files[handle])
        if opened.state.withLock(\.isMediated) {
            _ = try bytes.withUnsafeBytes {
                try tree.container.write(
                    callers[step.person], node: node, handle: handle, $0, offset: off_t(offset))
            }
        } else {
            #expect(pwrite(opened.descriptor.raw, bytes, bytes.count, off_t(offset)) == bytes.count)
        }
        let end = min(offset + bytes.count, inode.content.count)
        inode.content.replaceSubrange(offset..<end, with: bytes)
        tree.container.flush(callers[step.person], handle: handle)
        tree.container.release(node: node, handle: handle)
        note(inode, step)
    }

    private func number(of name: String) -> ino_t {
        var status = stat()
        return lstat("\(tree.path)/\(name)", &status) == 0 ? status.st_ino : 0
    }

    /// What was deleted last at a name comes back.
    private func undelete(_ name: String) throws {
        let entries = try tree.container.store.deletions(within: nil).filter { "\($0.path)" == name }
        guard names[name] == nil, let entry = entries.max(by: { $0.deleted < $1.deleted }) else { return }
        guard (try? tree.container.undelete(entry, as: my)) != nil else { return }
        // It may be a name of a file that has others.
        if let other = names.first(where: { number(of: $0.key) == number(of: name) }) {
            names[name] = other.value
        } else {
            let back = Inode()
            back.content = Array(try tree.live(name).utf8)
            names[name] = back
        }
    }

    /// The oldest version of a name becomes its newest: in place if its file has other names of it.
    private func restore(_ name: String, _ step: LinkedStep) throws {
        guard let inode = names[name] else { return }
        let document = try tree.container.document(at: try path(name), as: my)
        guard let oldest = document.versions.min(by: { $0.time < $1.time }) else { return }
        let content = Array(try text(oldest).utf8)
        let file = number(of: name)
        _ = try tree.container.restore(oldest, of: document, as: my)
        if number(of: name) == file {
            inode.content = content
        } else {
            let new = Inode()
            new.content = content
            names[name] = new
        }
    }

    private func remount() throws {
        let elapsed = Int64(former.count + 1) * 1_000
        tree.close()
        former.append(tree)
        tree = try BrowsedContainer(at: tree.path, later: elapsed)
        if isPassing { tree.container.connect(PassingKernel()) }
    }

    private func truncate(_ name: String, _ step: LinkedStep) throws {
        guard let inode = names[name], let node = try node(step.person, name) else { return }
        inode.content = Array(inode.content.prefix(inode.content.count / 2))
        var edit = AttributeEdit()
        edit.size = off_t(inode.content.count)
        _ = try tree.container.setAttributes(callers[step.person], node: node, handle: nil, edit)
        note(inode, step)
    }

    private func rename(_ person: Int, _ from: String, _ to: String, _ flags: UInt32) throws {
        // As the kernel does.
        for name in [from, to] { _ = try node(person, name) }
        try tree.container.rename(
            callers[person], parent: Node.rootID, name: Array(from.utf8), newParent: Node.rootID,
            newName: Array(to.utf8), flags: flags)
    }
}
