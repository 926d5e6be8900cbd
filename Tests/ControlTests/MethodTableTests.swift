// The table of methods in docs/control-protocol.md: whoever writes a client in another language has nothing else.

import ControlProtocol
import Foundation
import Testing
import VersionModel

@Suite("The protocol's table of methods")
struct MethodTableTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/control-protocol.md")

    /// The names of a method's parameters, without what is in those: `{target, keep, seen?}`.
    private func documented(_ method: String) throws -> Set<String> {
        let lines = try String(contentsOf: Self.page, encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("| `\(method)` ") }, "no row for \(method)")
        let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        let cell = try #require(cells.count > 2 ? cells[2] : nil)
        guard let first = cell.firstIndex(of: "{") else { return [] }
        var (depth, text) = (0, "")
        for character in cell[first...] {
            if character == "}" { depth -= 1 }
            if depth == 1 { text.append(character) }
            if character == "{" { depth += 1 }
            if depth == 0 { break }
        }
        return Set(text.split(separator: ",").map { part in
            String(part.drop { $0 == " " }.prefix { $0.isLetter })
        })
    }

    private func expect<Request: ControlRequest>(_ request: Request) throws {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(request)) as? [String: Any]
        #expect(try documented(Request.method) == Set(object?.keys.map { $0 } ?? []), "\(Request.method)")
    }

    @Test("A request with all that it may have has what its row says, and nothing else")
    func parameters() throws {
        let (target, path) = (Target.path(Path("a")), Path("b"))
        let time = Timestamp(nanoseconds: 1)
        try expect(StatusRequest())
        try expect(ConflictsRequest(target))
        try expect(HistoryRequest(target))
        try expect(ShowRequest(target, version: "1", content: true))
        try expect(DeletedRequest(target))
        try expect(LogRequest(target, since: time, until: time, after: "f1.2"))
        try expect(SpaceRequest(target))
        try expect(ResolveRequest(target, keep: .current, seen: [.random()]))
        try expect(ResolveAllRequest(target))
        try expect(SimulateConflictRequest(target))
        try expect(RestoreRequest(target, version: "1", to: path))
        try expect(RestoreDirectoryRequest(target, at: time, before: "a", to: path))
        try expect(CompareDirectoryRequest(target, at: time, before: "a"))
        try expect(UndeleteRequest(target, to: path))
        try expect(PinRequest(target, version: "1", pinned: true))
        try expect(AddVersionRequest(target, contents: path))
        try expect(ThinRequest(dryRun: true))
        try expect(PurgeRequest(target, version: "1", force: true))
        try expect(PreviewPurgeRequest(target, version: "1", force: true))
        try expect(PurgeDeletedRequest(target, before: time, force: true))
        try expect(PreviewPurgeDeletedRequest(target, before: time, force: true))
        try expect(ForgetRequest(confirmed: true))
        try expect(CheckRequest(repair: true))
        try expect(ConfigRequest(key: "a"))
        try expect(SetConfigRequest(key: "a", value: "b"))
    }

    @Test("The same for those that go on")
    func lasting() throws {
        let (target, path) = (Target.path(Path("a")), Path("b"))
        try expect(WatchRequest(target, after: 1, depth: .item))
        try expect(UnwatchRequest(subscription: 1))
        try expect(QueryRequest(target, predicate: "a", live: true, after: 1))
        try expect(EndQueryRequest(query: 1))
        try expect(ClaimRequest(
            [], key: 1, purpose: "a", presenter: 1, within: [1], handling: 1, preparing: true))
        try expect(ReleaseRequest(claim: 1))
        try expect(CancelClaimRequest(key: 1))
        try expect(PresentRequest(path: path, accommodatesSubitems: true, after: 1, purpose: "a"))
        try expect(PlacePresenterRequest(presenter: 1, path: path))
        try expect(WithdrawRequest(presenter: 1))
        try expect(PresentersRequest())
    }
}
