// Settings: shown and set (DESIGN 3.5).

/// Reads the settings and their values.
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
    /// The value as typed: TOML, or for a text setting the bare text.
    public var value: String
    public init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}

/// One setting.
public struct Setting: Hashable, Sendable, Codable {
    /// The key with its table: `history.max-file`.
    public var key: String
    /// The value in TOML.
    public var value: String
    /// The default value in TOML.
    public var standard: String
    /// The reason why the value is invalid. The default is then in force, or the container does not mount.
    public var problem: String?
    /// The part of the setting's effect that this version lacks.
    public var note: String?
    public init(key: String, value: String, standard: String, problem: String? = nil, note: String? = nil) {
        self.note = note
        self.key = key
        self.value = value
        self.standard = standard
        self.problem = problem
    }
}
