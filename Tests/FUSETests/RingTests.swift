// The parts of the ring that need no kernel: buffers, lists, the switch.

import CFuse3
import CRing
@testable import FUSE
import Glibc
import SystemPackage
import Testing

@Suite struct RingTests {
    /// Puts a request into an entry as the kernel does.
    private func fill(
        _ entry: RingEntry, unique: UInt64 = 6, operation: [UInt8], payload: [UInt8], length: Int? = nil,
        commit: UInt64? = nil, payloadSize: Int? = nil
    ) throws {
        let vectors = try #require(entry.vectors)
        let start = try #require(vectors[0].iov_base)
        let header = start.assumingMemoryBound(to: ring_request_header.self)
        let total = length ?? 40 + operation.count + payload.count
        start.storeBytes(
            of: wire_header_in(
                length: UInt32(total), opcode: 1, unique: unique, node: 1, user: 0, group: 0, thread: 0, extensions: 0),
            as: wire_header_in.self)
        operation.withUnsafeBytes {
            (start + 128).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(start), byteCount: $0.count)
        }
        entry.payload.copyBytes(from: payload)
        header.pointee.entry.commit_id = commit ?? unique
        header.pointee.entry.payload_size = UInt32(payloadSize ?? payload.count)
    }

    /// What the kernel would read of an answer.
    private func answer(_ entry: RingEntry) throws -> (head: wire_header_out, body: [UInt8]) {
        let start = try #require(entry.vectors?[0].iov_base)
        let size = start.assumingMemoryBound(to: ring_request_header.self).pointee.entry.payload_size
        return (start.loadUnaligned(as: wire_header_out.self), Array(entry.payload[..<Int(size)]))
    }

    private func send(_ entry: RingEntry, _ parts: [[UInt8]]) -> Int {
        let size = 16 + parts.reduce(0) { $0 + $1.count }
        var head = wire_header_out(length: UInt32(size), error: 0, unique: entry.unique)
        let all = parts.flatMap { $0 }
        return withUnsafeMutableBytes(of: &head) { head in
            all.withUnsafeBytes { body in
                var vectors = [iovec(iov_base: head.baseAddress, iov_len: head.count)]
                var offset = 0
                for part in parts {
                    let base = UnsafeMutableRawPointer(mutating: body.baseAddress).map { $0 + offset }
                    vectors.append(iovec(iov_base: base, iov_len: part.count))
                    offset += part.count
                }
                return entry.answer(vectors, count: Int32(vectors.count))
            }
        }
    }

    @Test("A request in an entry becomes one message, whatever its parts are")
    func requestsAreContiguous() throws {
        let entry = try RingEntry(queue: 0)
        for (operation, payload) in [(0, 5), (8, 0), (128, 300), (40, RingEntry.payloadSize)] {
            let operation = (0..<operation).map { UInt8(truncatingIfNeeded: $0) }
            let payload = (0..<payload).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 3) }
            try fill(entry, operation: operation, payload: payload)
            let message = try #require(entry.receive())
            #expect(message.value(wire_header_in.self)?.unique == 6)
            #expect(Array(message[40...]) == operation + payload)
            #expect(!entry.isAnswered)
        }
    }

    @Test("A request whose lengths contradict one another is no message")
    func lengthsMustAgree() throws {
        let entry = try RingEntry(queue: 0)
        try fill(entry, operation: [], payload: [1], length: 40)
        #expect(entry.receive() == nil, "more payload than the request is long")
        try fill(entry, operation: [], payload: [], length: 40 + 129)
        #expect(entry.receive() == nil, "a structure that has no room")
        try fill(entry, operation: [], payload: [], length: 0)
        #expect(entry.receive() == nil, "shorter than its header")
        try fill(entry, operation: [], payload: [], length: Int(UInt32.max), payloadSize: Int(UInt32.max) - 40)
        #expect(entry.receive() == nil, "a payload beyond the buffer")
        try fill(entry, operation: [], payload: [], commit: 8)
        #expect(entry.receive() == nil, "another request than is to be answered")
        entry.answer(error: .ioError)
        let refused = try answer(entry)
        #expect(refused.head.error == -EIO)
        #expect(refused.head.unique == 8, "the kernel knows the request by this number")
    }

    @Test("An answer is laid out behind one another, and its end is an error if it does not fit")
    func answersAreLaidOut() throws {
        let entry = try RingEntry(queue: 3)
        try fill(entry, operation: [], payload: [65, 0])
        _ = try #require(entry.receive())
        #expect(send(entry, [[1, 2], [], [3]]) == 19)
        #expect(entry.isAnswered)
        let good = try answer(entry)
        #expect(good.body == [1, 2, 3])
        #expect(good.head.error == 0)
        #expect(send(entry, [[UInt8](repeating: 1, count: RingEntry.payloadSize), [1]]) == -1)
        #expect(errno == EMSGSIZE)
        let long = try answer(entry)
        #expect(long.head.error == -EIO)
        #expect(long.body == [])
    }

    @Test("An answer that was laid out in the payload stays where it is")
    func answersInPlace() throws {
        let entry = try RingEntry(queue: 0)
        try fill(entry, operation: [1], payload: [])
        _ = try #require(entry.receive())
        entry.payload.copyBytes(from: [9, 8, 7])
        var head = wire_header_out(length: 19, error: 0, unique: 6)
        let sent = withUnsafeMutableBytes(of: &head) { head in
            let vectors = [
                iovec(iov_base: head.baseAddress, iov_len: 16), iovec(iov_base: entry.payload.baseAddress, iov_len: 3),
            ]
            return entry.answer(vectors, count: 2)
        }
        #expect(sent == 19)
        #expect(try answer(entry).body == [9, 8, 7])
    }

    @Test("Processors are counted, and a list with gaps is none")
    func processorsAreCounted() {
        #expect(ProcessorList.count("0-1\n") == 2)
        #expect(ProcessorList.count("0\n") == 1)
        #expect(ProcessorList.count("0-3,4-127\n") == 128)
        for wrong in ["", "\n", "1-2", "0-1,3", "0-", "-1", "a", "0-99999999", "3-0"] {
            #expect(ProcessorList.count(wrong) == nil, "\(wrong)")
        }
        #expect((ProcessorList.possible ?? 0) >= 1)
    }

    @Test("The kernel's switch is on while somebody mounts, and then as it was")
    func switchIsPutBack() throws {
        var template = Array("/var/tmp/versionsfs-switch-XXXXXX".utf8CString)
        let file = try expectSuccess(mkstemp(&template))
        let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress ?? UnsafePointer(strdup(""))) }
        defer {
            close(file)
            unlink(path)
        }
        func shown() -> String {
            String(decoding: (try? contents(path)) ?? [], as: UTF8.self)
        }
        for (was, then) in [("N\n", "N\n"), ("Y\n", "Y\n")] {
            try expectSuccess(ftruncate(file, 0))
            try expectSuccess(pwrite(file, was, 2, 0))
            var first = RingSwitch(path)
            #expect(first != nil)
            #expect(shown() == "Y\n")
            var second = RingSwitch(path)
            #expect(second != nil)
            first = nil
            #expect(shown() == "Y\n", "somebody else mounts")
            second = nil
            // Who found it on leaves it on: nobody can tell whether it was meant.
            if was == "Y\n" { #expect(shown() == then) }
        }
        try expectSuccess(pwrite(file, "N\n", 2, 0))
        var alone = RingSwitch(path)
        #expect(alone != nil && shown() == "Y\n")
        alone = nil
        #expect(shown() == "N\n")
        #expect(RingSwitch("/var/tmp/versionsfs-no-such-switch") == nil)
        try expectSuccess(pwrite(file, "?\n", 2, 0))
        #expect(RingSwitch(path) == nil, "what is not understood is left alone")
        #expect(shown() == "?\n")
    }

    @Test("A signal counts that is pending and not blocked")
    func signalsAreRead() {
        func pending(_ thread: String, _ shared: String, _ blocked: String) -> Bool {
            CallerSignals.arePending(
                status: "Name:\tx\nSigPnd:\t\(thread)\nShdPnd:\t\(shared)\nSigBlk:\t\(blocked)\nSigIgn:\t0\n")
        }
        #expect(!pending("0000000000000000", "0000000000000000", "0000000000000000"))
        #expect(pending("0000000000000002", "0000000000000000", "0000000000000000"))
        #expect(pending("0000000000000000", "0000000000004000", "0000000000000002"))
        #expect(!pending("0000000000000002", "0000000000004000", "0000000000004002"))
        #expect(!CallerSignals.arePending(status: ""))
        #expect(!CallerSignals.arePending(thread: 0))
    }

    @Test("An interrupt that comes before its open waits is not lost, and old ones are forgotten")
    func earlyInterruptsCount() {
        let parked = ParkedOpens()
        let open = Deferred<Opened> { _ in }
        parked.interrupt(request: 10)
        #expect(parked.add(open, request: 10))
        let other = Deferred<Opened> { _ in }
        #expect(!parked.add(other, request: 12))
        for number in 0..<100 { parked.interrupt(request: UInt64(1_000 + number)) }
        let third = Deferred<Opened> { _ in }
        #expect(!parked.add(third, request: 1_000))
        #expect(parked.add(third, request: 1_099))
    }
}
