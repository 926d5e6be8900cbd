// The workloads of DESIGN 10: each prepares its directory, measures one thing, and gives seconds (or bytes per second).

import CTestSupport
import Foundation
import Support

/// How much work there is.
struct Scale: Sendable {
    var files: Int
    var operations: Int
    var largeBytes: Int
    var documentBytes: Int
    /// Only a reflink makes a change in a large file cheap.
    var canReflink = false
    var rewriteBar: Bar { canReflink ? .bare(0.95) : .none }
    var patchBar: Bar { canReflink ? .seconds(0.05) : .none }

    static let full = Scale(files: 3700, operations: 2000, largeBytes: 1 << 30, documentBytes: 100 << 20)
    static let quick = Scale(files: 370, operations: 200, largeBytes: 64 << 20, documentBytes: 10 << 20)
}

struct Workload {
    let key: String
    let title: String
    let unit: Unit
    let bar: Bar
    /// Runs one round in a directory of its own (which it makes). The result is what ``unit`` says.
    let measure: (_ directory: String, _ round: Int) throws -> Double

    static func all(_ scale: Scale, _ source: SourceTree) -> [Workload] {
        trees(scale, source) + operations(scale) + data(scale)
    }

    private static func trees(_ scale: Scale, _ source: SourceTree) -> [Workload] {
        let unpack = { (directory: String) in
            _ = try Glue.fresh(directory)
            try mustRun("tar", ["-C", directory, "-xf", source.archive], seconds: 300)
        }
        return [
            Workload(
                key: "untar", title: "untar \(scale.files) files", unit: .milliseconds, bar: .rivals
            ) { directory, _ in
                _ = try Glue.fresh(directory)
                return try Glue.time { _ = try mustRun("tar", ["-C", directory, "-xf", source.archive], seconds: 300) }
            },
            Workload(key: "find", title: "find, cold", unit: .milliseconds, bar: .rivals) { directory, round in
                if round == 0 { try unpack(directory) }
                Glue.dropCaches()
                return try Glue.time { _ = try mustRun("find", [directory, "-type", "f", "-size", "+1000000"]) }
            },
            Workload(key: "grep", title: "grep, warm", unit: .milliseconds, bar: .rivals) { directory, round in
                if round == 0 { try unpack(directory) }
                // One search to warm up; grep says 1 for "nothing found".
                if round == 0 { _ = try run("grep", ["-rq", "never there", directory]) }
                return try Glue.time { _ = try run("grep", ["-rq", "never there", directory]) }
            },
            Workload(key: "rm", title: "rm -r", unit: .milliseconds, bar: .rivals) { directory, _ in
                try unpack(directory)
                return try Glue.time { _ = try mustRun("rm", ["-r", directory + "/tree"], seconds: 300) }
            },
        ]
    }

    private static func operations(_ scale: Scale) -> [Workload] {
        let text = Array(String(repeating: "0123456789abcde\n", count: 256).utf8)
        let count = scale.operations
        return [
            Workload(key: "inplace", title: "save in place, 4 KiB", unit: .microseconds, bar: .rivals) { directory, _ in
                let file = try Glue.fresh(directory) + "/f"
                try Glue.write(text, to: file, O_CREAT)
                return try Glue.time {
                    for number in 0..<count { try Glue.write(Glue.stamped(text, number), to: file, O_CREAT | O_TRUNC) }
                } / Double(count)
            },
            Workload(key: "rename", title: "save by rename, 4 KiB", unit: .microseconds, bar: .rivals) { directory, _ in
                let file = try Glue.fresh(directory) + "/f"
                try Glue.write(text, to: file, O_CREAT)
                return try Glue.time {
                    for number in 0..<count {
                        let temporary = "\(file).tmp.\(getpid()).\(String(number, radix: 16))"
                        try Glue.write(Glue.stamped(text, number), to: temporary, O_CREAT | O_EXCL)
                        guard rename(temporary, file) == 0 else { throw Failure.call("rename") }
                    }
                } / Double(count)
            },
            Workload(
                key: "open", title: "open + read 4 KiB + close", unit: .microseconds, bar: .rivals
            ) { directory, _ in
                let file = try Glue.fresh(directory) + "/f"
                try Glue.write(text, to: file, O_CREAT)
                var buffer = [UInt8](repeating: 0, count: 4096)
                return try Glue.time {
                    for _ in 0..<count {
                        let descriptor = open(file, O_RDONLY)
                        guard descriptor >= 0, read(descriptor, &buffer, 4096) == 4096 else {
                            throw Failure.call("read")
                        }
                        close(descriptor)
                    }
                } / Double(count)
            },
            Workload(key: "create", title: "create an empty file", unit: .microseconds, bar: .rivals) { directory, _ in
                let directory = try Glue.fresh(directory)
                return try Glue.time {
                    for number in 0..<count { try Glue.write([], to: "\(directory)/f\(number)", O_CREAT | O_EXCL) }
                } / Double(count)
            },
        ]
    }

