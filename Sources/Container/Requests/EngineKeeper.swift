// What a change of a file's metadata means to the engine.

import Glibc
import SystemPackage

/// The engine knows a content by its size, its time and its bytes: a change of the other attributes is none of it. A
/// file whose time was set is looked at once more, and turns out to hold the same bytes.
final class EngineKeeper: ContentKeeper {
    private let files: FileRequests

    init(_ files: FileRequests) { self.files = files }

    func preservingStamp(of node: Node, _ body: () throws(Errno) -> Void) throws(Errno) { try body() }

    func make(
        _ change: MetadataChange, look: () throws(Errno) -> FileStat, _ body: () throws(Errno) -> Void
    ) throws(Errno) -> FileStat {
        try body()
        return try look()
    }

    func metadataChanged(of node: Node, mayHaveMode: Bool, by caller: Caller) {}

    func resize(_ node: Node, _ handle: UInt64?, to size: off_t, by caller: Caller) throws(Errno) {
        try files.resize(node, handle, to: size, by: caller)
    }

    /// No attribute is told yet.
    func versionsAttribute(_ key: String, of node: Node) throws(Errno) -> [UInt8] { throw .noData }
}
