// Who holds a file and who waits for it, as `versionsctl claims` tells.

import Foundation
import Support
import Testing

@Suite struct ClaimTests {
    @Test("a program that replaces a file in place, and one that waits for it, are listed; afterwards nobody is")
    func holderAndWaiter() throws {
        try withContainer(named: "claims", files: ["X": "old"], settings: ["replace-wait": "20s"], level: .versioned) {
            container in
            let (holder, waiter) = (
                try ActorProcess("code", in: container.path), try ActorProcess("claude", in: container.path)
            )
            try holder.must("open", "h", "X", "w+trunc")
            try waiter.begin("open", ["h", "X", "w+trunc"])
            var claims: [ClaimListing] = []
            let patience = Deadline.after(seconds: 15)
            repeat {
                // Who does not write for 200 ms does not hold it any more.
                try holder.must("write", "h", "new")
                claims = try container.decode(["claims"])
            } while claims.count < 2 && !patience.isOver
            let expected = [false, true].map { isWaiting in
                [isWaiting ? "\(waiter.pid)" : "\(holder.pid)", "X", "write", "replacing", "\(isWaiting)"].joined(
                    separator: " ")
            }
            let found = claims.map { claim in
                ["\(claim.pid)", claim.paths.joined(), claim.kind, claim.options.joined(), "\(claim.waiting)"].joined(
                    separator: " ")
            }
            var problems = found == expected ? [] : ["listed: \(claims)"]
            try holder.must("close", "h")
            guard case .done = try waiter.finish() else { return problems + ["the waiting open failed"] }
            try waiter.must("write", "h", "newer")
            try waiter.must("close", "h")
            let after: [ClaimListing] = try container.decode(["claims"])
            if !after.isEmpty { problems.append("still listed: \(after)") }
            return problems
        }
    }

    @Test("an open that waits for a claim is listed behind what it waits for, and no more once it goes on")
    func waitingOpen() throws {
        try withContainer(named: "claims", files: ["a": "old"], settings: ["replace-wait": "60s"], level: .versioned) {
            container in
            try container.hold("a")
            let stranger = try ActorProcess("stranger", in: container.path)
            try stranger.begin("open", ["h", "a", "w+trunc"])
            var claims: [ClaimListing] = []
            let patience = Deadline.after(seconds: 15)
            repeat { claims = try container.decode(["claims"]) } while claims.count < 2 && !patience.isOver
            let found = claims.map { "\($0.program) \($0.paths.joined()) \($0.kind) \($0.waiting)" }
            var problems = found == ["versionsctl a write false", "stranger a write true"] ? [] : ["listed: \(claims)"]
            if claims.last?.pid != stranger.pid { problems.append("the process is \(claims.last?.pid ?? 0)") }
            try shell("echo > ../go-a", in: container.path)
            guard case .done = try stranger.finish() else { return problems + ["the waiting open failed"] }
            try stranger.must("close", "h")
            let after: [ClaimListing] = try container.decode(["claims"])
            if !after.isEmpty { problems.append("still listed: \(after)") }
            return problems
        }
    }
}
