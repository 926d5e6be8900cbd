// Claims of a client: asked for, waited for, and given back.

import ControlProtocol

extension VersionsClient {
    /// Claims items, all together, and waits until they are granted. The claim lasts until it is released
    /// (``ControlProtocol/ReleaseRequest``), or until the connection ends.
    ///
    /// - Parameters:
    ///   - purpose: that of a claim which this one belongs to.
    ///   - within: claims that will not be released before this one is granted.
    ///   - heldUp: hears who holds it up, on the reading thread.
    /// - Throws: `deadlock`, `refused`, `denied`, `cancelled`.
    public func claim(
        _ accesses: [AccessRequest], purpose: String? = nil, within: [UInt64] = [],
        heldUp: (@Sendable (HeldUpNotification) -> Void)? = nil
    ) async throws(ControlError) -> ClaimRequest.Reply {
        let key = connection.newKey(heldUp)
        defer { connection.forget(key: key) }
        return try await call(ClaimRequest(accesses, key: key, purpose: purpose, within: within))
    }
}
