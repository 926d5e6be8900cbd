// A daemon that goes on for a while after its mount: who waits for its end, and who is told of it.

import CTestSupport
import Foundation
import Support
import Testing

@Suite struct LeavingTests {
    @Test(
        "Root unmounts a user's mount, which it may not enter: its daemon is no user of it, and is gone afterwards",
        .enabled(if: geteuid() == 0, "a user's mount for root to take away"))
    func ofUser() throws {
        try Place.with { place in
            let user: UInt32 = 65534
            try shell("chown -R \(user):\(user) c", in: place.path)
            var start = Child.Start(Workplace.daemon, [place.path + "/c", "-f"])
            start.user = user
            for json in [false, true] {
                let daemon = try Child(start)
                let came = try Mounts.wait(.after(seconds: 20), watching: daemon) { all in
                    all.contains { $0.path == place.path + "/c" }
                }
                #expect(try came && run("cat", [place.path + "/c/f"], asUser: user).text == "one")
                let holder = try ActorProcess("holder", in: place.path, asUser: user)
                try holder.must("cd", place.path + "/c")
                let busy = try place.ctl("unmount", "c")
                expectOneLine(busy, "in use by holder (\(holder.pid))")
                #expect(!busy.errors.contains("versionsfs ("), "\(busy.errors)")
                try holder.must("cd", "/")
                let unmounted = try json ? place.ctl("unmount", "c", "--json") : place.ctl("unmount", "c")
                #expect(unmounted.status == 0 && unmounted.errors.isEmpty, "\(unmounted.errors)")
                #expect(daemon.poll() == 0, "the daemon lives on")
                #expect(!json || unmounted.text.contains("\"ended\" : true"), "\(unmounted.text)")
            }
            #expect(try place.ctl("status", "c").status == 0)
        }
    }
}
