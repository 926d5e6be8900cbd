// When a program's name means a program: `vim.basic` is vim, `python3.11` is python, `vimana` is neither.

/// Comparison of program names.
public enum ProgramName {
    /// Whether a name as the system gives it (an executable's last component, or a thread's name) means this program:
    /// it is the name in any case, alone or followed by something that is no letter.
    public static func matches(_ name: String, _ program: String) -> Bool {
        let name = name.utf8
        let program = program.utf8
        guard name.count >= program.count else { return false }
        guard zip(name, program).allSatisfy({ $0.lowercased == $1.lowercased }) else { return false }
        guard let next = name.dropFirst(program.count).first else { return true }
        return !next.isLetter
    }
}

extension UInt8 {
    /// The ASCII letter in lower case; any other byte itself.
    var lowercased: UInt8 { (65...90).contains(self) ? self + 32 : self }
    /// Whether the byte is an ASCII letter.
    var isLetter: Bool { (97...122).contains(lowercased) }
    /// Whether the byte is an ASCII digit.
    var isDigit: Bool { (48...57).contains(self) }
    /// Whether the byte is a hexadecimal digit.
    var isHexDigit: Bool { isDigit || (97...102).contains(lowercased) }
}
