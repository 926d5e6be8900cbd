// Names of versions, of deleted things, bounced names, and the times in them.

import Foundation
import Testing
import VersionModel

private func name(_ text: String) throws -> FileName { try #require(FileName(text)) }
private let moment = Timestamp(seconds: 1_795_257_192, nanoseconds: 345_678_901)

@Suite("Times as text")
struct CivilTimeTests {
    @Test("a moment has its stamp and its RFC 3339 form, and is read back from both")
    func forms() {
        #expect(moment.rfc3339 == "2026-11-21T10:33:12.345678901Z")
        #expect(moment.stamp == "2026-11-21T10.33.12.345Z")
        #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
        #expect(Timestamp(stamp: moment.stamp) == Timestamp(seconds: 1_795_257_192, nanoseconds: 345_000_000))
        #expect(Timestamp(rfc3339: "2026-11-21 11:33:12+01:00") == Timestamp(seconds: 1_795_257_192, nanoseconds: 0))
        #expect(
            Timestamp(rfc3339: "2024-02-29T00:00:00.5Z") == Timestamp(seconds: 1_709_164_800, nanoseconds: 500_000_000))
        #expect(Timestamp(nanoseconds: -1).rfc3339 == "1969-12-31T23:59:59.999999999Z")
    }

    @Test(
        "what is no time is refused",
        arguments: [
            "", "2026-11-21", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-06-31T00:00:00Z",
            "2026-11-21T24:00:00Z",
            "2026-11-21T10:33:60Z", "2026-11-21T10:33:12", "2026-11-21T10:33:12.Z", "2026-11-21T10:33:12.1234567890Z",
            "2026-11-21T10:33:12Zx", "9999-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "2026-11-21T10:33:12+25:00",
            "２026-11-21",
        ])
    func refused(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
        #expect(Timestamp(stamp: text) == nil)
    }

    @Test("the calendar agrees with another one, over all years there are")
    func calendar() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(state: seed)
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -9_223_372_036...9_223_372_035, using: &generator)
            let time = CivilTime(Timestamp(nanoseconds: seconds * 1_000_000_000))
            let date = Date(timeIntervalSince1970: Double(seconds))
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let ours = [time.year, time.month, time.day, time.hour, time.minute, time.second].map { Int($0) }
            let theirs = [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second].map { $0 ?? 0 }
            #expect(ours == theirs, "seed \(seed)")
            #expect(time.timestamp == Timestamp(nanoseconds: seconds * 1_000_000_000))
        }
        for extreme in [Int64.min, Int64.max, 0] {
            #expect(CivilTime(Timestamp(nanoseconds: extreme)).timestamp == Timestamp(nanoseconds: extreme))
        }
    }
}

@Suite("Names of versions")
struct VersionFileNameTests {
    private let version = VersionID(high: 0x0123_4567_89AB_CDEF, low: 5)

    @Test("a name has stamp, device, id and the document's extension, and is read back")
    func format() throws {
        let made = VersionFileName(
            version: version, saved: moment, device: "Ada's laptop!", document: try name("f.txt"))
        #expect(made.name?.description == "2026-11-21T10.33.12.345Z_Ada-s-laptop_0123456789ab.txt")
        let text = try #require(made.name)
        let read = try #require(VersionFileName(text))
        #expect(read.bytes == made.bytes)
        #expect(read.id == version.short)
        let plain = VersionFileName(version: version, saved: moment, device: "a", document: try name(".profile"))
        #expect(plain.name?.description == "2026-11-21T10.33.12.345Z_a_0123456789ab")
        let other = try #require(plain.name)
        #expect(VersionFileName(other)?.id == version.short)
        #expect(VersionFileName(other)?.fileExtension == nil)
    }

    @Test(
        "device names become letters, digits and hyphens, at most 32",
        arguments: [
            ("", "device"), ("---", "device"), ("büro", "b--ro"), ("a_b.c", "a-b-c"),
            (String(repeating: "x", count: 40), String(repeating: "x", count: 32)), ("日本", "device"),
        ])
    func labels(device: String, label: String) {
        #expect(VersionFileName.label(device) == label)
        #expect(VersionFileName.label(label) == label)
    }

    @Test(
        "other names are not read",
        arguments: [
            "f.txt", "2026-11-21T10.33.12.345Z_a_0123456789ab.", "2026-11-21T10.33.12.345Z_a_0123456789AB.txt",
            "2026-11-21T10.33.12.345Z__0123456789ab.txt", "2026-11-21T10.33.12.345Z_a_0123456789abx",
            "2026-11-21T10.33.12.345Z_a_0123456789ab.t_t", "2026-11-31T10.33.12.345Z_a_0123456789ab",
            "2026-11-21T10.33.12.345Z_a_0123456789ab.12345678901234567", "2026-11-21T10.33.12.345Z_a_b_0123456789ab",
        ])
    func others(text: String) throws {
        #expect(VersionFileName(try name(text)) == nil)
    }

    @Test("an older deleted entry carries its stamp, and a long name is cut to fit")
    func deleted() throws {
        let older = DeletedFileName.older(try name("a@b.txt"), deleted: moment)
        #expect(older.description == "a@b.txt@2026-11-21T10.33.12.345Z")
        #expect(DeletedFileName.parse(older)?.name.description == "a@b.txt")
        #expect(DeletedFileName.parse(try name("a@b.txt")) == nil)
        let long = DeletedFileName.older(try name(String(repeating: "ä", count: 127)), deleted: moment)
        #expect(long.bytes.count <= 255)
        #expect(!long.description.contains("\u{FFFD}"))
    }
}

@Suite("Bounced names")
struct BouncedNameTests {
    @Test(
        "the number goes before the extension and counts on",
        arguments: [
            ("abc.txt", "abc 2.txt"), ("abc 2.txt", "abc 3.txt"), ("archive.tar.gz", "archive 2.tar.gz"),
            ("archive 9.tar.zst", "archive 10.tar.zst"), (".profile", ".profile 2"), (".profile 2", ".profile 3"),
            (".config.json", ".config 2.json"), ("abc", "abc 2"), ("abc 1.txt", "abc 1 2.txt"),
            ("abc 02.txt", "abc 02 2.txt"),
            ("abc2.txt", "abc2 2.txt"), ("v1. final draft", "v1. final draft 2"), (" 2.txt", " 2 2.txt"),
            ("2.txt", "2 2.txt"),
            (".tar.gz", ".tar 2.gz"), ("a 99999999999.txt", "a 99999999999 2.txt"), ("x.", "x. 2"),
        ])
    func names(from: String, to: String) throws {
        #expect(BouncedName.next(after: try name(from)) { _ in false }?.description == to)
    }

    @Test("taken names are passed over, and long ones cut")
    func taken() throws {
        let taken = Set(try ["abc 2.txt", "abc 3.txt"].map { try name($0) })
        #expect(BouncedName.next(after: try name("abc.txt"), isTaken: taken.contains)?.description == "abc 4.txt")
        let umlauts = try name(String(repeating: "ä", count: 125) + ".txt")
        let long = try #require(BouncedName.next(after: umlauts) { _ in false })
        #expect(long.bytes.count <= 255)
        #expect(long.description.hasSuffix("ä 2.txt"))
        let raw = try #require(FileName(bytes: [UInt8](repeating: 0xBF, count: 255)))
        #expect(BouncedName.next(after: raw) { _ in false }?.bytes.count ?? 999 <= 255)
    }
}
