// Which versions thinning keeps: by age, by protection, by bytes; and what time it believes in.

import Testing
import VersionModel

private let second: Int64 = 1_000_000_000
private let hour = 3600 * second
private let day = 24 * hour
private let someItem = ItemID(high: 0, low: 1)

private func candidate(
    _ saved: Int64, _ number: UInt64, item: ItemID = someItem, content: UInt64? = nil, bytes: UInt64 = 10,
    protected: Bool = false
) -> Thinning.Candidate {
    Thinning.Candidate(
        version: VersionID(high: 0, low: number), item: item, saved: saved,
        content: ContentID(high: 0, low: content ?? number), bytes: bytes, isProtected: protected)
}

@Suite("Thinning")
struct ThinningTests {
    /// A version every ten minutes for so long before now, oldest first; what is left of them, as ages.
    private func kept(for span: Int64, now: Int64) -> [Int64] {
        let all = stride(from: now - span, through: now, by: 600 * Int(second)).enumerated()
            .map { candidate($1, UInt64($0)) }
        let gone = Set(Thinning.surplus(all, now: now))
        return all.filter { !gone.contains($0) }.map { now - $0.saved }
    }

    @Test("all for an hour, one an hour for a day, one a day for a month, one a week after")
    func tiers() {
        let kept = kept(for: 100 * day, now: 700 * day)
        #expect(kept.filter { $0 <= hour }.count == 7)
        let hourly = kept.filter { $0 > 2 * hour && $0 < day }
        #expect((21...23).contains(hourly.count))
        let daily = kept.filter { $0 > 2 * day && $0 < 30 * day }
        #expect((27...29).contains(daily.count))
        let weekly = kept.filter { $0 > 37 * day }
        #expect((8...10).contains(weekly.count))
        for (older, newer) in zip(weekly, weekly.dropFirst()) { #expect(older - newer == 7 * day) }
    }

    @Test("an item alone in its hour, day and week is kept for ever")
    func alone() {
        #expect(Thinning.surplus([candidate(0, 1), candidate(70 * day, 2)], now: 9000 * day) == [])
    }

    @Test("items do not thin one another, and what is protected stays")
    func items() {
        let other = ItemID(high: 0, low: 2)
        let all = [
            candidate(0, 1), candidate(1, 2, protected: true), candidate(2, 3), candidate(3, 4),
            candidate(1, 5, item: other),
        ]
        #expect(Thinning.surplus(all, now: 100 * day).map(\.version.low) == [1, 3])
    }

    @Test("however often it runs, the same versions are left", arguments: 0..<30)
    func composes(round: Int) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(state: seed)
        var all: [Thinning.Candidate] = []
        for number in 0..<UInt64(200) {
            let scale = [hour, day, 30 * day, 400 * day].randomElement(using: &generator) ?? day
            let saved = Int64.random(in: -scale...scale, using: &generator)
            let item = ItemID(high: 0, low: UInt64.random(in: 0..<3, using: &generator))
            let protected = Int.random(in: 0..<10, using: &generator) == 0
            all.append(candidate(saved, number, item: item, protected: protected))
        }
        var left = all
        var now = 400 * day
        for _ in 0..<20 {
            now += Int64.random(in: 0...(20 * day), using: &generator)
            let gone = Set(Thinning.surplus(left, now: now))
            left.removeAll { gone.contains($0) }
            #expect(Thinning.surplus(left, now: now) == [], "idempotent, seed \(seed)")
            let direct = Set(all).subtracting(Thinning.surplus(all, now: now))
            #expect(Set(left) == direct, "seed \(seed)")
        }
        #expect(all.filter(\.isProtected).allSatisfy(left.contains))
    }

    @Test("beyond the share the oldest go, until the rest fits, and shared contents count once")
    func share() {
        let all = [
            candidate(1, 1, content: 7), candidate(2, 2, protected: true), candidate(3, 3, content: 7), candidate(4, 4),
            candidate(5, 5),
        ]
        #expect(Thinning.excess(all, limit: 40) == [])
        #expect(Thinning.excess(all, limit: 39).map(\.version.low) == [1, 3])
        #expect(Thinning.excess(all, limit: 20).map(\.version.low) == [1, 3, 4])
        #expect(Thinning.excess(all, limit: 0).map(\.version.low) == [1, 3, 4, 5])
        #expect(Thinning.excess([candidate(1, 1, bytes: .max), candidate(2, 2, bytes: .max)], limit: 5) != [])
    }

