// Attributes of what a copy of a directory of then has, and how a copy ends before its time.

import CLinux
import Glibc
import SystemPackage
import VersionModel

extension CallersTree {
    /// The owner of a copy, where the caller may give it. Symlinks and special files get their times, too.
    func settleCopy(_ target: TreePath, like stat: FileStat, _ principal: Principal) throws {
        try finder.looking(as: .container) { walk in
            let spot = try walk.spot(target)
            try spot.with { file throws(Errno) in
                if principal.isRoot {
                    try Backing.chown([], in: file, user: stat.raw.user, group: stat.raw.group)
                }
                guard !stat.isRegular, !stat.isDirectory else { return }
                try Backing.setTimes(
                    [], in: file, accessed: stat.accessed.timespec, modified: stat.modified.timespec)
            }
        }
    }

    /// The mode and the times of a copied directory. Making entries in it changes the times.
    func finishDirectory(_ path: TreePath, like stat: FileStat, _ times: DirectoryTimes.Times?) throws {
        try finder.looking(as: .container) { walk in
            let spot = try walk.spot(path)
            guard spot.stat?.isDirectory == true else { throw OperationError.missing(path) }
            try spot.with { file throws(Errno) in
                try Backing.chmod([], in: file, mode: mode_t(stat.permissions))
                guard let times else { return }
                try Backing.setTimes(
                    [], in: file, accessed: times.accessed.timespec, modified: times.modified.timespec)
            }
        }
    }
}

extension OperationError {
    /// What ended a copy, with what there is of it.
    static func unfinishedCopy(
        _ error: any Error, _ count: Int, of all: Int, _ target: TreePath
    ) -> OperationError {
        var error = OperationError.wrap(error)
        guard count > 0 else { return error }
        error.message += "; \(count) of \(all) entries are in \(target)"
        let further = "remove \(target), or give another --to"
        let first = error.errno == .noSpace ? "make room" : error.advice
        error.advice = first.map { "\($0), then \(further)" } ?? further
        return error
    }
}
