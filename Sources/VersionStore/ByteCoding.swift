// The bytes of labels and catalog records: little-endian fixed numbers, LEB128 counts, counted byte strings.

/// An error in encoded bytes. The decoders throw it for all invalid bytes; they never trap.
struct CodingError: Error {}

/// Appends values to its own buffer, without an array's check at each byte, because every save encodes a record or two.
struct ByteWriter: ~Copyable {
    // Used only below, within `capacity`; freed with the writer, which cannot be copied.
    private var buffer: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 512) {
        self.capacity = max(16, capacity)
        buffer = .allocate(byteCount: self.capacity, alignment: 8)
    }

    deinit { buffer.deallocate() }

    /// The written bytes, as an array.
    var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: buffer, count: count)) }

    /// Lends the written bytes.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: buffer, count: count))
    }

    private mutating func makeRoom(_ more: Int) {
        guard count + more > capacity else { return }
        let larger = max(2 * capacity, count + more)
        let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        new.copyMemory(from: buffer, byteCount: count)
        buffer.deallocate()
        (buffer, capacity) = (new, larger)
    }

    mutating func byte(_ value: UInt8) {
        makeRoom(1)
        buffer.storeBytes(of: value, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    mutating func fixed(_ value: UInt64) {
        makeRoom(8)
        buffer.storeBytes(of: value.littleEndian, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    mutating func fixed(_ value: Int64) { fixed(UInt64(bitPattern: value)) }

    mutating func fixed(_ value: UInt32) {
        makeRoom(4)
        buffer.storeBytes(of: value.littleEndian, toByteOffset: count, as: UInt32.self)
        count += 4
    }

    /// LEB128.
    mutating func count(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        byte(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        makeRoom(bytes.count)
        (buffer + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    mutating func string(_ value: [UInt8]) {
        count(UInt64(value.count))
        value.withUnsafeBytes { append($0) }
    }

    mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            count(UInt64(utf8.count))
            append(UnsafeRawBufferPointer(utf8))
        }
    }

    /// A flag byte, then the value, if any.
    mutating func optional<Value>(_ value: Value?, _ write: (inout ByteWriter, Value) -> Void) {
        guard let value else { return byte(0) }
        byte(1)
        write(&self, value)
    }
}

/// Reads values from a buffer, in the order of the writes.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var position: Int

    init(_ bytes: [UInt8], from position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    var remaining: Int { bytes.count - position }

    mutating func byte() throws(CodingError) -> UInt8 {
        guard position < bytes.count else { throw CodingError() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func take(_ length: Int) throws(CodingError) -> ArraySlice<UInt8> {
        guard length >= 0, length <= remaining else { throw CodingError() }
        defer { position += length }
        return bytes[position..<(position + length)]
    }

    mutating func fixed64() throws(CodingError) -> UInt64 {
        try take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func signed64() throws(CodingError) -> Int64 { Int64(bitPattern: try fixed64()) }

    mutating func fixed32() throws(CodingError) -> UInt32 {
        try take(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func count() throws(CodingError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw CodingError() }
            value |= UInt64(next & 0x7f) << shift
            if next < 0x80 { return value }
        }
        throw CodingError()
    }

    mutating func count32() throws(CodingError) -> UInt32 {
        guard let value = UInt32(exactly: try count()) else { throw CodingError() }
        return value
    }

    /// A count of elements that take at least `size` bytes each: never more than the rest can hold.
    mutating func count(ofAtLeast size: Int) throws(CodingError) -> Int {
        guard let value = Int(exactly: try count()), value <= remaining / max(size, 1) else { throw CodingError() }
        return value
    }

    mutating func string() throws(CodingError) -> [UInt8] { Array(try take(try count(ofAtLeast: 1))) }

    mutating func text() throws(CodingError) -> String { String(decoding: try string(), as: UTF8.self) }

    mutating func optional<Value>(
        _ read: (inout ByteReader) throws(CodingError) -> Value
    ) throws(CodingError) -> Value? {
        switch try byte() {
        case 0: return nil
        case 1: return try read(&self)
        default: throw CodingError()
        }
    }
}
