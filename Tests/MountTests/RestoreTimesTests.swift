// `restore DIR --at` gives directories the times that they had, as far as anybody knows them.

import Foundation
import Support
import Testing

@Suite struct RestoreTimesTests {
    /// What is done to `d`, whose times were set long ago.
    private static let changes = [
        "rm d/f", "rm -r d/sub", "rm d/sub/x; echo new > d/sub/new; rm d/f", "echo more >> d/f",
        "echo new > d/f; chmod 700 d/sub",
        "rm d/f; rm -r d/sub; echo new > d/new", "rm -r d/sub; mkdir d/sub; echo other > d/sub/x",
    ]

    private func times(_ directory: String, in place: Place) throws -> String {
        try shell("find \(directory) -type d -printf '%P %T+\\n' | sort", in: place.path).text
    }

    @Test("Directories have the times of then, in place and in a copy", arguments: changes)
    func known(_ change: String) throws {
        try Place.with { place in
            try place.mount()
            let make = "cd c; mkdir -p d/sub/empty; echo f > d/f; echo x > d/sub/x"
            try shell(
                "\(make); touch -d 2020-01-01 d/sub/empty; touch -d 2020-01-02 d/sub; touch -d 2020-01-03 d",
                in: place.path)
            let before = try times("c/d", in: place)
            let then = try shell("date -u +%Y-%m-%dT%H:%M:%S.%NZ; sleep 0.02", in: place.path).text
            try shell("cd c; \(change)", in: place.path)
            let copied = try place.ctl("restore", "c/d", "--at", then, "--to", "c/copy")
            #expect(copied.status == 0, "\(copied.errors)")
            let copy = try times("c/copy", in: place)
            #expect(copy == before, "the copy after \(change)")
            let restored = try place.ctl("restore", "c/d", "--at", then)
            #expect(restored.status == 0, "\(restored.errors)")
            let after = try times("c/d", in: place)
            #expect(after == before, "in place after \(change)")
            try place.unmount()
        }
    }

    @Test("A directory in which something was made since has the time of the last change before")
    func made() throws {
        try Place.with { place in
            try place.mount()
            let before = try shell("cd c; mkdir d; echo f > d/f; stat -c %.9Y d", in: place.path).text
            let then = try shell("sleep 0.1; date -u +%Y-%m-%dT%H:%M:%S.%NZ; sleep 0.02", in: place.path).text
            try shell("cd c; echo new > d/new", in: place.path)
            #expect(try place.ctl("restore", "c/d", "--at", then).status == 0)
            let after = try shell("stat -c %.9Y c/d", in: place.path).text
            // It is known when the name was made, not what time the file system has taken for that.
            let distance = abs((Double(after) ?? 0) - (Double(before) ?? .infinity))
            #expect(distance < 0.09, "\(before), then \(after)")
            try place.unmount()
        }
    }

    @Test("A time from before the container is refused in one line, by a catalog that was made anew too")
    func tooEarly() throws {
        try Place.with { place in
            try place.mount()
            for path in [".", "d"] {
                try shell("mkdir -p c/d", in: place.path)
                let output = try place.ctl("restore", path, "--at", "2020-01-01T00:00:00Z", in: "c")
                expectError(output, Told.noHistory, Told.earliest + "20")
            }
            try place.unmount()
            try shell("rm -f c/.versionsfs/catalog*.sqlite* c/.versionsfs/redo*", in: place.path)
            try place.mount()
            let output = try place.ctl("restore", "c", "--at", "2020-01-01T00:00:00Z")
            expectError(output, Told.noHistory)
            try place.unmount()
        }
    }
}
