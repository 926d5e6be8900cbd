// The presenters that a claim concerns, and their questions before the claim is granted.

import VersionModel

/// A question to a presenter. It must answer, or it is skipped.
public enum Question: Hashable, Sendable {
    /// Do not use the item until the reacquire.
    case relinquish(toWriter: Bool)
    /// Write all unsaved changes.
    case save
    /// Make the deletion of the item possible: for instance, close it.
    case accommodateDeletion
    /// The same for an item at this path in the presented package or directory.
    case accommodateSubitemDeletion(TreePath)
}

/// The relation of a presenter's item to a claimed item.
public enum PresenterRelation: Hashable, Sendable, CaseIterable {
    case same
    /// It presents a package around the item.
    case packageAround
    /// It presents a plain directory around the item.
    case directoryAround
    /// It presents an item inside the claimed one.
    case inside
    case unrelated
}

/// The table of questions to presenters (reference: Apple's), and their order for one presenter: relinquish, then save
/// or accommodate.
public enum PresenterRules {
    /// The questions to a presenter for one access.
    /// - Parameters:
    ///   - accommodatesSubitems: whether a presenter of a plain directory gets questions about items in it.
    ///   - preparing: whether the access is part of a prepared batch: then presenters of items inside it are asked as
    ///     well, once for all following accesses.
    public static func questions(
        for access: Access, to relation: PresenterRelation, accommodatesSubitems: Bool = false, preparing: Bool = false
    ) -> [Question] {
        switch relation {
        case .unrelated: return []
        case .directoryAround:
            let isDeletion = access.kind == .writing(.forDeleting) || access.kind == .writing(.forReplacing)
            guard isDeletion, accommodatesSubitems, !access.isOfFreeName else { return [] }
            return [.accommodateSubitemDeletion(access.path)]
        case .same, .packageAround: break
        case .inside:
            // A deletion or a move affects the contents; a read or a write does only in a batch.
            guard preparing || access.kind.strength == .takesTree else { return [] }
        }
        switch access.kind {
        case .reading(let options):
            return [.relinquish(toWriter: false)] + (options.contains(.withoutChanges) ? [] : [.save])
        case .writing(.updating), .writing(.contentIndependentMetadataOnly), .writing(.forMoving):
            return [.relinquish(toWriter: true)]
        case .writing(.forMerging):
            return [.relinquish(toWriter: true), .save]
        case .writing(.forDeleting), .writing(.forReplacing):
            // A missing item cannot be deleted.
            if access.isOfFreeName { return [.relinquish(toWriter: true)] }
            let isAround = relation == .packageAround
            return [
                .relinquish(toWriter: true), isAround ? .accommodateSubitemDeletion(access.path) : .accommodateDeletion,
            ]
        }
    }

    /// The questions to a presenter for all accesses of a claim: each once, in the order of the rules.
    static func questions(
        for accesses: [Access], to relation: (Access) -> PresenterRelation, accommodatesSubitems: Bool, preparing: Bool
    ) -> [Question] {
        let all = accesses.flatMap {
            questions(for: $0, to: relation($0), accommodatesSubitems: accommodatesSubitems, preparing: preparing)
        }
        var asked: [Question] = []
        if all.contains(.relinquish(toWriter: true)) {
            asked.append(.relinquish(toWriter: true))
        } else if all.contains(.relinquish(toWriter: false)) {
            asked.append(.relinquish(toWriter: false))
        }
        if all.contains(.save) { asked.append(.save) }
        for question in all where !asked.contains(question) {
            if case .relinquish = question { continue }
            asked.append(question)
        }
        return asked
    }

    /// The relation of a presenter's item to an access.
    static func relation(
        of presented: TreePath, _ item: ItemID?, to access: Access, _ packages: Packages
    ) -> PresenterRelation {
        if presented == access.path { return .same }
        if let item, item == access.item { return .same }
        if presented.isWithin(access.path) { return .inside }
        guard access.path.isWithin(presented) else { return .unrelated }
        guard let name = presented.name, packages.isPackage(name) else { return .directoryAround }
        return .packageAround
    }
}
