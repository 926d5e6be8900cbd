// The target of a request: a path in the container, or an item or version by its id.

/// A document or directory in a client's terms (DESIGN 3.3: an item or version id can replace a path).
public enum Target: Hashable, Sendable, Codable {
    /// A path relative to the container's root; empty for the root. A path through `.versions` names that version.
    case path(Path)
    /// An item's or version's id, or the first digits of one (at least 4).
    case id(String)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        if let id = try container.decodeIfPresent(String.self, forKey: "id") {
            self = .id(id)
        } else {
            self = .path(try container.decodePath(forKey: "path"))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        switch self {
        case .path(let path): try container.encode(path: path, forKey: "path")
        case .id(let id): try container.encode(id, forKey: "id")
        }
    }
}