    @Test("current, pinned, conflicts with their bases, and the bases of live actors are protected")
    func protection() {
        func version(_ number: UInt64, _ kind: VersionKind, base: UInt64? = nil, pinned: Bool = false) -> Version {
            Version(
                id: VersionID(high: 0, low: number), item: someItem, kind: kind,
                content: ContentID(high: 0, low: number),
                size: 1, modified: Timestamp(nanoseconds: 0), saved: Timestamp(nanoseconds: 0),
                time: HybridTime(wall: Timestamp(nanoseconds: 0), logical: 0), device: DeviceID(high: 0, low: 1),
                author: Author(userID: 0, user: "", program: "", process: 0),
                base: base.map { VersionID(high: 0, low: $0) },
                attributes: Attributes(mode: 0, owner: 0, group: 0), flags: pinned ? .pinned : [])
        }
        let versions = [
            version(1, .history), version(2, .history), version(3, .history, pinned: true),
            version(4, .conflict, base: 2), version(5, .current, base: 1), version(6, .history, base: 7),
        ]
        let kept = Thinning.protected(versions, bases: [VersionID(high: 0, low: 9)])
        #expect(kept.map(\.low).sorted() == [1, 2, 3, 4, 5, 9])
    }
}

@Suite("The clock of retention")
struct RetentionClockTests {
    private func wall(_ time: Int64) -> Timestamp { Timestamp(nanoseconds: time) }

    @Test("time passes as it is seen")
    func passes() {
        var clock = RetentionClock(wall: wall(1000 * day))
        for step in 1...100 as ClosedRange<Int64> { clock.advance(to: wall(1000 * day + step * hour), elapsed: hour) }
        #expect(clock.age(of: wall(1000 * day + 40 * hour)) == 60 * hour)
        #expect(clock.age(of: wall(2000 * day)) == 0)
        #expect(!clock.isPaused)
        #expect(clock.anchors.count == 1)
    }

    @Test("a clock set forward ages nothing and pauses; set right again it goes on")
    func forward() {
        var clock = RetentionClock(wall: wall(0))
        clock.advance(to: wall(hour), elapsed: hour)
        clock.advance(to: wall(1000 * day), elapsed: hour)
        #expect(clock.isPaused)
        #expect(clock.age(of: wall(0)) == 2 * hour)
        #expect(clock.age(of: wall(1000 * day)) == 0)
        clock.advance(to: wall(3 * hour), elapsed: hour)
        #expect(!clock.isPaused)
        #expect(clock.age(of: wall(0)) == 3 * hour)
    }

    @Test("a clock set back keeps nothing for ever, and a calm day ends the pause")
    func back() {
        var clock = RetentionClock(wall: wall(1000 * day))
        clock.advance(to: wall(1000 * day + hour), elapsed: hour)
        clock.advance(to: wall(10 * day), elapsed: hour)
        #expect(clock.isPaused)
        #expect(clock.age(of: wall(10 * day)) == 0)
        for step in 1...24 as ClosedRange<Int64> { clock.advance(to: wall(10 * day + step * hour), elapsed: hour) }
        #expect(!clock.isPaused)
        #expect(clock.age(of: wall(10 * day)) == day)
        #expect(clock.age(of: wall(1000 * day)) <= day + 2 * hour)
    }

    @Test("time unmounted counts up to a day, and backwards it pauses")
    func unmounted() {
        var clock = RetentionClock(wall: wall(100 * day))
        clock.advance(to: wall(100 * day + 5 * hour), elapsed: nil)
        #expect(clock.seen == 5 * hour)
        clock.advance(to: wall(400 * day), elapsed: nil)
        #expect(clock.seen == day + 5 * hour)
        #expect(!clock.isPaused)
        #expect(clock.age(of: wall(100 * day)) == day + 5 * hour)
        clock.advance(to: wall(0), elapsed: nil)
        #expect(clock.isPaused)
        clock.resume()
        #expect(!clock.isPaused)
    }

    @Test("whatever the clock does, nothing grows younger or older than what was seen, and nothing overflows")
    func random() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(state: seed)
        for _ in 0..<50 {
            let start = Int64.random(in: -1000...1000, using: &generator) * day
            var clock = RetentionClock(wall: wall(start))
            for _ in 0..<400 {
                let elapsed = Int64.random(in: 0...(2 * day), using: &generator)
                let now =
                    Int.random(in: 0..<10, using: &generator) == 0
                    ? Int64.random(in: Int64.min...Int64.max, using: &generator)
                    : clock.wall.advanced(byNanoseconds: elapsed).nanoseconds
                let before = clock.seen
                clock.advance(to: wall(now), elapsed: Bool.random(using: &generator) ? elapsed : nil)
                #expect(clock.seen >= before && clock.seen - before <= 2 * day, "seed \(seed)")
                let moment = wall(Int64.random(in: Int64.min...Int64.max, using: &generator))
                let age = clock.age(of: moment)
                #expect(age >= 0 && age <= clock.seen, "seed \(seed)")
            }
        }
    }
}
