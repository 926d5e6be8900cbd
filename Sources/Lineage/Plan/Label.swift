/// What an object says of itself, so that it finds its place when the catalog has lost its end, or is lost as a whole.
public struct Label: Hashable, Sendable {
    /// A version that the object is the content of.
    public var version: VersionRow
    /// The place that it was saved at.
    public var place: PlaceNumber
    /// The row that it was saved under, and the removal that the object is kept for; none where only the end of the
    /// catalog may be missing.
    public var rows: [NameRow] = []
    /// Whether a power cut has left other bytes of the version than the object says: these are the version now.
    public var isPart = false

    public init(version: VersionRow, place: PlaceNumber) {
        self.version = version
        self.place = place
    }

    public init(version: VersionRow, at row: NameRow) {
        self.init(version: version, place: row.place)
        rows = [row]
        rows[0].maker = nil
    }
}
