// The engine serves a mount: directories, symlinks and special files have their facts, too.

import Foundation
import Support
import Testing
import VersionModel

@Suite struct EngineNamesTests {
    @Test("What has no versions is among the names, and in the deleted list once it is removed")
    func others() throws {
        let script = """
            mkdir -p d/e/f && ln -s target d/link && mkfifo d/e/pipe && echo text > d/text
            python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("d/socket")'
            ln -s one current && ln -sfn two current && ln -P d/link d/hard && rm d/hard
            mkdir old new && mv -T new old && mv old d/e
            ln -s elsewhere over && mv -T d/text over
            mkfifo fifo && ln -s text link && mv -T link fifo
            rm -r d/e/f d/socket before/d && mv before/other d
            """
        let environment = ["VERSIONSFS_ENGINE": "1"]
        try withContainer(named: "engine-names", environment: environment, level: .mounted) { container in
            try container.unmount()
            try shell("mkdir -p before/d; ln -s x before/other", in: container.path)
            try container.mount()
            try shell("set -e; \(script)", in: container.path)
            try container.unmount()
            let found = try shell("find . -path ./.versionsfs -prune -o -printf '%P %y\\n' | sort", in: container.path)
            let disk = found.text.split(separator: "\n").filter { $0 != " d" }.map(String.init)
            let history = try EngineHistory(container.path)
            defer { try? history.close() }
            var problems: [String] = []
            let names = try history.names().map { "\($0) \(Self.letter($1))" }.sorted()
            if names != disk.sorted() { problems.append("the facts have \(names), the disk \(disk.sorted())") }
            let deleted = try history.entries().map { "\($0) \(Self.letter($1))" }.sorted()
            let expected = [
                "before/d d", "current l", "d/e/f d", "d/hard l", "d/socket s", "fifo p", "old d", "over l",
            ]
            if deleted != expected { problems.append("deleted: \(deleted)") }
            return problems
        }
    }

    /// As find(1) has it.
    private static func letter(_ type: EntryType) -> String {
        switch type {
        case .file, .link: "f"
        case .directory: "d"
        case .symlink: "l"
        case .fifo: "p"
        case .socket: "s"
        case .device: "c"
        }
    }
}
