// A session without a kernel: requests go in as bytes, and every answer is counted.

@testable import FUSE
import CFuse3
import Glibc
import Synchronization
import SystemPackage

/// Takes what the driver sends.
final class CountingTransport: Transport {
    struct Answer {
        var error: Int32
        var body: [UInt8]
    }

    private let answers = Mutex<[UInt64: [Answer]]>([:])
    private let malformed = Mutex<[String]>([])

    func run() -> Errno { .operationNotSupportedByDevice }

    func send(_ message: UnsafePointer<iovec>, count: Int32) -> Int {
        var bytes: [UInt8] = []
        for part in UnsafeBufferPointer(start: message, count: Int(count)) {
            bytes += UnsafeRawBufferPointer(start: part.iov_base, count: part.iov_len)
        }
        guard bytes.count >= 16 else {
            malformed.withLock { $0.append("an answer of \(bytes.count) bytes") }
            return bytes.count
        }
        let (length, error, unique) = bytes.withUnsafeBytes {
            ($0.loadUnaligned(as: UInt32.self), $0.loadUnaligned(fromByteOffset: 4, as: Int32.self),
             $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        if Int(length) != bytes.count {
            malformed.withLock { $0.append("\(unique): says \(length), has \(bytes.count) bytes") }
        }
        if error > 0 || error <= -1000 { malformed.withLock { $0.append("\(unique): error \(error)") } }
        if error != 0, bytes.count != 16 { malformed.withLock { $0.append("\(unique): error \(error) with a body") } }
        answers.withLock { $0[unique, default: []].append(Answer(error: error, body: Array(bytes[16...]))) }
        return bytes.count
    }

    func park(_ lane: Lane) -> Bool { true }

    func take(_ unique: UInt64) -> [Answer] { answers.withLock { $0.removeValue(forKey: unique) ?? [] } }
    var faults: [String] { malformed.withLock { $0 } }
}

/// The driver between such a transport and a file system.
final class FuzzSession {
    let transport = CountingTransport()
    private let driver: Driver
    private let session: OpaquePointer
    private let descriptor: Int32
    private let lane = Lane()

    init(_ fileSystem: any FileSystem) throws {
        driver = Driver(fileSystem: fileSystem)
        let context = Unmanaged.passRetained(driver)
        let options = MountOptions.argument(fsname: "fuzz", subtype: "fuzz", options: [])
        descriptor = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard let session = MountedSession.newSession(options, context: context.toOpaque()),
            MountedSession.answerThroughDriver(session, descriptor: descriptor)
        else { throw Errno.ioError }
        self.session = session
        driver.begin(session: session, transport: transport)
        _ = receive(FuzzMessages.first())
        var features: Features?
        try lane.whileCurrentThrowing { features = try driver.serveInit(lane) }
        if let features { driver.start(features) }
        _ = transport.take(2)
    }

    private func receive(_ message: [UInt8]) -> Bool {
        guard message.count >= 40, message.count <= lane.request.count else { return false }
        // What an earlier message left behind it has no NUL: a name that does not end would run on.
        let trail = lane.request[message.count..<min(message.count + 65_536, lane.request.count)]
        if let start = trail.isEmpty ? nil : UnsafeMutableRawBufferPointer(rebasing: trail).baseAddress {
            memset(start, 0x41, trail.count)
        }
        lane.request.copyBytes(from: message)
        lane.message = UnsafeRawBufferPointer(rebasing: lane.request[..<message.count])
        return true
    }

    /// Serves one request.
    func serve(_ message: [UInt8]) {
        guard receive(message) else { return }
        lane.whileCurrent { driver.serve(lane) }
    }

    func end() {
        driver.end()
        fuse_session_destroy(session)
        Unmanaged.passUnretained(driver).release()
        close(descriptor)
    }
}

extension Lane {
    fileprivate func whileCurrentThrowing(_ body: () throws -> Void) throws {
        var result: Result<Void, any Error> = .success(())
        whileCurrent { result = Result(catching: body) }
        try result.get()
    }
}
