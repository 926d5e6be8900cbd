// The new name of a document when another document has its name: `abc 2.txt` (DESIGN 6.2).

/// Bouncing of names.
public enum BouncedName {
    /// NAME_MAX.
    static let longest = 255

    /// The next free name: `abc.txt` gives `abc 2.txt`, `abc 2.txt` gives `abc 3.txt`, `archive.tar.gz` gives
    /// `archive 2.tar.gz`, `.profile` gives `.profile 2`. Names that would be too long are cut, between characters.
    /// - Parameter isTaken: whether a name is in use, by the comparison of the directory.
    /// - Returns: nil only if a million names are taken.
    public static func next(after name: FileName, isTaken: (FileName) -> Bool) -> FileName? {
        let (stem, ending) = split(name.bytes)
        let (base, number) = counted(stem)
        for next in number + 1..<number + 1_000_000 {
            let suffix = Array(" \(next)".utf8) + ending
            guard let candidate = FileName(bytes: cut(base, to: longest - suffix.count) + suffix) else { return nil }
            if !isTaken(candidate) { return candidate }
        }
        return nil
    }

    /// Splits a name into the counted part and its extension with the dot; `.tar.gz` and the like are one extension.
    private static func split(_ name: [UInt8]) -> (stem: [UInt8], ending: [UInt8]) {
        guard let ending = FileName(bytes: name)?.fileExtension else { return (name, []) }
        let stem = Array(name.dropLast(ending.count + 1))
        let tar = Array(".tar".utf8)
        if stem.count > tar.count, zip(stem.suffix(tar.count), tar).allSatisfy({ $0.lowercased == $1 }) {
            return (Array(stem.dropLast(tar.count)), stem.suffix(tar.count) + [46] + ending)
        }
        return (stem, [46] + ending)
    }

    /// Splits the number, ` 2` and up, off the end of a stem; 1 for a stem without a number.
    private static func counted(_ stem: [UInt8]) -> (base: [UInt8], number: Int) {
        let digits = stem.reversed().prefix { $0.isDigit }.count
        let base = stem.dropLast(digits)
        guard (1...9).contains(digits), base.count > 1, base.last == 32, stem[base.count] != 48,
            let number = Int(String(decoding: stem.suffix(digits), as: UTF8.self)), number >= 2
        else { return (stem, 1) }
        return (Array(base.dropLast()), number)
    }

    /// At most this many bytes, without an incomplete UTF-8 character at the end.
    static func cut(_ bytes: [UInt8], to count: Int) -> [UInt8] {
        guard bytes.count > count else { return bytes }
        var end = max(1, count)
        // Back to the first byte of the character at the cut. Text that is not UTF-8 is cut anywhere.
        var steps = 0
        while end > 1, steps < 3, bytes[end] & 0xC0 == 0x80 { (end, steps) = (end - 1, steps + 1) }
        return Array(bytes[..<end])
    }
}
