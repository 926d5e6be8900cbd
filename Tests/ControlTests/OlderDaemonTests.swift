// versionsctl beside a daemon that does not know a method yet: a preview must not become a purge.

import ControlProtocol
import Foundation
import Glibc
import Synchronization
import Testing
import VersionModel

/// A daemon from before there were previews: it knows `hello`, `purge` and `purgeDeleted`, takes the parameters that it
/// knows and passes over the rest.
private final class OlderDaemon: Sendable {
    let directory: String
    private let listener: CInt
    private let calls = Mutex<[String]>([])
    var called: [String] { calls.withLock { $0 } }

    init() throws {
        directory = try temporaryDirectory()
        mkdir(directory + "/tree", 0o755)
        let place = directory + "/d.sock"
        listener = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: place.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(listener, 8) == 0 else { throw ControlError(.system, "no socket: errno \(errno)") }
        try label(directory + "/tree", socket: place)
        FileManager.default.createFile(atPath: directory + "/tree/f", contents: Data())
        try label(directory + "/tree/f", socket: place)
        Thread.detachNewThread { [self] in
            while case let socket = accept(listener, nil, nil), socket >= 0 { serve(RawClient(taking: socket)) }
        }
    }

    private func serve(_ client: RawClient) {
        while let line = client.line() {
            guard case .request(let id, let method)? = try? Message(line: line) else { continue }
            calls.withLock { $0.append(method) }
            let reply: [UInt8]?
            switch method {
            case Handshake.method:
                let daemon = Handshake.Reply(version: ProductVersion.current, container: .random(), mountpoint: nil)
                reply = try? Wire.line(replying: daemon, to: id)
            case PurgeRequest.method, PurgeDeletedRequest.method:
                let gone = Removed(versions: [], versionCount: 3, deletedCount: 0, bytes: 12)
                reply = try? Wire.line(replying: gone, to: id)
            default:
                reply = Wire.line(failing: ControlError(.unknownMethod, "no method \(method)"), to: id)
            }
            if let reply { client.send(reply) }
        }
    }

    func stop() {
        shutdown(listener, CInt(SHUT_RDWR))
        close(listener)
        remove(directory)
    }
}

@Suite("versionsctl beside an older daemon", .timeLimit(.minutes(2)))
struct OlderDaemonTests {
    @Test("a preview of a purge removes nothing: it is refused, and says what to do", arguments: [["f"], ["--deleted"]])
    func preview(what: [String]) throws {
        let daemon = try OlderDaemon()
        defer { daemon.stop() }
        let run = try runTool(["purge", "--dry-run"] + what, in: daemon.directory + "/tree")
        #expect(!daemon.called.contains { [PurgeRequest.method, PurgeDeletedRequest.method].contains($0) })
        #expect(run.status == 1 && run.output.isEmpty)
        let words = run.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let error = "the daemon is older than versionsctl and cannot say what would go; nothing was removed"
        #expect(words.hasPrefix("error: ") && words.contains(error), "\(run.errors)")
        #expect(words.contains("hint: unmount the container and mount it again"), "\(run.errors)")
    }

    @Test("a purge that is meant goes on as before")
    func purge() throws {
        let daemon = try OlderDaemon()
        defer { daemon.stop() }
        let run = try runTool(["purge", "f", "--yes"], in: daemon.directory + "/tree")
        #expect(run.status == 0 && daemon.called.last == PurgeRequest.method, "\(run)")
    }
}
