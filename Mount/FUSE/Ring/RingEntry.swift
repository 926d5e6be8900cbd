// The memory for one request at a time from the kernel, and for its answer.

import CFuse3
import CRing
import Glibc
import SystemPackage

/// A place for one request, shared with the kernel for as long as the connection lives.
///
/// Its first page has the kernel's headers and two vectors with the places of header and payload. The end of that page,
/// right in front of the payload, has room for the request's header and structure. So a request becomes one message
/// without a copy of its payload.
///
/// Sendable by hand: an entry has one owner at a time, the kernel included. It is passed on only through a lock.
final class RingEntry: @unchecked Sendable {
    /// The size of the largest request or answer: the kernel requires the agreed size of one write.
    static let payloadSize = Negotiation.maximumWrite
    private static let front = 4096
    private static let vectorsAt = 512
    private static let headerSize = MemoryLayout<wire_header_in>.size
    private static let operationSize = 128

    /// The queue of the entry, and so the processor of its requests.
    let queue: Int
    private let memory: UnsafeMutableRawBufferPointer
    /// The number of the current request, which marks its answer.
    private(set) var unique: UInt64 = 0
    /// Whether the answer to that request is ready here.
    private(set) var isAnswered = false

    /// The kernel allocates pages at their first use, so an entry costs as much as its largest message.
    init(queue: Int) throws(Errno) {
        let size = Self.front + Self.payloadSize
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
            memory != MAP_FAILED
        else { throw Errno(rawValue: errno) }
        self.queue = queue
        self.memory = UnsafeMutableRawBufferPointer(start: memory, count: size)
        let vectors = [
            iovec(iov_base: memory, iov_len: MemoryLayout<ring_request_header>.size),
            iovec(iov_base: memory + Self.front, iov_len: Self.payloadSize),
        ]
        vectors.withUnsafeBytes { self.memory[Self.vectorsAt...].copyBytes(from: $0) }
    }

    deinit { munmap(memory.baseAddress, memory.count) }

    /// The vectors for the registration.
    var vectors: UnsafePointer<iovec>? {
        memory.baseAddress.map { UnsafePointer(($0 + Self.vectorsAt).assumingMemoryBound(to: iovec.self)) }
    }

    /// The place for names and data. A long answer can be laid out here to save a copy.
    var payload: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: memory[Self.front...]) }

    private var header: UnsafeMutablePointer<ring_request_header>? {
        memory.baseAddress?.assumingMemoryBound(to: ring_request_header.self)
    }

    /// The current request as one message, like those from /dev/fuse; nil if its lengths contradict one another.
    func receive() -> UnsafeRawBufferPointer? {
        guard let header, let request = UnsafeRawBufferPointer(memory).value(wire_header_in.self) else { return nil }
        isAnswered = false
        unique = header.pointee.entry.commit_id
        let payload = Int(header.pointee.entry.payload_size)
        let operation = Int(request.length) - Self.headerSize - payload
        guard payload <= Self.payloadSize, (0...Self.operationSize).contains(operation), request.unique == unique
        else { return nil }
        let start = Self.front - operation - Self.headerSize
        let place = UnsafeMutableRawBufferPointer(rebasing: memory[start...])
        place.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<Self.headerSize]))
        let offset = MemoryLayout<ring_request_header>.offset(of: \.operation) ?? Self.operationSize
        UnsafeMutableRawBufferPointer(rebasing: place[Self.headerSize...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[offset..<offset + operation]))
        return UnsafeRawBufferPointer(rebasing: place[..<(Self.headerSize + operation + payload)])
    }

    /// Lays an answer out as writev(2) would send it; returns the number of bytes, or -1 with errno. An answer that is
    /// too long becomes an error for the caller.
    func answer(_ message: UnsafePointer<iovec>, count: Int32) -> Int {
        guard let first = message.pointee.iov_base, message.pointee.iov_len >= MemoryLayout<wire_header_out>.size else {
            errno = EINVAL
            return -1
        }
        let payload = payload
        var used = 0
        for part in UnsafeBufferPointer(start: message, count: Int(count)).dropFirst() {
            guard part.iov_len <= payload.count - used else {
                answer(error: .ioError)
                errno = EMSGSIZE
                return -1
            }
            // Bytes that were laid out in the payload from the start stay in place.
            if let from = part.iov_base, let to = payload.baseAddress.map({ $0 + used }), from != to {
                memmove(to, from, part.iov_len)
            }
            used += part.iov_len
        }
        close(first.loadUnaligned(as: wire_header_out.self), used)
        return MemoryLayout<wire_header_out>.size + used
    }

    /// Lays an error out as the answer.
    func answer(error: Errno) {
        close(wire_header_out(length: 16, error: -error.answer, unique: unique), 0)
    }

    private func close(_ answer: wire_header_out, _ size: Int) {
        memory.storeBytes(of: answer, as: wire_header_out.self)
        header?.pointee.entry.payload_size = UInt32(size)
        isAnswered = true
    }
}
