// `versionsctl list`: what is mounted, what was, and a daemon that is stuck.

import Foundation
import Support
import Testing

@Suite("versionsctl list", .timeLimit(.minutes(5))) struct ListTests {
    private struct Entry: Decodable {
        var directory: String
        var mountpoint: String?
        var state: String
        var container: String?
        var conflicts: Int?
        var since: String?
        var version: String?
    }

    private static let schemas = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path + "/docs/schemas"

    /// The containers of a place, by their names; each place has a list of its own.
    private func list(_ place: Place) throws -> [String: Entry] {
        let output = try place.bash("XDG_STATE_HOME=$PWD/s $CTL list --json")
        #expect(output.status == 0 && output.errors.isEmpty, "\(output.errors)")
        let problems = try Schema("list", in: Self.schemas).problems(output.stdout)
        #expect(problems.isEmpty, "\(problems)")
        let entries = try JSONDecoder().decode([Entry].self, from: Data(output.stdout))
        return Dictionary(
            entries.filter { $0.directory.hasPrefix(place.path + "/") }
                .map { (String($0.directory.dropFirst(place.path.utf8.count + 1)), $0) }, uniquingKeysWith: { $1 })
    }

    private func must(_ line: String, _ place: Place) throws {
        let output = try place.bash("export XDG_STATE_HOME=$PWD/s\n" + line)
        guard output.status == 0 else { throw Failure(line, evidence: output.errors) }
    }

    @Test("Mounted and unmounted containers, conflicts, and what is gone")
    func states() throws {
        try Place.with { place in
            try must("mkdir s d m; $CTL mount c; $CTL simulate conflict c/f; $CTL mount d m", place)
            var listed = try list(place)
            #expect(listed.count == 2, "\(listed)")
            #expect(listed["c"]?.state == "mounted" && listed["c"]?.conflicts == 1, "\(listed)")
            #expect(listed["c"]?.version != nil && listed["c"]?.since?.hasPrefix("20") == true)
            #expect(listed["d"]?.mountpoint == place.path + "/m" && listed["d"]?.conflicts == 0, "\(listed)")
            try must("$CTL unmount m; $CTL unmount c; $CTL mount c", place)
            listed = try list(place)
            #expect(listed["d"]?.state == "unmounted" && listed["d"]?.mountpoint == nil, "\(listed)")
            let text = try place.bash("XDG_STATE_HOME=$PWD/s $CTL list").text.split(separator: "\n")
            #expect(text.contains { $0.hasPrefix("mounted ") && $0.contains(" 1 ") && $0.hasSuffix("\(place.path)/c") })
            #expect(text.contains { $0.hasPrefix("not mounted ") && $0.hasSuffix("\(place.path)/d") }, "\(text)")
            // An ordinary directory again is no container; what is no longer there is told once.
            try must("$CTL forget d --yes", place)
            #expect(try list(place)["d"] == nil)
            try must("mkdir e; $CTL mount e; $CTL unmount e; rm -r e; $CTL logs c > /dev/null || :", place)
            #expect(try list(place)["e"]?.state == "gone")
            #expect(try list(place)["e"] == nil)
            #expect(try String(contentsOfFile: place.path + "/s/versionsfs/containers", encoding: .utf8)
                == place.path + "/c\n")
            try must("$CTL unmount c", place)
        }
    }

    @Test("A stopped daemon is listed as not answering, a killed one as gone, and neither stalls the list")
    func stuck() throws {
        try Place.with { place in
            try must("mkdir s d e", place)
            let (stopped, killed) = (try place.serve("c"), try place.serve("d"))
            try must("$CTL mount e", place)
            kill(stopped.pid, SIGSTOP)
            defer { kill(stopped.pid, SIGCONT) }
            killed.kill()
            let began = ContinuousClock.now
            let listed = try list(place)
            #expect(began.duration(to: .now) < .seconds(30))
            #expect(listed["c"]?.state == "silent" && listed["c"]?.since != nil, "\(listed)")
            #expect(listed["d"]?.state == "dead" && listed["d"]?.conflicts == nil, "\(listed)")
            #expect(listed["e"]?.state == "mounted", "\(listed)")
            kill(stopped.pid, SIGCONT)
            try must("$CTL unmount e; $CTL unmount c; $CTL unmount d", place)
        }
    }

    @Test("A list that cannot be written fails no mount")
    func unwritable() throws {
        try Place.with { place in
            try must("mkdir s; echo > s/versionsfs; $CTL mount c", place)
            let text = try place.bash("XDG_STATE_HOME=$PWD/s $CTL list").text
            #expect(text.contains(place.path + "/c"), "\(text)")
            // The log is in the directory of the socket then, and goes with the container.
            try must("$CTL unmount c; $CTL forget c --yes", place)
        }
    }
}
