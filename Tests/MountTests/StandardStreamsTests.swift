// Started without standard streams, as some services do: nothing hangs, and no file is taken for one of them.

import Foundation
import Support
import Testing

@Suite struct StandardStreamsTests {
    @Test(
        "Mounting, asking and unmounting end though streams are closed",
        arguments: ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
    func closed(_ streams: String) throws {
        try Place.with { place in
            let line =
                "timeout 20 $CTL mount c \(streams) && echo 1 > c/f && echo 2 > c/f && "
                + "timeout 20 $CTL history c/f \(streams); timeout 20 $CTL status c \(streams) && "
                + "timeout 20 $CTL unmount c \(streams)"
            #expect(try place.bash(line).status == 0)
            #expect(try String(contentsOfFile: place.path + "/c/f", encoding: .utf8) == "2\n")
            let direct = try place.bash("timeout 20 $DAEMON c \(streams) && $CTL unmount c")
            #expect(direct.status == 0, "\(direct.errors)")
        }
    }

    @Test("A format file that nobody wrote so is called damaged, a newer one newer")
    func format() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo 1 > c/f; echo 2 > c/f", in: place.path)
            try place.unmount()
            for (content, words) in [("\\001garbage\\n", "is damaged"), ("versionsfs 99 x=y\\n", Told.newerVersion)] {
                try shell("cp c/.versionsfs/format format; printf '\(content)' > c/.versionsfs/format", in: place.path)
                expectError(try place.daemon("c", "-f"), words)
                try shell("cp format c/.versionsfs/format", in: place.path)
            }
            try shell(": > c/.versionsfs/format", in: place.path)
            try place.mount()
            #expect(try place.ctl("history", "c/f").text.hasPrefix("c/f  3 versions"))
            try place.unmount()
        }
    }
}
