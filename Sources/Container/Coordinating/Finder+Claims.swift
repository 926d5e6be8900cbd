// The claims of programs, for people who ask who holds a file and who waits for it.

import Coordination
import Synchronization
import SystemPackage
import VersionModel

/// A coordinated access, granted or waiting.
public struct ClaimRecord: Hashable, Sendable {
    /// Counted from 1 since the mount.
    public var id: UInt64
    /// Relative to the container's root.
    public var path: TreePath
    /// The whole content is being replaced; else the file is written in place.
    public var isReplacing: Bool
    public var author: Author
    public var since: Timestamp
    public var isWaiting: Bool
}

extension Finder {
    /// The claims on documents that the caller can reach, the oldest first.
    /// - Parameter moment: the present one, on both clocks.
    public func claims(
        as principal: Principal, at moment: (claims: Int64, wall: Timestamp)
    ) -> [ClaimRecord] {
        let serving = host.serving
        let holders = Dictionary(
            serving.files.all.compactMap { file in file.claim.map { ($0, file) } },
            uniquingKeysWith: { first, _ in first })
        return serving.arbiter.all().compactMap { listed, waiting in
            let holder = holders[listed.claim.id]
            guard let node = waiting?.node ?? holder?.node, let requester = waiting?.requester ?? holder?.requester,
                let path = tree.nodes.path(node), canReach(path, principal)
            else { return nil }
            return ClaimRecord(
                id: listed.claim.id.number, path: path, isReplacing: listed.claim.kind == .replacing,
                author: requester.author,
                since: moment.wall.advanced(byNanoseconds: listed.since - moment.claims), isWaiting: listed.isWaiting)
        }
    }

    private func canReach(_ path: TreePath, _ principal: Principal) -> Bool {
        (try? looking(as: principal) { walk in _ = try walk.document(path) }) != nil
    }
}
