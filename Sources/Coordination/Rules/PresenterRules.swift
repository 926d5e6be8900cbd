// Which presenters a claim concerns, and what each is asked before the claim is granted.

import VersionModel

/// What a presenter is asked. It answers each, or its lease ends.
public enum Question: Hashable, Sendable {
    /// To leave the item alone until it hears that it has it back.
    case relinquish(toWriter: Bool)
    /// To write what it has not written yet.
    case save
    /// To make the deletion of its item possible: to close it, for instance.
    case accommodateDeletion
    /// The same of an item in the package or directory that it presents, which is here.
    case accommodateSubitemDeletion(TreePath)
}

/// How a presenter's item lies to what a claim is on.
public enum PresenterRelation: Hashable, Sendable, CaseIterable {
    case same
    /// It presents a package that the item lies in.
    case packageAround
    /// It presents a plain directory that the item lies in.
    case directoryAround
    /// It presents something in the item.
    case inside
    case unrelated
}

/// The table of what presenters are told (reference: Apple's), and the order for one presenter: relinquish, then save
/// or accommodate.
public enum PresenterRules {
    /// What a presenter is asked for one access.
    /// - Parameters:
    ///   - accommodatesSubitems: whether a presenter of a plain directory wants to be asked about what is in it.
    ///   - preparing: whether the access is one of a batch that is being prepared: then whoever presents something in
    ///     the item is asked as well, once for all that follow.
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
            // What is deleted or moved takes along what is in it; of a read or a write only a batch does.
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
            // Nothing goes where nothing is.
            if access.isOfFreeName { return [.relinquish(toWriter: true)] }
            let isAround = relation == .packageAround
            return [
                .relinquish(toWriter: true), isAround ? .accommodateSubitemDeletion(access.path) : .accommodateDeletion,
            ]
        }
    }

    /// What a presenter is asked for all accesses of a claim: each thing once, in the order of the rule.
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

    /// How a presenter of an item lies to an access.
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
