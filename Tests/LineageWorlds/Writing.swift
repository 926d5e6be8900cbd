import Lineage

/// One letter that a handle writes.
struct Writing: Hashable, Sendable {
    var letter: UInt8
    /// nil at the end.
    var position: Int?

    func result(in content: Fingerprint) -> Fingerprint { content.writing(letter, at: position ?? Int(content.size)) }
}
