// An undeletion that the daemon's end cuts short: after the next mount it goes on, and nothing is lost.

import CTestSupport
import Foundation
import Glibc
import Support
import Testing

@Suite struct UndeleteAgainTests {
    private func count(_ directory: String) throws -> Int {
        guard access(directory, F_OK) == 0 else { return 0 }
        return try FileManager.default.contentsOfDirectory(atPath: directory).count
    }

    @Test(
        "After a kill in the middle of an undeletion nothing is lost, status says so, and undelete goes on",
        arguments: [
        ["c/d"], ["c/d", "--to", "c/e"],
    ])
    func killed(_ words: [String]) throws {
        try Place.with { place in
            let target = words.last ?? ""
            try shell(
                """
                mkdir -p c/d/sub; for i in $(seq 300); do echo $i > c/d/$i; echo $i > c/d/sub/$i; done
                touch -d 2020-01-01 c/d/sub c/d; chmod 2750 c/d/sub
                """, in: place.path)
            let child = try place.serve("c")
            // Some with a history, all with identities of their own.
            try shell(
                "for i in 7 100 299; do echo new > c/d/$i; echo new > c/d/sub/$i; done; rm -r c/d", in: place.path)
            var start = Child.Start(Workplace.control, ["undelete"] + words)
            start.directory = place.path
            let tool = try Child(start)
            let deadline = Deadline.after(seconds: 20)
            // Without a pause: it takes a tenth of a second as a whole.
            while try count("\(place.path)/\(target)") < 40 {
                guard !deadline.isOver else { throw Failure("nothing came back") }
            }
            kill(child.pid, SIGKILL)
            _ = try child.wait(.after(seconds: 20))
            _ = try tool.wait(.after(seconds: 20))
            umount2(place.path + "/c", VFS_MNT_DETACH)
            try place.mount()
            let remaining = try JSONDecoder().decode(
                [DeletedRecord].self, from: Data(try place.ctl("deleted", "c", "--json").stdout)).count
            if remaining > 0 {
                #expect(try place.ctl("status", "c").text.contains("versionsctl undelete"))
                let again = try place.ctl("undelete", target)
                #expect(again.status == 0, "\(again.errors)")
            }
            let files = try run(
                "bash",
                [
                    "-c",
                    """
                    cd \(target) && find . -type f | wc -l; \
                    cat * sub/* 2>/dev/null | sort | uniq -c | awk '{print $1}' | sort | uniq -c | tr -s ' '; \
                    stat -c '%a %y' sub
                    """,
                ],
                in: place.path).text
            #expect(files.hasPrefix("600\n"), "\(remaining) remained: \(files)")
            #expect(files.contains("2750 2020-01-01"), "\(files)")
            for name in ["7", "sub/7", "299", "sub/299"] {
                let versions = try JSONDecoder().decode(
                    HistoryRecord.self, from: Data(try place.ctl("history", "\(target)/\(name)", "--json").stdout)
                ).versions
                #expect(versions.count == 2, "\(name): \(versions.count) versions")
            }
            let found = try place.ctl("check", "--container", "c")
            #expect(found.status == 0, "\(found.text)")
            try place.unmount()
        }
    }
}
