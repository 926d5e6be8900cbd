// The signal of a lease that another program breaks ends no process.

import CLinux
import Glibc
import Testing

@Suite struct LeaseSignalTests {
    @Test("A lease that another program breaks sends SIGIO, which ends no process")
    func broken() throws {
        var path = Array("/var/tmp/versionsfs-lease.XXXXXX".utf8CString)
        close(mkstemp(&path))
        defer { unlink(path) }
        let file = open(path, O_RDONLY)
        defer { close(file) }
        try #require(linux_set_lease(file, F_RDLCK) == 0)
        var action = sigaction()
        sigaction(SIGIO, nil, &action)
        #expect(unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1, "SIGIO is not ignored")
        // O_NONBLOCK breaks the lease, and the open does not wait for it.
        let other = open(path, O_WRONLY | O_NONBLOCK)
        #expect(other < 0 && errno == EWOULDBLOCK)
        #expect(linux_set_lease(file, F_UNLCK) == 0)
    }
}
