// A kill of a container, and of what the rules remember.

import Foundation
import Glibc
import LineageShadow
import VersionModel

@testable import Container

extension Shadow {
    /// The container is killed between two requests, and mounted again.
    func killing(_ tree: BrowsedContainer, _ ear: Ear) throws -> BrowsedContainer {
        let crashed = tree.clock.now()
        look()
        try tree.kill()
        let next = try BrowsedContainer(after: tree, listener: ear)
        settle(try next.shown, crashed: crashed)
        return next
    }
}

extension BrowsedContainer {
    /// All names, of which each was looked at: what was missed while nothing was mounted is recorded then.
    fileprivate var shown: [Shadow.Shown] {
        get throws {
            var shown: [Shadow.Shown] = []
            let principal = Principal(user: getuid(), primaryGroup: getgid(), process: getpid())
            for name in try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
            where !name.hasPrefix(".versionsfs") && name != ".versions" {
                guard let place = try? place(name), let node = container.nodes[try node(name)] else { continue }
                let isDirectory = (try find(name)?.attributes.stat.st_mode ?? 0) & S_IFMT == S_IFDIR
                if !isDirectory, let path = TreePath(bytes: name.utf8) {
                    _ = try container.document(at: path, as: principal)
                }
                shown.append(Shadow.Shown(place, node.file, isDirectory: isDirectory))
            }
            return shown
        }
    }
}
