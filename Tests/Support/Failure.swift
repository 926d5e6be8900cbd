// What the fixture throws: a sentence for people, with the evidence below it.

import Glibc

/// A step of a test that could not be done, or did the wrong thing.
public struct Failure: Error, CustomStringConvertible, Sendable {
    public let description: String

    public init(_ sentence: String, evidence: String = "") {
        description = evidence.isEmpty ? sentence : sentence + "\n" + evidence
    }

    /// A failed system call, from `errno` as it is now.
    public static func call(_ what: String) -> Failure {
        let code = errno
        return Failure("\(what): \(String(cString: strerror(code))) (errno \(code))")
    }
}
