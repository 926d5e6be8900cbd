// Signals that the kernel sends by the way do not end the daemon.

import Foundation
import Support
import Testing

@Suite struct SignalTests {
    /// SIGIO comes where another program opens a file on which the daemon is just trying a lease; SIGPIPE where a
    /// client of the socket is gone. Both end a process that does not ignore them.
    @Test("The daemon outlives SIGIO and SIGPIPE", arguments: [SIGIO, SIGPIPE])
    func ignored(_ signal: Int32) throws {
        try withContainer(named: "signal", files: ["f": "old"]) { container in
            container.daemon?.signal(signal)
            // A signal that ends it has done so, or is about to, before a new save is answered.
            try mustRun("sh", ["-c", "echo new > f"], in: container.path)
            guard container.daemon?.isRunning == true else { return ["it has ended"] }
            let versions = try container.history(of: "f").versions.count
            return versions == 2 ? [] : ["\(versions) versions"]
        }
    }
}
