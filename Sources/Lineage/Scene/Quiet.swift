import VersionModel

/// Which places are quiet (DESIGN 6.1): a save there is never a rival, and what all programs append there within a
/// minute is one version. The engine looks at patterns for it, only where a plan has asked (``Asked``).
public struct Quiet: Hashable, Sendable {
    private let places: [PlaceNumber]
    private var note = AskedNote()

    /// The places that a plan asks about are noted there; nil if all quiet ones are here.
    var asked: Asked? {
        get { note.asked }
        set { note.asked = newValue }
    }

    public init(_ places: [PlaceNumber] = []) { self.places = places }

    public func contains(_ place: PlaceNumber) -> Bool {
        asked?.note(place)
        return places.contains(place)
    }
}
