// Arguments as bytes: what is not UTF-8 passes through the argument parser in disguise and comes out as it was.

import ControlProtocol
import Glibc

/// Maps any bytes to text and back without loss.
///
/// A byte that is not UTF-8 becomes one of 128 private scalars (U+10FE80 to U+10FEFF). An argument that really holds
/// one of them has its bytes mapped one by one, so that the way back is never in doubt.
enum ArgumentBytes {
    private static let first: UInt32 = 0x10FE00

    /// The program's arguments, its own name not among them.
    static func commandLine() -> [String] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            guard let pointer = CommandLine.unsafeArgv[index] else { return nil }
            return text(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
        }
    }

    /// Bytes in disguise.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        var result = String.UnicodeScalarView()
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            if let (scalar, length) = scalar(at: rest), !isPrivate(scalar) {
                result.append(scalar)
                rest = rest.dropFirst(length)
            } else if let byte = rest.popFirst(), let scalar = Unicode.Scalar(first + UInt32(byte)) {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// The bytes that were disguised.
    static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.flatMap { scalar in
            isPrivate(scalar) ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(String(scalar).utf8)
        }
    }

    private static func isPrivate(_ scalar: Unicode.Scalar) -> Bool {
        (first + 0x80...first + 0xFF).contains(scalar.value)
    }

    /// The scalar that these bytes begin with, if they are UTF-8.
    private static func scalar(at bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, Int)? {
        guard let lead = bytes.first else { return nil }
        let length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        guard bytes.count >= length, let text = String(validating: bytes.prefix(length), as: UTF8.self),
            let scalar = text.unicodeScalars.first
        else { return nil }
        return (scalar, length)
    }
}
