// One request from libfuse: who asks, and every way of answering it.

import CFuse3
import Glibc
import SystemPackage

/// A request that is waiting for its answer, which is given exactly once.
///
/// Sendable by hand: libfuse lets any thread answer, and only the one that answers frees the request.
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

    /// An extended attribute or their list: the size alone when none is given to fill.
    @discardableResult
    func answer(_ bytes: [UInt8], within size: Int) -> Bool {
        if size == 0 { return fuse_reply_xattr(raw, bytes.count) == 0 }
        return bytes.count <= size ? answer(bytes) : fail(.outOfRange)
    }
}
