// Nonsense on the control socket of a real daemon: it answers, goes on, and keeps nothing of it.

import Foundation
import Support
import Testing

@Suite struct MalformedLinesTests {
    @Test("100,000 malformed lines on the socket neither crash nor leak")
    func malformed() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let count = Workplace.count(100_000)
        print("MalformedLinesTests: seed \(seed), \(count) lines")
        try withContainer(named: "lines", files: ["f": "1"], seconds: 600) { container in
            try shell("echo 2 > f", in: container.path)
            guard let pid = container.daemon?.pid else { return ["no daemon"] }
            var random = SeededGenerator(seed: seed)
            var tolls: [(descriptors: Int, resident: Int)] = []
            // A connection for every hundred lines; a third of them goes away in the middle of a line.
            for round in 0..<max(10, count / 100) {
                let socket = try ControlSocket(of: container)
                try socket.flood((0..<100).map { _ in line(&random) })
                if round % 3 == 0 { try socket.send(Array("{\"jsonrpc\":\"2.0\",\"id\":1,\"met".utf8)) }
                if round % max(1, count / 1000) == 0 { tolls.append(try toll(of: pid)) }
            }
            let history: HistoryRecord = try ControlSocket(of: container).call("history", target: "f")
            tolls.append(try toll(of: pid))
            let (early, last) = (tolls[tolls.count / 2], tolls[tolls.count - 1])
            print("MalformedLinesTests: \(tolls.map { "\($0.descriptors) descriptors, \($0.resident >> 10) MiB" })")
            var problems = history.versions.count == 2 ? [] : ["f has \(history.versions.count) versions"]
            // The last connections may still be closing.
            if last.descriptors > early.descriptors + 8 { problems.append("descriptors: \(tolls.map(\.descriptors))") }
            if last.resident > early.resident + 16_384 { problems.append("resident KiB: \(tolls.map(\.resident))") }
            return problems
        }
    }

    private static let seeds = [
        #"{"jsonrpc":"2.0","id":1,"method":"history","params":{"target":{"path":"f"}}}"#,
        #"{"jsonrpc":"2.0","id":-9223372036854775808,"method":"status"}"#,
        #"{"jsonrpc":"2.0","id":"x","method":"show","params":{"target":{"id":"ffffff"},"version":"\\ud800"}}"#,
        #"{"jsonrpc":"2.0","id":2,"method":"restore","params":{"target":{"path":"../../etc/passwd"},"version":"00"}}"#,
        #"{"jsonrpc":"2.0","id":1e999,"method":"purgeDeleted","params":{"before":"9999999-01-01T00:00:00Z"}}"#,
        #"{"jsonrpc":"2.0","id":3,"method":"history","params":{"target":{"path":"f","pathBytes":"////"}}}"#,
        #"[{"jsonrpc":"2.0"}]"#, "null", "\"", "{", "[[[[[[[[", "-", "1e", "\u{0}", "tru", "{}",
    ].map { Array($0.utf8) }

    private func line(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Self.seeds.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0...max(0, bytes.count - 1), using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where !bytes.isEmpty: bytes[place] = UInt8.random(in: 11...255, using: &random)
            case 1: bytes.removeLast(min(bytes.count, Int.random(in: 0..<20, using: &random)))
            case 2:
                bytes.insert(
                    contentsOf: [UInt8](repeating: 91, count: Int.random(in: 0..<200, using: &random)),
                    at: min(place, bytes.count))
            case 3: bytes += Self.seeds.randomElement(using: &random) ?? []
            case 4:
                bytes = (0..<Int.random(in: 0..<300, using: &random)).map { _ in
                    UInt8.random(in: 11...255, using: &random)
                }
            default: bytes += [UInt8](repeating: 57, count: Int.random(in: 0..<400, using: &random))
            }
        }
        return bytes.filter { $0 != 10 }
    }

    private func toll(of pid: pid_t) throws -> (descriptors: Int, resident: Int) {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let resident = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }?.filter(\.isNumber) ?? ""
        return (try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count, Int(resident) ?? 0)
    }
}