    private static func data(_ scale: Scale) -> [Workload] {
        let megabytes = scale.largeBytes >> 20
        let block = [UInt8](repeating: 7, count: 1 << 20)
        return [
            Workload(
                key: "read", title: "read \(megabytes) MiB, warm", unit: .rate, bar: .bare(0.95)
            ) { directory, round in
                let file = directory + "/large"
                if round == 0 { try Glue.large(Glue.fresh(directory) + "/large", blocks: megabytes, block) }
                if round == 0 { try Glue.readAll(file) }
                return Double(scale.largeBytes) / (try Glue.time { try Glue.readAll(file) })
            },
            Workload(key: "write", title: "write \(megabytes) MiB, new", unit: .rate, bar: .bare(0.95)) {
                directory, _ in
                // Newly written: over what the same handle has just written, so that the pages are warm.
                let file = try Glue.fresh(directory) + "/large"
                let descriptor = open(file, O_RDWR | O_CREAT | O_EXCL, 0o644)
                guard descriptor >= 0 else { throw Failure.call(file) }
                defer {
                    close(descriptor)
                    unlink(file)
                }
                try Glue.overwrite(descriptor, blocks: megabytes, block)
                return Double(scale.largeBytes)
                    / (try Glue.time { try Glue.overwrite(descriptor, blocks: megabytes, block) })
            },
            Workload(
                key: "rewrite", title: "write \(megabytes) MiB, again", unit: .rate, bar: scale.rewriteBar
            ) { directory, round in
                let file = directory + "/large"
                if round == 0 { try Glue.large(Glue.fresh(directory) + "/large", blocks: megabytes, block) }
                // Over what is there, through another handle: its content is kept first.
                let descriptor = open(file, O_RDWR)
                guard descriptor >= 0 else { throw Failure.call(file) }
                defer { close(descriptor) }
                return Double(scale.largeBytes)
                    / (try Glue.time { try Glue.overwrite(descriptor, blocks: megabytes, block) })
            },
            Workload(
                key: "document", title: "rename over \(scale.documentBytes >> 20) MiB", unit: .milliseconds,
                bar: .seconds(0.005)
            ) { directory, _ in
                let file = try Glue.fresh(directory) + "/document"
                try Glue.large(file, blocks: scale.documentBytes >> 20, block)
                try Glue.large(file + ".tmp.1.a", blocks: scale.documentBytes >> 20, block)
                return try Glue.time { if rename(file + ".tmp.1.a", file) != 0 { throw Failure.call("rename") } }
            },
            Workload(
                key: "patch", title: "change 4 KiB of \(megabytes) MiB", unit: .milliseconds, bar: scale.patchBar
            ) { directory, round in
                let file = directory + "/large"
                if round == 0 { try Glue.large(Glue.fresh(directory) + "/large", blocks: megabytes, block) }
                return try Glue.time {
                    let descriptor = open(file, O_RDWR)
                    guard descriptor >= 0 else { throw Failure.call(file) }
                    let count = pwrite(descriptor, Glue.stamped(block, round), 4096, (round + 1) << 22)
                    guard count == 4096, close(descriptor) == 0 else { throw Failure.call("pwrite") }
                }
            },
        ]
    }
}
