// Settings: shown and set (DESIGN 3.5).

/// The settings and what they are set to.
public struct ConfigRequest: ControlRequest {
    public static let method = "config"
    public typealias Reply = [Setting]
    /// `stale-writes`, `history.max-file`, …; nil: all.
    public var key: String?
    public init(key: String?) { self.key = key }
}

/// Sets one setting.
public struct SetConfigRequest: ControlRequest {
    public static let method = "setConfig"
    public typealias Reply = Setting
    public var key: String
    /// As the user types it: TOML, or for a text setting the bare text.
    public var value: String
    public init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}

/// One setting.
public struct Setting: Hashable, Sendable, Codable {
    /// With its table in front: `history.max-file`.
    public var key: String
    /// In TOML.
    public var value: String
    /// What it is if nobody sets it, in TOML.
    public var standard: String
    /// Why the value cannot be used, if it cannot; then the default is in force, or the container does not mount.
    public var problem: String?
    /// What a value that is accepted does not do yet.
    public var note: String?
    public init(key: String, value: String, standard: String, problem: String? = nil, note: String? = nil) {
        self.note = note
        self.key = key
        self.value = value
        self.standard = standard
        self.problem = problem
    }
}
