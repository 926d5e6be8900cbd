// Kept contents that a power cut has left in parts, before anything is settled.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Looks at the contents that were kept of late.
///
/// | a content that lacks bytes of a version | |
/// |---|---|
/// | and whose file has them | goes: the copy was being made, and nothing was changed yet |
/// | and says that this is all | is whole: the version was amended before it was kept |
/// | else | is what there is of the version, which is marked as unfinished (``Lineage/Label/isPart``) |
struct TornObjects {
    let disk: SettledTree
    let kept: KeptObjects

    private var facts: FactStore { kept.facts }
    private var bytes: VersionBytes { VersionBytes(facts: facts) }

    /// - Returns: those of which only a part is left.
    func settle(_ contents: Set<Content>) throws(Errno) -> Set<Content> {
        let log = facts.facts()
        var parts: Set<Content> = []
        for content in contents.sorted(by: { ($0.file, $0.generation) < ($1.file, $1.generation) }) {
            let versions = log.versions(in: content).filter { !$0.isForgotten }
            guard log.failure == nil else { throw .ioError }
            // Of what no fact tells, it says what it is to have.
            let wanted = versions.isEmpty ? kept.stated(content) : versions
            guard !wanted.isEmpty, let object = try kept.open(content) else { continue }
            let torn = try torn(wanted, object)
            if torn.isEmpty { continue }
            if let live = try disk.find(content.file, kept, [content]), try has(live.file, wanted) {
                kept.drop(content)
                continue
            }
            parts.insert(content)
            if !versions.isEmpty { try amend(torn, object) }
        }
        return parts
    }

    private func torn(_ versions: [VersionRow], _ object: SharedDescriptor) throws(Errno) -> [VersionRow] {
        let size = try Backing.stat(object.raw).size
        var torn: [VersionRow] = []
        for version in versions where try !bytes.begins(object.raw, size, with: version) {
            let stated = kept.stated(version.content).first { $0.number == version.number }
            let isStated = try stated.map { (stated) throws(Errno) in
                try bytes.begins(object.raw, size, with: stated)
            }
            if !(isStated ?? false) { torn.append(version) }
        }
        return torn
    }

    private func has(_ file: SharedDescriptor, _ versions: [VersionRow]) throws(Errno) -> Bool {
        let size = try Backing.stat(file.raw).size
        for version in versions where try !bytes.begins(file.raw, size, with: version) { return false }
        return true
    }

    private func amend(_ versions: [VersionRow], _ object: SharedDescriptor) throws(Errno) {
        let size = try Backing.stat(object.raw).size
        var told = FactTransaction(
            versions.map { version in
                var amended = version
                let left = min(size, version.fingerprint.size)
                amended.fingerprint = left > FileLooks.hashedAtOnce
                    ? .unknown(left, in: version.content, modified: version.modified)
                    : bytes.beginning(of: object.raw, left) ?? .unknown(
                        left, in: version.content, modified: version.modified)
                return .amend(amended)
            })
        for version in versions { told.changes.append(.marks(version.number, added: .unfinished, removed: [])) }
        facts.commit(told)
    }
}
