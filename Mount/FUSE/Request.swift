// One request from libfuse: its caller, and every way to answer it.

import CFuse3
import Glibc
import SystemPackage

/// A request that waits for its answer. The answer is given exactly once.
///
/// Sendable by hand: libfuse accepts an answer from any thread, and only the answering thread frees the request.
struct Request: @unchecked Sendable {
    let raw: OpaquePointer

    var caller: Caller {
        guard let context = fuse_req_ctx(raw)?.pointee else { return Caller(user: 0, group: 0, thread: 0) }
        return Caller(user: context.uid, group: context.gid, thread: context.pid, umask: context.umask)
    }

    // Each returns whether the kernel took the answer.

    @discardableResult
    func fail(_ error: Errno) -> Bool { fuse_reply_err(raw, error.answer) == 0 }

    @discardableResult
    func succeed() -> Bool { fuse_reply_err(raw, 0) == 0 }

    @discardableResult
    func answer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        fuse_reply_buf(raw, bytes.bindMemory(to: CChar.self).baseAddress, bytes.count) == 0
    }

    @discardableResult
    func answer(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { answer($0) } }

    @discardableResult
    func answer(layout: some BitwiseCopyable) -> Bool { withUnsafeBytes(of: layout) { answer($0) } }

    @discardableResult
    func answer(count: Int) -> Bool { fuse_reply_write(raw, max(count, 0)) == 0 }

    @discardableResult
    func answer(_ attributes: NodeAttributes) -> Bool {
        withUnsafePointer(to: attributes.stat) { fuse_reply_attr(raw, $0, boundedTimeout(attributes.valid)) == 0 }
    }

    @discardableResult
    func answer(_ entry: Entry) -> Bool { answer(layout: wire_entry_out(entry)) }

    /// An extended attribute or the list of names; without a value only the size.
    @discardableResult
    func answer(_ bytes: [UInt8], within size: Int) -> Bool {
        if size == 0 { return fuse_reply_xattr(raw, bytes.count) == 0 }
        return bytes.count <= size ? answer(bytes) : fail(.outOfRange)
    }
}
