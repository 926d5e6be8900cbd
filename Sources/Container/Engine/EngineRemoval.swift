// Versions and entries of the deleted list go for good over the engine, with the contents that no version has then.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Has the rules forget things, and removes contents behind that.
struct EngineRemoval: Sendable {
    let engine: Engine
    let kept: KeptObjects
    let passthrough: Passthrough
    let use: DeletedUse

    private var facts: FactStore { kept.facts }

    // MARK: Versions

    /// Versions of a document go, as far as nothing needs them: no name, no user and no program that runs.
    func drop(_ versions: [VersionNumber], of document: DocumentNumber) throws(Errno) -> [VersionRow] {
        var (going, pinned) = (versions, [VersionNumber]())
        while !going.isEmpty {
            do throws(Errno) {
                let plan = try engine.performPlainly(.drop(document, going, sparesBases: true)) { () throws(Errno) in
                    // A pin takes the document, too: there is none from here on.
                    pinned = try self.pinned(among: going, of: document)
                    if !pinned.isEmpty { throw .canceled }
                }
                return forgotten(by: plan)
            } catch {
                guard error == .canceled, !pinned.isEmpty else { throw error }
                going.removeAll { pinned.contains($0) }
            }
        }
        return []
    }

    private func pinned(
        among versions: [VersionNumber], of document: DocumentNumber
    ) throws(Errno) -> [VersionNumber] {
        do throws(StoreError) {
            guard try facts.lists.countOfPinned(in: document) > 0 else { return [] }
            var pinned: [VersionNumber] = []
            for version in versions where try facts.detail(of: version)?.marks.contains(.pinned) ?? false {
                pinned.append(version)
            }
            return pinned
        } catch { throw .ioError }
    }

    func forgotten(by plan: Plan) -> [VersionRow] {
        let log = facts.facts()
        return plan.facts.compactMap { fact in
            if case .forget(let number) = fact { log.version(number) } else { nil }
        }
    }

    /// Contents go as far as no version has them that is left.
    /// - Parameter isCutting: whether of the others only that is left which versions have: that takes a copy.
    /// - Returns: the freed bytes.
    func release(_ gone: [VersionRow], isCutting: Bool = false) throws(Errno) -> UInt64 {
        var bytes: UInt64 = 0
        try engine.release(Set(gone.map(\.content))) { (content, left) throws(Errno) in
            if left.isEmpty { letGo(content) }
            if left.isEmpty || isCutting { bytes.addCapped(try kept.keepOnly(left, of: content)) }
        }
        return bytes
    }

    /// The kernel may have a file open for reading by itself, and would keep its blocks.
    private func letGo(_ content: Content) {
        let place = kept.custodian.state.contents.place(of: ContentID(content))
        guard let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue),
            let node = kept.custodian.nodes.node(stat.key)
        else { return }
        passthrough.drop(node)
    }

    // MARK: The deleted list

    /// An entry goes, and with the last one of a document its versions.
    /// - Returns: the freed bytes.
    func remove(_ entry: DeletedFact, isCutting: Bool = false) throws(Errno) -> UInt64 {
        let size = use.size(of: entry)
        let plan = try engine.performPlainly(.purge(entry.number))
        var bytes: UInt64 = 0
        if entry.detail.isEntry, let id = facts.id(ofDeletion: entry.number, entry.detail) {
            bytes = kept.custodian.state.deletedArea.allocated(id)
            kept.custodian.drop(id)
        }
        bytes.addCapped(try release(forgotten(by: plan), isCutting: isCutting))
        use.subtract(size)
        return bytes
    }
}
