/// What an object says of itself, so that it finds its place when the catalog has lost its end.
public struct Label: Hashable, Sendable {
    /// A version that the object is the content of.
    public var version: VersionRow
    /// The place that it was saved at.
    public var place: PlaceNumber

    public init(version: VersionRow, place: PlaceNumber) {
        self.version = version
        self.place = place
    }
}
