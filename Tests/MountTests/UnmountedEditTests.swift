// Edits that are made while a container is not mounted, with the size and the time of the file as they were before.

import Foundation
import Support
import Testing

@Suite struct UnmountedEditTests {
    /// The edits of the file between two mounts; the file then gets its old time.
    private static let edits = [
        "printf TWO > f", "printf TWO | dd of=f conv=notrunc status=none", "printf TWO > new; mv new f",
        "cp -p f new; printf TWO > new; mv new f",
    ]

    private func history(_ file: String, in place: Place) throws -> HistoryRecord {
        let output = try place.ctl("history", file, "--json")
        return try JSONDecoder().decode(HistoryRecord.self, from: Data(output.stdout))
    }

    /// Has the daemon look at a file that it has not been asked about since the mount, and tells of its versions.
    private func texts(_ file: String, in place: Place) throws -> [String] {
        try shell(": >> \(file)", in: place.path)
        return try history(file, in: place).versions.map { try run("cat", [$0.file]).text }
    }

    /// `f` of a container with two versions, closed.
    private func prepare(_ place: Place) throws {
        try place.mount()
        try shell("printf one > c/f; printf two > c/f", in: place.path)
        #expect(try texts("c/f", in: place) == ["two", "one", "one"])
        try place.unmount()
    }

    @Test("An edit that leaves size and time as they were is a version", arguments: edits)
    func hidden(edit: String) throws {
        try Place.with { place in
            try prepare(place)
            try shell("touch -r f ref; \(edit); touch -r ref f; rm ref", in: place.path + "/c")
            try place.mount()
            let texts = try texts("c/f", in: place)
            #expect(texts.count == 4 && texts.first == "TWO" && texts.dropFirst(2) == ["one", "one"], "\(texts)")
            // The content before was not kept, and its version does not claim the bytes of another.
            let told = try place.ctl("history", "c/f").text
            #expect(told.contains(Told.contentLost), "\(told)")
            #expect(try place.ctl("check", "c").status == 0)
            try place.unmount()
        }
    }

    @Test(
        "What changes the file and not what it holds is no edit",
        arguments: [
            "chmod 600 f", "ln f g", "mv f g; mv g f", "cp -p f new; mv new f", "setfattr -n user.x -v y f",
        ])
    func same(change: String) throws {
        try Place.with { place in
            try prepare(place)
            try shell(change, in: place.path + "/c")
            for _ in 0..<2 {
                try place.mount()
                #expect(try texts("c/f", in: place) == ["two", "one", "one"])
                try place.unmount()
            }
        }
    }

    @Test("A copied container has the same versions, and one that is restored from a copy; an edit of either is seen")
    func copied() throws {
        try Place.with { place in
            try prepare(place)
            try shell("cp -a c d; rm -rf c; cp -a d c; cp -a d e", in: place.path)
            for name in ["c", "d"] {
                try place.mount(name)
                #expect(try texts("\(name)/f", in: place) == ["two", "one", "one"], "\(name)")
                try place.unmount(name)
            }
            try shell("touch -r f ref; printf TWO > f; touch -r ref f; rm ref", in: place.path + "/e")
            try place.mount("e")
            #expect(try texts("e/f", in: place).first == "TWO")
            #expect(try history("e/f", in: place).versions.count == 4)
            try place.unmount("e")
        }
    }

    @Test("What is read through the mount counts as touched: the version before is not shown with other bytes")
    func listed() throws {
        try Place.with { place in
            try prepare(place)
            try shell("touch -r f ref; printf TWO > f; touch -r ref f; rm ref", in: place.path + "/c")
            try place.mount()
            let versions = try history("c/f", in: place).versions
            let texts = try versions.map { try run("cat", [$0.file]).text }
            #expect(texts.filter { $0 == "TWO" }.count == 1 && versions.first?.id != nil, "\(texts)")
            #expect(versions.count == 4, "\(versions.count)")
            try place.unmount()
        }
    }
}
