// What is published, and what it names.

import Lineage
import VersionModel

extension World {
    /// Names that are only in memory, and what they were made for, are no concern of what everyone sees.
    func publicityProblems() -> [String] {
        hasUnpublishedName ? partlyPublishedProblems() + danglingProblems() + forgottenProblems() : []
    }

    /// Most worlds never had one.
    var hasUnpublishedName: Bool { facts.rows.contains { $0.maker != nil && $0.file != nil } }

    /// A document is public with all its rows, or with none.
    private func partlyPublishedProblems() -> [String] {
        facts.rows.compactMap { row in
            guard row.maker != nil, row.file != nil else { return nil }
            let isPublic = facts.rows.contains {
                $0.document == row.document && $0.file != nil && $0.maker == nil
            }
            return isPublic ? "row \(row.number) of a published document is not" : nil
        }
    }

    /// No published row or version names an unpublished one: a crash takes that away.
    private func danglingProblems() -> [String] {
        var problems: [String] = []
        for row in facts.rows where facts.isTold(row) {
            var rows = [row.from]
            if row.file != nil { rows.append(RowNumber(row.document.number)) }
            if case .movedAway(let next) = row.how { rows.append(next) }
            for named in rows {
                if let named, !(facts[named].map(facts.isTold) ?? false) {
                    problems.append("row \(row.number) names row \(named), which is not published")
                }
            }
            if let origin = row.origin, !isTold(origin) {
                problems.append("row \(row.number) names version \(origin), which is not published")
            }
        }
        for version in facts.versions where facts.isTold(version) {
            let named = [version.base, version.parents.first, version.parents.second, version.loser]
            for named in named.compactMap({ $0 }) where !isTold(named) {
                problems.append("version \(version.number) names version \(named), which is not published")
            }
        }
        return problems
    }

    /// A version that nobody sees has a name by which its program finds it, or it is gone: what is kept of it would
    /// stay for ever.
    private func forgottenProblems() -> [String] {
        facts.versions.compactMap { version in
            guard !version.isForgotten, !facts.isTold(version), let document = facts.document(of: version),
                !facts.hasName(document)
            else { return nil }
            return "version \(version.number) is of a made-up name that is gone"
        }
    }

    private func isTold(_ version: VersionNumber) -> Bool { facts[version].map(facts.isTold) ?? false }
}

extension Facts {
    /// The facts that everyone sees.
    var published: Facts {
        var published = Facts()
        var purges = purged[...]
        func purge(until number: UInt64) {
            while let next = purges.first, next.last < number {
                published.apply(.purge(next.removal))
                purges.removeFirst()
            }
        }
        var rows = rows.filter(isTold)[...]
        for version in versions.filter(isTold) {
            while let row = rows.first, row.number.number < version.number.number {
                purge(until: row.number.number)
                published.apply(.row(row))
                rows.removeFirst()
            }
            purge(until: version.number.number)
            published.apply(.version(version))
        }
        for row in rows {
            purge(until: row.number.number)
            published.apply(.row(row))
        }
        purge(until: .max)
        for version in settled where published[version] != nil { published.apply(.settle(version)) }
        return published
    }
}
