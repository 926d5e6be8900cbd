// What the watching of mapped files leaves to the container: their contents and versions.

import SystemPackage

/// Keeps the contents that programs store through mappings.
protocol MappedFileKeeper: AnyObject, Sendable {
    /// A mapping of a file may outlive its handle.
    func mayBeMapped(_ node: Node)
    /// Opens a file for reading, to ask for a lease of it.
    func openForLease(_ node: Node) throws(Errno) -> SharedDescriptor
    /// Keeps the content of a mapped file when it is first looked at, and makes a version of a content that has changed
    /// since and is quiet.
    /// - Parameter own: the handle that the mapping was made through, if it is open still; no other writer may be.
    func capture(
        mapped node: Node, _ look: inout MappingWatch.Look, isOver: Bool, by own: OpenFile?, mayWait: Bool
    ) throws(Errno)
    /// No program has the file mapped any more.
    func mappingEnded(of node: Node)
    func forget(_ id: UInt64, lookups: UInt64)
}
