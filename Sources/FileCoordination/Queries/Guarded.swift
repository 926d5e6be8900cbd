// A value behind a lock, possibly of a Foundation type that the compiler does not allow in a Mutex.

import Foundation

/// Guards a value. A caller that takes an object out of it must use the object safely.
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
