// A value behind a lock that may be one of Foundation's, which the compiler does not let into a Mutex.

import Foundation

/// Guards a value; whoever takes something out of it answers for what several threads do with that.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
