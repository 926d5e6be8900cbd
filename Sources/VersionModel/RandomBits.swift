// Random bits for identities, fetched from the kernel in large numbers. A save needs three identities, and six system
// calls for them would cost more than storing its content.

import Glibc
import Synchronization

/// A stock of bits from getentropy(3). Each is used once and wiped.
struct RandomBits: RandomNumberGenerator {
    private struct Stock {
        var numbers = [UInt64](repeating: 0, count: 32)
        var left = 0
        /// The state of a repeatable sequence.
        var repeated: UInt64?
    }

    private static let stock = Mutex(Stock())
    private static let neighbors = Atomic<UInt64>(UInt64.random(in: 0...UInt64(UInt32.max)))

    /// Sets the same numbers for the same seed: for tests that repeat a run, where the order of identities may matter.
    static func `repeat`(from seed: UInt64) {
        stock.withLock { $0 = Stock(repeated: seed) }
        neighbors.store(seed, ordering: .relaxed)
    }

    /// A byte that changes every 512 calls.
    static func neighborhood() -> UInt8 {
        UInt8(truncatingIfNeeded: neighbors.add(1, ordering: .relaxed).newValue >> 9)
    }

    mutating func next() -> UInt64 {
        Self.stock.withLock { stock in
            if stock.left == 0 { Self.refill(&stock) }
            stock.left -= 1
            defer { stock.numbers[stock.left] = 0 }
            return stock.numbers[stock.left]
        }
    }

    private static func refill(_ stock: inout Stock) {
        if var generator = stock.repeated {
            for index in stock.numbers.indices {
                stock.numbers[index] = BitMixing.mix(generator)
                generator &+= BitMixing.step
            }
            (stock.repeated, stock.left) = (generator, stock.numbers.count)
            return
        }
        // The most that one call gives; it comes whole or not at all.
        let code = stock.numbers.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { getentropy($0, bytes.count) } ?? -1
        }
        if code != 0 {
            var generator = SystemRandomNumberGenerator()
            for index in stock.numbers.indices { stock.numbers[index] = generator.next() }
        }
        stock.left = stock.numbers.count
    }
}
