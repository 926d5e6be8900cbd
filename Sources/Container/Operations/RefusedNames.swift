// Why a name cannot be given or changed: words for what would be an error number otherwise.

import CLinux
import SystemPackage
import VersionModel

extension TreePath {
    /// Throws if something cannot be put here because of one of the names in the path, whatever is there.
    public func requireUsable() throws(OperationError) {
        try requireUnreserved(advice: "choose another name")
        if names.contains(where: { $0.bytes.count > 255 }) {
            throw OperationError(.invalid, "the name is too long", path: self, advice: "a name has at most 255 bytes")
        }
    }

    /// Throws if a path leads through one of our own names: `.versions` anywhere, `.versionsfs` at the root.
    public func requireUnreserved(advice: String) throws(OperationError) {
        let own = names.first.flatMap { $0.bytes == LiveTree.stateName ? $0 : nil }
            ?? names.first { $0.bytes == LiveTree.browseName }
        guard let own else { return }
        throw OperationError(.invalid, "the name \(own) is reserved", path: self, advice: advice)
    }
}

extension Spot {
    /// An error of a change below, with its cause if a file or directory is protected by chattr(1): even its owner and
    /// root are refused.
    func explained(_ error: any Error) -> any Error {
        guard let errno = error as? Errno, errno == .notPermitted || errno == .permissionDenied else { return error }
        for (what, name) in [("it", self.name.bytes), ("its directory", [])] {
            let protection = CText.lend(name) { linux_protection(directory.raw, $0) }
            guard protection > 0 else { continue }
            let flag = protection & 1 != 0 ? "i" : "a"
            return OperationError(
                .denied, "\(what) is \(flag == "i" ? "immutable" : "append-only")", path: path,
                advice: "`chattr -\(flag)` allows changes")
        }
        return error
    }
}
