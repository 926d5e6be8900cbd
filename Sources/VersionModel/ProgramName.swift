// The meaning of a program's name: `vim.basic` is vim, `python3.11` is python, `vimana` is neither.

/// Comparison of program names.
public enum ProgramName {
    /// The programs that a system's name (an executable's last component, or a thread's name) may mean, in lower case:
    /// the whole name, and each prefix of it before a character other than a letter.
    public static func meanings(of name: String) -> [String] {
        let bytes = name.utf8.map(\.lowercased)
        return bytes.indices.filter { $0 + 1 == bytes.count || !bytes[$0 + 1].isLetter }
            .map { String(decoding: bytes[...$0], as: UTF8.self) }
    }

    /// Whether a user may mean a program by this name: the whole name, or a beginning of it before a character other
    /// than a letter. `vim` is `vim.basic`, `python` and `python3` are `python3.11`. A number counts as a whole:
    /// `python3` is not `python31`.
    public static func mayMean(_ typed: String, _ name: String) -> Bool {
        guard let last = typed.utf8.last, name != typed else { return !typed.isEmpty }
        guard name.utf8.starts(with: typed.utf8), let next = name.utf8.dropFirst(typed.utf8.count).first else {
            return false
        }
        return !next.isLetter && !(last.isDigit && next.isDigit)
    }
}

extension UInt8 {
    /// The ASCII letter in lower case; any other byte unchanged.
    var lowercased: UInt8 { (65...90).contains(self) ? self + 32 : self }
    /// Whether the byte is an ASCII letter.
    var isLetter: Bool { (97...122).contains(lowercased) }
    /// Whether the byte is an ASCII digit.
    var isDigit: Bool { (48...57).contains(self) }
    /// Whether the byte is a hexadecimal digit.
    var isHexDigit: Bool { isDigit || (97...102).contains(lowercased) }
}
