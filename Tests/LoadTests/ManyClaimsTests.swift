// Many clients that want one item: each in its turn, and how many a second.

import Foundation
import Support
import Testing

@Suite(.serialized) struct ManyClaimsTests {
    static let clients = 64

    @Test("sixty-four clients contending for one item are served in order, five thousand claims a second")
    func contention() throws {
        let rounds = Workplace.count(1000)
        try withContainer(named: "claims", files: ["a": "1"], seconds: 300) { container in
            guard container.isVersioned else { return [] }
            let clients = try (0..<Self.clients).map { _ in try ControlSocket(of: container) }
            let claim = #"{"jsonrpc":"2.0","id":1,"method":"claim","params":{"accesses":[{"mode":"writing","path":"a"}]}}"# + "\n"
            var granted: [Int] = []
            // Each has asked, and whose turn it is releases and asks again: the order stays what it was at first.
            let hold = try clients[0].answer(to: clients[0].begin("claim", ["accesses": [["mode": "writing", "path": "a"]]]))
            for client in clients.dropFirst() {
                try client.send(Array(claim.utf8))
                // Behind what was sent before on this connection: so the claim is made.
                _ = try client.answer(to: client.begin("cancelClaim", ["key": 7]))
            }
            guard var held = (hold["result"] as? [String: Any])?["claim"] as? NSNumber else { throw Failure("\(hold)") }
            let begin = ContinuousClock.now
            var turn = 0
            for _ in 0..<(rounds * Self.clients) {
                let client = clients[turn]
                try client.send(Array(
                    (#"{"jsonrpc":"2.0","id":2,"method":"release","params":{"claim":\#(held)}}"# + "\n" + claim).utf8))
                turn = (turn + 1) % Self.clients
                // If another were served first, this would never come.
                while true {
                    let message = try clients[turn].next()
                    if message["method"] as? String == "probe", let id = message["id"] {
                        try clients[turn].send(Array("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":{}}\n".utf8))
                    }
                    guard message["method"] == nil, message["id"] as? Int == 1 else { continue }
                    guard let number = (message["result"] as? [String: Any])?["claim"] as? NSNumber else {
                        throw Failure("\(message)")
                    }
                    held = number
                    granted.append(turn)
                    break
                }
            }
            let took = ContinuousClock.now - begin
            let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
            let rate = Double(granted.count) / seconds
            print("ManyClaimsTests: \(granted.count) claims in \(took), \(Int(rate)) a second")
            // What a machine that others use makes of it is not the daemon's; the full run is alone.
            return Workplace.isFull && rate < 5000 ? ["\(Int(rate)) claims a second"] : []
        }
    }
}
