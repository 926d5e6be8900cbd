// Extended attributes: the file's own, and the ones through which the mount tells of versions (DESIGN 3.2).

import CLinux
import Glibc
import Synchronization
import SystemPackage

extension MetadataRequests {
    /// The daemon's attributes on the files below; the mount hides them.
    private static let hiddenPrefix = Array("user.versionsfs.".utf8)
    private static let accessList = Array("system.posix_acl_access".utf8)
    private static let trustedPrefix = Array("trusted.".utf8)
    private static let toldPrefix = Array("user.versions.".utf8)

    func extendedAttribute(_ id: UInt64, name: [UInt8]) throws(Errno) -> [UInt8] {
        let node = try tree.node(id)
        if name == SetIDRule.capability, !node.mayHaveCapability.load(ordering: .acquiring) { throw .noData }
        if name.starts(with: Self.hiddenPrefix) { throw .noData }
        if name.starts(with: Self.toldPrefix) {
            let key = String(decoding: name.dropFirst(Self.toldPrefix.count), as: UTF8.self)
            return try keeper().versionsAttribute(key, of: node)
        }
        return try withPath(node) { path throws(Errno) in
            try CText.lend(name) { attribute throws(Errno) in
                try Self.value { buffer, size in linux_getxattr(path, 1, attribute, buffer, size) }
            }
        }
    }

    /// The names of those that the caller may see, each with a NUL at its end.
    func extendedAttributes(_ caller: Caller, _ id: UInt64) throws(Errno) -> [UInt8] {
        let node = try tree.node(id)
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

    func setExtendedAttribute(
        _ caller: Caller, _ id: UInt64, name: [UInt8], value: UnsafeRawBufferPointer, flags: Int32
    ) throws(Errno) {
        let node = try changeable(id, name)
        if name == SetIDRule.capability { node.mayHaveCapability.store(true, ordering: .releasing) }
        let keeper = try keeper()
        callers.learn(caller)
        try tree.names.reading { () throws(Errno) in
            try keeper.preservingStamp(of: node) { () throws(Errno) in
                try tree.withOwn(node) { file throws(Errno) in
                    try CText.lend(name) { attribute throws(Errno) in
                        let path = Backing.reopening(file)
                        _ = try Backing.check {
                            linux_setxattr(path, 1, attribute, value.baseAddress, value.count, flags)
                        }
                    }
                    if name == Self.accessList { try SetIDRule.dropGroup(on: file, settingAccessListBy: caller) }
                }
            }
            // An access list changes the mode.
            keeper.metadataChanged(of: node, mayHaveMode: true, by: caller)
        }
        keeper.attributesChanged(of: node, by: caller)
    }

    func removeExtendedAttribute(_ caller: Caller, _ id: UInt64, name: [UInt8]) throws(Errno) {
        let node = try changeable(id, name)
        let keeper = try keeper()
        callers.learn(caller)
        try tree.names.reading { () throws(Errno) in
            try keeper.preservingStamp(of: node) { () throws(Errno) in
                try withPathLocked(node) { path throws(Errno) in
                    try CText.lend(name) { attribute throws(Errno) in
                        _ = try Backing.check { linux_removexattr(path, 1, attribute) }
                    }
                }
            }
            keeper.metadataChanged(of: node, mayHaveMode: false, by: caller)
        }
        keeper.attributesChanged(of: node, by: caller)
    }

    private func changeable(_ id: UInt64, _ name: [UInt8]) throws(Errno) -> Node {
        if name.starts(with: Self.hiddenPrefix) || name.starts(with: Self.toldPrefix) { throw .notPermitted }
        return try tree.node(id)
    }

    private func withPath<Result>(
        _ node: Node, _ body: (UnsafePointer<CChar>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try tree.names.reading { () throws(Errno) in try withPathLocked(node, body) }
    }

    private func withPathLocked<Result>(
        _ node: Node, _ body: (UnsafePointer<CChar>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try tree.withOwn(node) { file throws(Errno) in try CText.lend(Array(Backing.reopening(file).utf8), body) }
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
