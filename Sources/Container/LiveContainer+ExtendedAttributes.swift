// Extended attributes: the file's own, and the ones through which the mount tells of versions (DESIGN 3.2).

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// The daemon's attributes on the files below; the mount hides them.
    private static let hiddenPrefix = Array("user.versionsfs.".utf8)
    public static let capability = SetIDRule.capability
    private static let accessList = Array("system.posix_acl_access".utf8)
    private static let trustedPrefix = Array("trusted.".utf8)
    private static let toldPrefix = Array("user.versions.".utf8)

    public func extendedAttribute(_ caller: Caller, node id: UInt64, name: [UInt8]) throws(Errno) -> [UInt8] {
        let node = try node(id)
        if name == Self.capability, !node.mayHaveCapability.load(ordering: .acquiring) { throw .noData }
        if name.starts(with: Self.hiddenPrefix) { throw .noData }
        if name.starts(with: Self.toldPrefix) {
            return try told(String(decoding: name.dropFirst(Self.toldPrefix.count), as: UTF8.self), of: node)
        }
        return try withPath(node) { path throws(Errno) in
            try CText.lend(name) { attribute throws(Errno) in
                try Self.value { buffer, size in linux_getxattr(path, 1, attribute, buffer, size) }
            }
        }
    }

    public func extendedAttributes(_ caller: Caller, node id: UInt64) throws(Errno) -> [UInt8] {
        let node = try node(id)
        let all = try withPath(node) { path throws(Errno) in
            try Self.value { buffer, size in
                linux_listxattr(path, 1, buffer?.assumingMemoryBound(to: CChar.self), size)
            }
        }
        var shown: [UInt8] = []
        for name in all.split(separator: 0) where !name.starts(with: Self.hiddenPrefix) {
            // A caller without the right to read trusted attributes does not see them either.
            if caller.user == 0 || !name.starts(with: Self.trustedPrefix) { shown += name + [0] }
        }
        return shown
    }

    public func setExtendedAttribute(
        _ caller: Caller, node id: UInt64, name: [UInt8], value: UnsafeRawBufferPointer, flags: Int32
    ) throws(Errno) {
        let node = try changeable(id, name)
        if name == Self.capability { node.mayHaveCapability.store(true, ordering: .releasing) }
        learn(caller)
        try names.reading { () throws(Errno) in
            try preservingStamp(of: node.isRegular ? knownDocument(of: node) : nil, node) { () throws(Errno) in
                try withOwn(node) { file throws(Errno) in
                    try CText.lend(name) { attribute throws(Errno) in
                        let path = Backing.reopening(file)
                        _ = try Backing.check {
                            linux_setxattr(path, 1, attribute, value.baseAddress, value.count, flags)
                        }
                    }
                    if name == Self.accessList { try dropSetGroupID(file, settingAccessListBy: caller) }
                }
            }
            // An access list changes the mode.
            let document = node.isRegular ? knownDocument(of: node) : nil
            if let document { noteAttributes(document, node) }
            attributesChanged(node, document, caller)
            noteIgnoreFile(rightsOf: node)
        }
    }

    public func removeExtendedAttribute(_ caller: Caller, node id: UInt64, name: [UInt8]) throws(Errno) {
        let node = try changeable(id, name)
        learn(caller)
        try names.reading { () throws(Errno) in
            try preservingStamp(of: node.isRegular ? knownDocument(of: node) : nil, node) { () throws(Errno) in
                try withPathLocked(node) { path throws(Errno) in
                    try CText.lend(name) { attribute throws(Errno) in
                        _ = try Backing.check { linux_removexattr(path, 1, attribute) }
                    }
                }
            }
            attributesChanged(node, node.isRegular ? knownDocument(of: node) : nil, caller)
            noteIgnoreFile(rightsOf: node)
        }
    }

    private func changeable(_ id: UInt64, _ name: [UInt8]) throws(Errno) -> Node {
        if name.starts(with: Self.hiddenPrefix) || name.starts(with: Self.toldPrefix) { throw .notPermitted }
        return try node(id)
    }

    /// One of `user.versions.*`.
    private func told(_ key: String, of node: Node) throws(Errno) -> [UInt8] {
        switch key {
        case "container": return Array(store.identity.container.hex.utf8)
        case "socket":
            guard let path = socketPath else { throw .noData }
            return Array(path.utf8)
        case "state": return Array("current".utf8)
        case "item", "version", "generation", "conflicts":
            guard node.isRegular, !node.isForeign else { return try toldOfOther(key, node) }
            let document = try document(of: node, try stat(node))
            if key == "generation" { return try generation(of: document, node) }
            let (item, version) = document.state.withLock { ($0.item, $0.current?.id) }
            if key == "item" { return Array(item.hex.utf8) }
            if key == "version" {
                guard let version else { throw .noData }
                return Array(version.hex.utf8)
            }
            let versions = try store(throwing: .ioError) { () throws(StoreError) in try store.versions(of: item) }
            return Array(String(versions.count { $0.kind == .conflict }).utf8)
        default: throw .noData
        }
    }

    /// The generation of the file at this moment, also while it is being written.
    private func generation(of document: Document, _ node: Node) throws(Errno) -> [UInt8] {
        let generation = try names.reading { () throws(Errno) in
            // Looked at under the lock: a save that ends meanwhile has its stamp.
            try document.state.withLock { state throws(Errno) in state.generation(of: try statLocked(node)) }
        }
        return Array(generation.text.utf8)
    }

    /// The same of what has no versions of its own: a directory is what stands in it now, a file of another file system
    /// what its size and time say. A directory's conflicts are those of the documents in it.
    func toldOfOther(_ key: String, _ node: Node) throws(Errno) -> [UInt8] {
        let item = DerivedIdentity.item(node.file, in: store.identity.container)
        switch key {
        case "item": return Array(item.hex.utf8)
        case "version":
            let stat = try stat(node)
            return Array(VersionID(derivedFrom: item, size: stat.size, modified: stat.modified).hex.utf8)
        case "generation": return Array(ContentGeneration(item: item, file: try stat(node)).text.utf8)
        default:
            guard node.isDirectory, !node.isForeign else { return Array("0".utf8) }
            let count = try store(throwing: .ioError) { () throws(StoreError) in
                var count = 0
                for item in try store.itemsWithOtherVersions(in: node.file) {
                    count += try store.conflicts(of: item.id).count
                }
                return count
            }
            return Array(String(count).utf8)
        }
    }

    private func withPath<Result>(
        _ node: Node, _ body: (UnsafePointer<CChar>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try names.reading { () throws(Errno) in try withPathLocked(node, body) }
    }

    private func withPathLocked<Result>(
        _ node: Node, _ body: (UnsafePointer<CChar>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try withOwn(node) { file throws(Errno) in try CText.lend(Array(Backing.reopening(file).utf8), body) }
    }

    /// Calls once for the size and once for the value, again if it grew in between.
    private static func value(_ call: (UnsafeMutableRawPointer?, Int) -> Int) throws(Errno) -> [UInt8] {
        while true {
            let size = try Backing.check { call(nil, 0) }
            guard size > 0 else { return [] }
            var buffer = [UInt8](repeating: 0, count: size)
            do {
                let count = try Backing.check { buffer.withUnsafeMutableBytes { call($0.baseAddress, size) } }
                return Array(buffer.prefix(count))
            } catch .outOfRange {
                continue
            }
        }
    }
}
