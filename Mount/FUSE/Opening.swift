// OPEN, the one request that may wait: answered at once, or later from any thread, or interrupted.

import CFuse3
import Glibc
import SystemPackage

/// Serves an OPEN.
///
/// While the handler runs, an early ``Deferred/complete(_:)`` is only kept; so the request is alive when its interrupt
/// handler is set, and after ``Deferred/park()`` whoever completes answers.
func serveOpen(_ raw: OpaquePointer?, node: NodeID, flags: Int32) {
    guard let raw else { return }
    let request = Request(raw: raw)
    guard let driver = Driver.of(raw), let fileSystem = driver.fileSystem else {
        request.fail(.ioError)
        return
    }
    let deferred = Deferred<Opened> { [driver] result in
        driver.parked.remove(request: request.token)
        driver.answer(request, node: node, result)
        driver.gate.leave()
    }
    var caller = request.caller
    caller.dropsSetID = (Lane.current?.body(wire_open_in.self)?.open_flags ?? 0) & KillFlag.open != 0
    do {
        if let opened = try fileSystem.open(caller, node: node, flags: flags, deferred: deferred) {
            driver.drop(deferred.close(), node: node)
            driver.answer(request, node: node, .success(opened))
        } else if driver.gate.enter() {
            driver.parked.add(deferred, request: request.token)
            fuse_req_interrupt_func(raw, { request, _ in
                guard let request else { return }
                Driver.of(request)?.parked.interrupt(request: UInt(bitPattern: request))
            }, nil)
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
    /// Answers an OPEN; what the kernel does not take is released.
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

    /// Releases what an answer opened that nobody will get.
    fileprivate func drop(_ result: Result<Opened, Errno>?, node: NodeID) {
        if case .success(let opened) = result { fileSystem?.release(node: node, handle: opened.handle) }
    }
}
