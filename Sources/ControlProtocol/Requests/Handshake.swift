// The first call on a connection: the program, the container, and a check that both use the same protocol.

import VersionModel

/// Names the calling program; the reply names the container.
public struct Handshake: ControlRequest {
    public static let method = "hello"
    /// The version of the protocol in this code; a daemon with another one is refused.
    public static let protocolVersion = 1

    public var protocolVersion: Int
    /// The calling program, such as `versionsctl`.
    public var program: String
    /// Its version.
    public var version: String

    public init(program: String, version: String) {
        protocolVersion = Self.protocolVersion
        self.program = program
        self.version = version
    }

    public struct Reply: Hashable, Sendable, Codable {
        public var protocolVersion: Int
        /// The daemon's version.
        public var version: String
        public var container: ContainerID
        /// Nil when the container is served unmounted (`versionsfs --offline`).
        public var mountpoint: Path?

        public init(version: String, container: ContainerID, mountpoint: Path?) {
            protocolVersion = Handshake.protocolVersion
            self.version = version
            self.container = container
            self.mountpoint = mountpoint
        }
    }
}
