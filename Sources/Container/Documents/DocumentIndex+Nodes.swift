// The document of a node: what the kernel has looked up, and what the index has under its names.

import SystemPackage
import VersionModel

extension DocumentIndex {
    /// The document of a regular file that is in use or recorded; nil if nothing is known of it.
    func document(of node: Node) -> Document? {
        let (first, others) = nodes.allNames(node)
        guard let first else { return nil }
        if let document = try? document(at: first.place) { return document }
        for name in others { if let document = try? document(at: name.place) { return document } }
        return nil
    }

    /// Runs `body` with the document whose file a node is, and under what name.
    ///
    /// A rename or an unlink takes the name away with the document's lock held, at any moment. A name that was found
    /// before that lock was taken may be gone.
    /// - Returns: nil if the file belongs to no document any more.
    func withLive<Result>(
        of node: Node, _ body: (inout Document.State, Document, Node.Name) throws(Errno) -> Result
    ) throws(Errno) -> Result? {
        if let result = try withFound(of: node, body) { return result }
        // A rename that is under way has taken the old name away and not given the new one yet.
        names.reading { () throws(Never) in }
        return try withFound(of: node, body)
    }

    private func withFound<Result>(
        of node: Node, _ body: (inout Document.State, Document, Node.Name) throws(Errno) -> Result
    ) throws(Errno) -> Result? {
        guard let document = document(of: node) else { return nil }
        return try document.state.withLock { state throws(Errno) -> Result? in
            let (name, whereabouts) = nodes.location(node)
            guard case .live = whereabouts, let name, self.document(of: node) === document else { return nil }
            return try body(&state, document, name)
        }
    }
}
