// A world for people.

import Lineage
import VersionModel

extension World: CustomStringConvertible {
    public var description: String {
        var lines = facts.rows.map { row in
            "  row \(row.number) \(row.place) "
                + (row.file.map { "file \($0.number) of document \(row.document)" } ?? "free") + " \(row.how)"
                + (row.from.map { " from \($0)" } ?? "") + (row.isContinuing ? " continuing" : "")
                + (row.maker.map { " made up by \($0)" } ?? "") + (row.isParted ? " parted" : "")
                + (row.origin.map { " origin \($0)" } ?? "")
        }
        lines += facts.versions.map { version in
            "  version \(version.number) row \(version.row) \(version.fingerprint.letters) in file "
                + "\(version.content.file.number).\(version.content.generation)"
                + (version.author.map { " by \($0)" } ?? "") + (version.base.map { " base \($0)" } ?? "")
                + (version.parents.first.map { " parent \($0)" } ?? "")
                + (version.parents.second.map { " and \($0)" } ?? "")
                + (version.loser.map { " loser \($0)" } ?? "")
                + (version.beside == .no ? "" : " beside: \(version.beside)")
                + (version.isForgotten ? " forgotten" : "")
        }
        lines += disk.names.map { "  \($0.place): file \($0.file.number)" }
        lines += disk.files.map { "  file \($0.id.number): \($0.content.letters)" }
        lines += disk.objects.map { "  object \($0.content.file.number).\($0.content.generation): \($0.bytes.letters)" }
        lines += memory.files.map { file in
            "  file \(file.id.number).\(file.generation)" + (file.isChanged ? " changed" : "")
                + (file.isKept ? " kept" : "")
                + (file.holds.map { " holds \($0)" } ?? "")
        }
        lines += memory.handles.map { handle in
            "  \(handle.number) of \(handle.actor): file \(handle.file.number) \(handle.mode)"
                + (handle.isUnseen ? " unseen" : "") + (handle.isDirty ? " dirty" : "")
                + (handle.isClosed ? " closed" : "")
                + (handle.saved.map { " saved \($0)" } ?? "")
        }
        return lines.joined(separator: "\n")
    }
}
