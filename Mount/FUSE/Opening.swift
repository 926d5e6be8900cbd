// OPEN, the one request that can wait. Its answer comes at once, or later from any thread, or after an interrupt.

import CFuse3
import Glibc
import SystemPackage

/// Serves an OPEN.
///
/// While the handler runs, an early ``Deferred/complete(_:)`` only stores the answer; after ``Deferred/park()`` it
/// sends the answer. Over the ring the kernel sends no INTERRUPT for a signal that comes before the request. So the
/// driver checks the caller for a pending signal.
func serveOpen(_ raw: OpaquePointer?, node: NodeID, flags: Int32) {
    guard let raw else { return }
    let request = Request(raw: raw)
    guard let driver = Driver.of(raw), let fileSystem = driver.fileSystem else {
        request.fail(.ioError)
        return
    }
    // Every message that comes here has a complete header.
    let lane = Lane.current
    let number = lane?.message.value(wire_header_in.self)?.unique ?? 0
    let deferred = Deferred<Opened> { [driver] result in
        driver.parked.remove(request: number)
        driver.answer(request, node: node, result)
        driver.gate.leave()
    }
    var caller = request.caller
    caller.dropsSetID = (lane?.body(wire_open_in.self)?.open_flags ?? 0) & KillFlag.open != 0
    do {
        if let opened = try fileSystem.open(caller, node: node, flags: flags, deferred: deferred) {
            driver.drop(deferred.close(), node: node)
            driver.answer(request, node: node, .success(opened))
        } else if driver.gate.enter() {
            let mayWait = lane.flatMap { driver.transport?.park($0) } ?? true
            let isInterrupted = driver.parked.add(deferred, request: number)
            if isInterrupted || !mayWait || driver.ring && CallerSignals.arePending(thread: caller.thread) {
                deferred.interrupt()
            }
            deferred.park()
        } else {
            driver.drop(deferred.close(), node: node)
            request.fail(.interrupted)
        }
    } catch {
        driver.drop(deferred.close(), node: node)
        request.fail(error)
    }
}

extension Driver {
    /// Answers an OPEN. If the kernel does not take the answer, the handle is released.
    fileprivate func answer(_ request: Request, node: NodeID, _ result: Result<Opened, Errno>) {
        switch result {
        case .success(let opened):
            if !request.answer(layout: wire_open_out(opened)) {
                fileSystem?.release(node: node, handle: opened.handle)
            }
        case .failure(let error):
            request.fail(error)
        }
    }

    /// Releases the handle of an answer that is not sent.
    fileprivate func drop(_ result: Result<Opened, Errno>?, node: NodeID) {
        if case .success(let opened) = result { fileSystem?.release(node: node, handle: opened.handle) }
    }
}
