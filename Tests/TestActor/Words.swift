// The words of the line protocol: bytes without blanks, anything else as %XX.

import Glibc

/// A call that failed.
struct CallFailed: Error {
    let code: Int32
    init(_ code: Int32 = errno) { self.code = code }
}

/// The arguments of one request, taken from the left.
struct Words {
    private var rest: ArraySlice<Substring>

    init(_ line: String) {
        rest = line.split(separator: " ")[...]
    }

    var isEmpty: Bool { rest.isEmpty }

    /// Everything that is left, as it came.
    var remainder: String { rest.joined(separator: " ") }

    mutating func bytes() throws -> [UInt8] {
        guard let word = rest.popFirst() else { throw CallFailed(EINVAL) }
        return try decoded(Array(word.utf8))
    }

    mutating func text() throws -> String { String(decoding: try bytes(), as: UTF8.self) }

    mutating func number() throws -> Int {
        guard let value = Int(try text()) else { throw CallFailed(EINVAL) }
        return value
    }

    mutating func number(default value: Int) throws -> Int { isEmpty ? value : try number() }

    /// A file's mode, in octal.
    mutating func mode(default value: mode_t) throws -> mode_t {
        guard !isEmpty else { return value }
        guard let mode = mode_t(try text(), radix: 8) else { throw CallFailed(EINVAL) }
        return mode
    }

    /// A path, as system calls take it.
    mutating func path() throws -> [CChar] {
        try bytes().map { CChar(bitPattern: $0) } + [0]
    }

    private func decoded(_ word: [UInt8]) throws -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < word.count {
            guard word[index] == UInt8(ascii: "%") else {
                result.append(word[index])
                index += 1
                continue
            }
            guard index + 2 < word.count,
                let byte = UInt8(String(decoding: word[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
            else { throw CallFailed(EINVAL) }
            result.append(byte)
            index += 3
        }
        return result
    }
}

/// Bytes as one word.
func encoded(_ bytes: some Sequence<UInt8>) -> String {
    var result = ""
    for byte in bytes {
        let plain = (33...126).contains(byte) && byte != UInt8(ascii: "%")
        result += plain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return result
}
