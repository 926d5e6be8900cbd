// What presenters are asked: the table of the reference, cell by cell.

import Testing
import VersionModel

@testable import Coordination

@Suite struct PresenterRulesTests {
    /// Of an operation: what presenters of the item, of a package around it, of something in it and of a plain
    /// directory
    /// around it are asked. R relinquish to a reader, W to a writer, S save, D accommodate the deletion, d the
    /// deletion of
    /// something in it; in brackets what is asked only for a batch, or of those who want to be asked.
    static let table: [(kind: AccessKind, same: String, package: String, inside: String, directory: String)] = [
        (.reading([]), "RS", "RS", "(RS)", ""),
        (.reading(.resolvesSymbolicLink), "RS", "RS", "(RS)", ""),
        (.reading(.withoutChanges), "R", "R", "(R)", ""),
        (.reading(.immediatelyAvailableMetadataOnly), "RS", "RS", "(RS)", ""),
        (.reading([.immediatelyAvailableMetadataOnly, .withoutChanges]), "R", "R", "(R)", ""),
        (.reading(.forUploading), "RS", "RS", "(RS)", ""),
        (.writing(.updating), "W", "W", "(W)", ""),
        (.writing(.contentIndependentMetadataOnly), "W", "W", "(W)", ""),
        (.writing(.forMerging), "WS", "WS", "(WS)", ""),
        (.writing(.forMoving), "W", "W", "W", ""),
        (.writing(.forDeleting), "WD", "Wd", "WD", "(d)"),
        (.writing(.forReplacing), "WD", "Wd", "WD", "(d)"),
    ]

    private func letters(_ questions: [Question], _ path: TreePath) -> String {
        questions.map {
            switch $0 {
            case .relinquish(toWriter: false): "R"
            case .relinquish(toWriter: true): "W"
            case .save: "S"
            case .accommodateDeletion: "D"
            case .accommodateSubitemDeletion(path): "d"
            case .accommodateSubitemDeletion: "?"
            }
        }.joined()
    }

    @Test("every kind, every relation") func everyCell() {
        for row in Self.table {
            let access = Access(path: path("d/p.pack/x"), kind: row.kind)
            let cells: [(PresenterRelation, String)] = [
                (.same, row.same), (.packageAround, row.package), (.inside, row.inside),
                (.directoryAround, row.directory), (.unrelated, ""),
            ]
            for (relation, cell) in cells {
                for isAskedForMore in [false, true] {
                    let expected = isAskedForMore || !cell.hasPrefix("(") ? cell.filter { !"()".contains($0) } : ""
                    let questions = PresenterRules.questions(
                        for: access, to: relation, accommodatesSubitems: isAskedForMore, preparing: isAskedForMore)
                    #expect(letters(questions, access.path) == expected, "\(row.kind), \(relation)")
                }
            }
        }
        #expect(Set(Self.table.map(\.kind)).isSuperset(of: allAccessKinds))
    }

    @Test("where nothing has the name, nobody is asked whether it may go") func freeNames() {
        for relation in PresenterRelation.allCases {
            for kind in [AccessKind.writing(.forDeleting), .writing(.forReplacing)] {
                let access = Access(path: path("d/new"), kind: kind, isOfFreeName: true)
                let questions = PresenterRules.questions(
                    for: access, to: relation, accommodatesSubitems: true, preparing: true)
                let isAsked = relation != .unrelated && relation != .directoryAround
                #expect(questions == (isAsked ? [.relinquish(toWriter: true)] : []), "\(kind), \(relation)")
            }
        }
    }

    @Test("how presenters lie to an item") func relations() {
        let packages = Packages(extensions: ["pack"])
        let access = Access(path: path("d/p.pack/q.pack/x"), item: ItemID(high: 0, low: 1), kind: .reading([]))
        func relation(_ text: String, _ item: ItemID? = nil) -> PresenterRelation {
            PresenterRules.relation(of: path(text), item, to: access, packages)
        }
        #expect(relation("d/p.pack/q.pack/x") == .same)
        #expect(relation("elsewhere", ItemID(high: 0, low: 1)) == .same)
        #expect(relation("d/p.pack/q.pack") == .packageAround)
        #expect(relation("d/p.pack") == .packageAround)
        #expect(relation("d") == .directoryAround)
        #expect(relation("") == .directoryAround)
        #expect(relation("d/p.pack/q.pack/x/y") == .inside)
        #expect(relation("d/p.pack/q.pack/y") == .unrelated)
        #expect(relation("d/p.pac") == .unrelated)
    }

    @Test("a claim on many items asks each thing once, in the order of the rule") func manyItems() {
        let accesses = [
            Access(path: path("a"), kind: .reading([])), Access(path: path("a"), kind: .writing(.forDeleting)),
            Access(path: path("b"), kind: .writing(.forMerging)),
        ]
        let asked = PresenterRules.questions(
            for: accesses, to: { _ in .same }, accommodatesSubitems: false, preparing: false)
        #expect(asked == [.relinquish(toWriter: true), .save, .accommodateDeletion])
    }
}
