// A version's content as a new file in the staging directory, about to be renamed over a document.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Copies outside of any lock, and removes what was not moved away. Used by one thread.
final class StagedCopy {
    private let directory: SharedDescriptor
    private let name: FileName
    private let file: SharedDescriptor
    private var isHere = true

    init(of content: VersionContent, in store: ContainerState) throws(Errno) {
        guard let name = FileName(ContentID.random().hex) else { throw .ioError }
        self.name = name
        directory = SharedDescriptor(
            try Backing.open(
                path: "staging", in: store.directory.rawValue, flags: linux_O_PATH | O_DIRECTORY | O_NOFOLLOW))
        file = SharedDescriptor(
            try Backing.open(name.bytes, in: directory.raw, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600))
        try fill(from: content)
    }

    deinit { if isHere { try? Backing.unlink(name.bytes, in: directory.raw) } }

    /// The file is under another name now.
    func wasMoved() { isHere = false }

    private func fill(from content: VersionContent) throws(Errno) {
        if let whole = content.wholeFile, linux_clone_file(file.raw, whole.raw) == 0 { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: off_t = 0
        while true {
            let count = try content.read(into: buffer, offset: offset)
            guard count > 0 else { break }
            var written = 0
            while written < count {
                written += try Backing.check {
                    pwrite(
                        file.raw, buffer.baseAddress?.advanced(by: written), count - written, offset + off_t(written))
                }
            }
            offset += off_t(count)
        }
        // Less than the version had: nothing that may replace a document.
        guard UInt64(offset) == content.size else { throw .ioError }
    }

    /// Gives the copy the owner, attributes and mode of the document it is to replace, as a save in place would keep
    /// them.
    /// - Parameter document: its file, as an O_PATH descriptor.
    func takeAttributes(of document: SharedDescriptor, _ stat: FileStat) throws(Errno) {
        defer { withExtendedLifetime(document) {} }
        let path = Array(Backing.reopening(document.raw).utf8)
        // Without the right to give files away it stays the daemon's, who could then not have made the document either.
        _ = fchown(file.raw, stat.raw.user, stat.raw.group)
        let names = try Browser.value { buffer, size in
            CText.lend(path) { linux_listxattr($0, 1, buffer?.assumingMemoryBound(to: CChar.self), size) }
        }
        for name in names.split(separator: 0) {
            guard !name.starts(with: Array("user.versionsfs.".utf8)), !name.elementsEqual(SetIDRule.capability)
            else { continue }
            let value = try Browser.value { buffer, size in
                CText.lend(path) { path in CText.lend(Array(name)) { linux_getxattr(path, 1, $0, buffer, size) } }
            }
            _ = CText.lend(Array(name)) { linux_fsetxattr(file.raw, $0, value, value.count, 0) }
        }
        try Backing.check { fchmod(file.raw, mode_t(SetIDRule.afterChange(stat.permissions, byStranger: true))) }
    }

    /// The rename over the document. The staging directory is no part of the tree, so no other code knows its node.
    func move(to target: Node.Name, in parent: SharedDescriptor) throws(Errno) -> LiveContainer.Move {
        let stat = try Backing.stat(file.raw)
        let staging = Node(
            id: 0, file: FileID(0), type: UInt32(S_IFDIR), key: BackingKey(device: 0, inode: 0), standing: .own)
        let source = LiveContainer.Entry(parent: staging, name: name, directory: directory, stat: stat, node: nil)
        return LiveContainer.Move(
            source: source, newParent: target.parent, newName: target.name, newDirectory: parent, flags: 0)
    }
}
