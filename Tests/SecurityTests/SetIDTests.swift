// Set-id bits and capabilities go where a user without the right to keep them chooses a file's content: as on a bare
// ext4 for calls of programs, and by every way that content comes back.

import Foundation
import Support
import Testing

@Suite struct SetIDTests {
    private func outcomes(in directory: String) throws -> [String] {
        chmod(directory, 0o1777)
        let output = try mustRun("/usr/bin/python3", ["-c", SetIDScript.text, directory], seconds: 120)
        return output.text.split(separator: "\n").map(String.init)
    }

    @Test("Every way to change a file clears its bits as on ext4 beside it")
    func changes() throws {
        try withFileSystem(.ext4, megabytes: 200) { base in
            guard mkdir(base + "/bare", 0o755) == 0 else { throw Failure.call("mkdir") }
            let expected = try outcomes(in: base + "/bare")
            #expect(expected.count > 45, "\(expected)")
            // A script that never shows the bits could not show that they go.
            #expect(expected.contains { $0.contains(" 6775 ") && $0.contains("capability 20 ") }, "\(expected)")
            try withContainer(named: "set-id", on: base, seconds: 240) { container in
                let found = try outcomes(in: container.path)
                if found.count != expected.count { return ["only \(found.count) cases were run"] }
                return zip(expected, found).filter { $0 != $1 }.map { "on ext4 \($0), here \($1)" }
            }
        }
    }

    @Test("Content that comes back through another user comes without bits and capability")
    func returned() throws {
        try withFileSystem(.ext4, megabytes: 200) { base in
            try withContainer(named: "returned", on: base, seconds: 240) { container in
                let output = try run(
                    "bash", ["-c", ReturnedContentScript.text], in: container.path,
                    environment: ["CTL": Workplace.control], seconds: 200)
                let found = output.text.split(separator: "\n").map(String.init)
                let differing = zip(ReturnedContentScript.expected, found).filter { $0 != $1 }
                let few = found.count == ReturnedContentScript.expected.count ? [] : ["\(found): \(output.errors)"]
                return few + differing.map { "wanted \($0), found \($1)" }
            }
        }
    }
}
