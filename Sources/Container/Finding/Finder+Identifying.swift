// The things that ids stand for, as far as the caller may see them.

import VersionModel
import VersionStore

/// The thing that an id stands for.
public enum Identified: Sendable {
    case item(DocumentRecord)
    case version(Version, DocumentRecord)
    case deletion(Deletion)
}

extension Finder {
    /// Fewer would be tried through.
    private static let fewestDigits = 4
    /// So many of each kind are looked at: with more, there are too few digits.
    private static let mostCandidates: Int64 = 64

    /// The thing that an id, or the first digits of one (at least 4), stands for. A thing that the caller may not see
    /// does not answer: it is as if there was no such id.
    public func identified(by digits: String, as principal: Principal) throws(OperationError) -> Identified {
        try operation {
            let digits = try Self.digits(digits)
            let candidates = try history.named(byDigits: digits, limit: Self.mostCandidates)
            let found = candidates.compactMap { visible($0, principal) }
            guard let first = found.first else {
                throw OperationError(.notFound, "no version, item or deletion \(digits)")
            }
            guard found.count == 1 else {
                throw OperationError(.ambiguous, "\(found.count) ids begin with \(digits)", advice: "give more digits")
            }
            return first
        }
    }

    /// The version of a document with this id or these first digits.
    public func version(_ digits: String, of document: DocumentRecord) throws(OperationError) -> Version {
        let digits = try Self.digits(digits)
        let found = document.versions.filter { $0.id.hex.hasPrefix(digits) }
        guard let first = found.first else {
            throw OperationError(
                .notFound, "no version \(digits)", path: document.path,
                advice: "`versionsctl history` lists the versions")
        }
        guard found.count == 1 else {
            throw OperationError(
                .ambiguous, "\(found.count) versions begin with \(digits)", path: document.path,
                advice: "give more digits")
        }
        return first
    }

    private static func digits(_ text: String) throws(OperationError) -> String {
        let digits = text.lowercased()
        let isHex = digits.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        guard isHex, (fewestDigits...32).contains(digits.utf8.count) else {
            throw OperationError(
                .invalid, "an id is \(fewestDigits) to 32 hex digits: \(text.prefix(64))",
                advice: "`versionsctl history` and `versionsctl deleted` list ids")
        }
        return digits
    }

    private func visible(_ named: NamedByID, _ principal: Principal) -> Identified? {
        switch named {
        case .deletion(let deletion): return mayKnow(deletion, principal) ? .deletion(deletion) : nil
        case .item(let item):
            guard let document = try? document(item, as: principal),
                knowsAll(principal) || document.versions.isEmpty
                    || document.versions.contains(where: { mayRead($0, of: document, as: principal) })
            else { return nil }
            return .item(document)
        case .version(let version):
            guard let document = try? document(version.item, as: principal),
                knowsAll(principal) || mayRead(version, of: document, as: principal)
            else { return nil }
            return .version(version, document)
        }
    }
}
