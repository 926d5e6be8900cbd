// What came back from the deleted area under another name when the daemon was killed, before that was recorded.

import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    private static var returnKey: String { "returning" }

    /// What is returning is there.
    static var returned: VersionStore.Mutation { .setting(key: returnKey, value: nil) }

    /// Records the new path of an entry that does not return to its former one, because recovery would not look for it
    /// there. One at a time.
    func noteReturn(_ names: borrowing NamesHeldAlone, of deletion: Deletion, to path: TreePath) {
        guard let item = deletion.item, deletion.type == .file else { return }
        let text = "\(item.hex) \(deletion.file.number) "
        store.commit([.setting(key: Self.returnKey, value: Array(text.utf8) + path.bytes)])
    }

    /// After a crash: the document whose file came back and whose rows did not gets the name that its file has.
    func finishReturn() {
        guard !options.isReadOnly, let note = try? store.setting(Self.returnKey) else { return }
        var rows = [Self.returned]
        defer { store.commit(rows) }
        let words = note.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, let id = ItemID(hex: String(decoding: words[0], as: UTF8.self)),
            let number = UInt64(String(decoding: words[1], as: UTF8.self)), let path = TreePath(bytes: Array(words[2])),
            let name = path.name, let parent = path.parent,
            var item = try? store.item(id), item.places.isEmpty,
            (try? store.deletions(of: id).isEmpty) == true
        else { return }
        let found = try? looking(as: .container) { walk -> (Node, FileStat) in
            guard let stat = try walk.spot(path).stat else { throw Errno.noSuchFileOrDirectory }
            return (try walk.directory(parent), stat)
        }
        guard let (directory, stat) = found, fileID(stat).number == number,
            (try? store.item(at: Place(directory: directory.file, name: name))) == .some(nil)
        else { return }
        item.places = [Place(directory: directory.file, name: name)]
        item.file = Item.LiveFile(id: fileID(stat), size: stat.size, modified: stat.modified)
        recordDirectories(directory)
        rows = [.item(item)] + rows
        rows.append(.change(Change(event: .undeleted, path: path, item: id, time: now, directory: directory.file)))
        logger.notice("what came back before a crash has its history again", metadata: ["file": "\(path)"])
    }
}
