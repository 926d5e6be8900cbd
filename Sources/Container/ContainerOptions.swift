// The parts of its surroundings that a container needs.

import Logging
import VersionModel

/// How a container is served.
public struct ContainerOptions: Sendable {
    public var clock: any WallClock
    public var logger: Logger
    public var settings: Settings
    /// Whether requests come from other users than the daemon's: new files are then given to the caller's user.
    public var servesOthers: Bool
    /// Whether no write is allowed, not even to the state.
    public var isReadOnly: Bool
    /// How many directories' descriptors are kept at hand.
    var heldDirectories = 512
    /// How long a file is watched of which it cannot be told whether it is mapped, while nothing in it changes.
    var unansweredSeconds: Int64 = 60
    /// Hears what requests do; only tests have one.
    public var listener: (any EventListener)?

    public init(
        clock: any WallClock, logger: Logger, settings: Settings, servesOthers: Bool, isReadOnly: Bool = false
    ) {
        self.isReadOnly = isReadOnly
        self.clock = clock
        self.logger = logger
        self.settings = settings
        self.servesOthers = servesOthers
    }
}
