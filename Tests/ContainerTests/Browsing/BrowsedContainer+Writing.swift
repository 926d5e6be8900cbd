// Writing to a container of a test as the kernel does, and what came of it.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

/// An open handle of the test.
struct Writer {
    let tree: BrowsedContainer
    let node: UInt64
    let handle: UInt64

    init(_ tree: BrowsedContainer, _ path: String, _ flags: Int32 = O_RDWR) throws {
        self.tree = tree
        node = try tree.node(path)
        handle = try #require(try tree.container.open(tree.caller, node: node, flags: flags)).handle
    }

    func write(_ text: String, at offset: off_t) throws {
        try tree.write(text, node, handle, at: offset)
    }

    /// Writes past the container, as the kernel does through a handle that it passes through.
    func poke(_ text: String, at offset: off_t) throws {
        let file = try #require(tree.container.serving.files[handle])
        #expect(pwrite(file.descriptor.raw, text, text.utf8.count, offset) == text.utf8.count)
    }

    func close() {
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node, handle: handle)
    }
}

extension BrowsedContainer {
    func write(_ text: String, _ node: UInt64, _ handle: UInt64, at offset: off_t) throws {
        let written = try Array(text.utf8).withUnsafeBytes {
            try container.write(caller, node: node, handle: handle, $0, offset: offset)
        }
        #expect(written == text.utf8.count)
    }

    /// Writes to the file beneath, as a mapping does.
    func poke(_ text: String, _ path: String, at offset: Int) throws {
        let file = try FileDescriptor.open("\(self.path)/\(path)", .writeOnly)
        defer { try? file.close() }
        try file.writeAll(toAbsoluteOffset: Int64(offset), Array(text.utf8))
    }

    /// The texts of all versions of everything.
    func texts() throws -> [String] {
        let store = container.store
        store.flush()
        return try store.allItems().flatMap { try store.versions(of: $0.id) }.map { version in
            guard let file = try StoreCheck(store: store, repairs: false).open(version) else { return "(nothing)" }
            defer { try? file.close() }
            var buffer = [UInt8](repeating: 0, count: Int(clamping: version.size))
            let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
            return String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }

    /// All versions, for whoever looks for what went wrong.
    func summary() throws -> [String] {
        try container.store.allItems().flatMap { item in
            ["\(item.id.short) at \(item.places.map(\.name))"]
                + (try container.store.versions(of: item.id)).map {
                    "    \($0.id) \($0.kind) \($0.content.short) \($0.size) \($0.flags.rawValue)"
                }
        }
    }

    /// What the files of the deleted area hold.
    func deletedTexts() -> [String] {
        let deleted = "\(path)/.versionsfs/deleted"
        let entries = FileManager.default.enumerator(atPath: deleted)?.compactMap { $0 as? String } ?? []
        return entries.map { (try? String(contentsOfFile: "\(deleted)/\($0)", encoding: .utf8)) ?? "" }
    }

    func findings() throws -> [String] {
        // What is younger than five seconds is not looked at.
        clock.advance(seconds: 10)
        return try container.store.check(repair: false).map { "\($0.kind): \($0.text) (\($0.subject))" }
    }
}
