// Running the built versionsctl, and a tree with a document, its versions and a served socket.

import ControlProtocol
import Foundation
import Glibc
import Synchronization
import Testing
import VersionModel

@testable import versionsctl

struct ToolRun {
    var status: Int32
    var output: String
    var errors: String
}

/// The program that was built beside the tests.
func toolPath() -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let arguments = ProcessInfo.processInfo.arguments
    let candidates = ([own] + arguments).map {
        URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/versionsctl"
    }
    return candidates.first { access($0, X_OK) == 0 } ?? "versionsctl"
}

func runTool(_ arguments: [String], in directory: String = "/", environment: [String: String] = [:]) throws -> ToolRun {
    try runTool(bytes: arguments.map { Array($0.utf8) }, in: directory, environment: environment)
}

/// Runs it without a terminal; the arguments are bytes. Output goes to files: nobody can block on a pipe, nor hold one.
func runTool(bytes: [[UInt8]], in directory: String, environment: [String: String] = [:]) throws -> ToolRun {
    let place = try temporaryDirectory()
    defer { remove(place) }
    let files = ["output", "errors"].map { open("\(place)/\($0)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
    let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { (files + [input]).forEach { close($0) } }
    let status = try Subprocess.run(
        "sh",
        [Path("-c"), Path("cd \"$0\" && exec \"$@\""), Path(directory), Path(toolPath())]
            + bytes.map { Path(bytes: $0) },
        environment: ["COLUMNS": "10000"].merging(environment) { $1 }.map { ($0.key, Path($0.value)) },
        standard: [0: input, 1: files[0], 2: files[1]])
    return ToolRun(
        status: status, output: String(decoding: try Files.content(Path(place + "/output")), as: UTF8.self),
        errors: String(decoding: try Files.content(Path(place + "/errors")), as: UTF8.self))
}

/// A tool that goes on until it is ended.
final class ToolProcess {
    private let process = Process()
    private let output = Pipe()
    private var rest: [UInt8] = []

    init(arguments: [String], directory: String) throws {
        process.executableURL = URL(fileURLWithPath: toolPath())
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    func line() -> String? {
        while !rest.contains(10) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return nil }
            rest += data
        }
        let line = rest.prefix { $0 != 10 }
        rest.removeFirst(line.count + 1)
        return String(decoding: line, as: UTF8.self)
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// `tree/doc.txt` with a loser and a base, labeled like a mount, served by a fake.
struct ToolWorld {
    let service: FakeService
    let directory: String
    let tree: String
    var backend: FakeBackend { service.backend }

    init() throws {
        service = try FakeService()
        directory = try temporaryDirectory()
        tree = directory + "/tree"
        mkdir(tree, 0o755)
        try label(tree, socket: service.socket)
        try write("doc.txt", "one current\ntwo\nthree\n")
        try write("loser.txt", "one\ntwo\nthree loser\n")
        try write("base.txt", "one\ntwo\nthree\n")
        let document = Path("doc.txt")
        var current = Samples.version(3, .current, path: document, file: Path(tree + "/doc.txt"))
        let loser = Samples.version(2, .conflict, path: document, file: Path(tree + "/loser.txt"), minutesAgo: 2)
        let base = Samples.version(1, path: document, file: Path(tree + "/base.txt"), minutesAgo: 90)
        // The two parted there.
        current.parents = [base.id]
        service.backend.state.withLock { state in
            state.versions = [current, loser, base]
            state.conflicts = [ConflictedDocument(path: document, current: current, base: base, versions: [loser])]
        }
    }

    func run(_ arguments: [String], environment: [String: String] = [:]) throws -> ToolRun {
        try runTool(arguments, in: tree, environment: environment)
    }

    func write(_ name: String, _ text: String) throws {
        let descriptor = open(tree + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(descriptor) }
        #expect(Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count)
        try label(tree + "/" + name, socket: service.socket)
    }

    func read(_ name: String) throws -> String { try String(contentsOfFile: tree + "/" + name, encoding: .utf8) }

    func inode(_ name: String) throws -> UInt64 {
        var status = stat()
        #expect(stat(tree + "/" + name, &status) == 0)
        return UInt64(status.st_ino)
    }

    func stop() {
        service.stop()
        remove(directory)
    }
}
