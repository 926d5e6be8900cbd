// Saves: a changed file becomes a version, and the rules say what becomes of the one before (DESIGN 5.1, 6.1).

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// A save that is about to be recorded.
struct PendingSave {
    var kind: Save.Kind
    var isAppend = false
    var requester: Requester?
    /// The version that an earlier save through the same open made; it is amended.
    var amends: VersionID?
    /// The content that the file has already, if it had one of its own (a file renamed over another).
    var content: ContentID?
    var isSealed = false
    /// Rows that must not come without those of the save: they go into its transaction, before them.
    var accompanying: [VersionStore.Mutation] = []
    /// The same, behind them: rows that say where other versions have their contents once this one is current.
    var following: (inout Document.State) -> [VersionStore.Mutation] = { _ in [] }
    /// The file's hash of a moment ago.
    var known: (size: UInt64, modified: Timestamp, hash: [UInt8])?
}

extension LiveContainer {
    /// Appends within this time of one another amend one version.
    static let appendWindowNanoseconds: Int64 = 60_000_000_000
    /// Contents up to this size are hashed before the save is answered.
    static let hashedAtOnce: UInt64 = 1 << 20
    /// The same for what was there before anyone looked, when it is renamed.
    static let hashedOnLeaving: UInt64 = 64 << 10

    /// Records the file's content as a version if it differs from the current one.
    /// - Parameters:
    ///   - file: the file, open for reading.
    ///   - place: the directory and name the document is saved under.
    ///   - stat: the file as it is, if it was looked at under the document's lock.
    /// - Returns: the version that is current now.
    @discardableResult
    func save(
        _ state: inout Document.State, _ node: Node, in parent: Node, _ name: FileName, file: Int32,
        _ save: PendingSave,
        stat known: FileStat? = nil
    ) throws(Errno) -> VersionID? {
        var stat: FileStat
        if let known { stat = known } else { stat = try Backing.stat(file) }
        noteIgnoreFile(name, in: parent)
        guard state.isReturning || state.current == nil || state.differs(from: stat) else {
            record(parent, save.accompanying + save.following(&state))
            if save.isSealed { seal(&state) }
            return state.current?.id
        }
        if !isVersioned(&state, name, in: parent) {
            record(parent, save.accompanying + save.following(&state))
            state.stamp = Stamp(stat)
            return nil
        }
        // A file that may go without a trace is not read for its hash.
        let hash = state.isUnannounced && state.current == nil ? nil : hash(of: file, stat, save)
        if state.isMarked {
            state.isMarked = false
            // The written data may reach the disk after the file itself does.
            SaveMark.whole(file, size: stat.size, hash: hash, now: now).set(on: file)
            // Only the time of the attribute has changed, unless something else has too: then it is another save.
            if let after = try? Backing.stat(file), after.modified == stat.modified, after.size == stat.size {
                stat = after
            }
        }
        if canAmend(state, parent, name, save, stat) {
            amend(&state, parent, name, stat, hash, save)
        } else if let current = state.current {
            supersede(current, &state, node, parent, name, stat, hash, save, file: file)
        } else {
            first(&state, parent, name, stat, hash, save)
        }
        return state.current?.id
    }

    private func hash(of file: Int32, _ stat: FileStat, _ save: PendingSave) -> [UInt8]? {
        if let known = save.known, known.size == stat.size, known.modified == stat.modified { return known.hash }
        return stat.size <= Self.hashedAtOnce ? ContentHash.sha256(of: file, size: stat.size) : nil
    }

    private func canAmend(
        _ state: Document.State, _ parent: Node, _ name: FileName, _ save: PendingSave, _ stat: FileStat
    ) -> Bool {
        // A content that was given up for want of room, or as too big, is overwritten as well.
        guard let current = state.current, !state.isKept, !state.isReturning, !current.flags.contains(.contentLost)
        else { return false }
        if save.amends == current.id { return true }
        guard save.isAppend, let appended = state.appended, stat.size >= current.size else { return false }
        guard now.since(appended) <= Self.appendWindowNanoseconds, !current.flags.contains(.pinned) else {
            return false
        }
        return isAppendersOwn(current, state, save.requester) || policy.isNamedQuiet(path(of: name, in: parent))
    }

    /// Whether the appending program goes on with content that it has appended itself: the same process, or the same
    /// program with the same parent, as `date` in a loop. Content that others have appended is their version.
    private func isAppendersOwn(_ current: Version, _ state: Document.State, _ requester: Requester?) -> Bool {
        guard let requester, let actor = requester.actor, let saver = state.saver else { return false }
        if actor.ref == saver.ref { return true }
        let program = requester.author.program
        return !program.isEmpty && program == current.author.program && actor.hasParent(of: saver)
    }

    private func amend(
        _ state: inout Document.State, _ parent: Node, _ name: FileName, _ stat: FileStat, _ hash: [UInt8]?,
        _ save: PendingSave
    ) {
        guard var version = state.current else { return }
        let former = save.isAppend && stat.size >= version.size ? version.size : .max
        // A shell that made the file for a program has written nothing: the content is the program's.
        if version.size == 0, let requester = save.requester { version.author = requester.author }
        version.size = stat.size
        version.modified = stat.modified
        version.saved = now
        version.time = time.next()
        version.hash = hash
        version.attributes = Attributes(stat)
        if save.isSealed { version.flags.insert(.sealed) }
        state.current = version
        state.stamp = Stamp(stat)
        state.isAppendedTo = false
        if save.isAppend { state.appended = version.saved }
        guard state.isRecorded else { return record(parent, save.accompanying + save.following(&state)) }
        if let actor = save.requester?.actor {
            // A program that amends a version has saved it, too.
            state.saver = actor
            observers.saved(version.id, of: state.item, by: actor, now: version.saved)
        }
        record(save, version, &state, parent, name, stat, amending: former)
        hashLater(version)
    }

    /// Commits a version that has become the document's current one.
    /// - Parameter former: how long the version was that was amended, if only by appending; `.max` otherwise.
    private func record(
        _ save: PendingSave, _ version: Version, _ state: inout Document.State, _ parent: Node, _ name: FileName,
        _ stat: FileStat, before: VersionStore.Mutation? = nil, _ others: [VersionStore.Mutation] = [],
        behind: [VersionStore.Mutation] = [], amending former: UInt64? = nil
    ) {
        recordDirectories(parent)
        var rows: [VersionStore.Mutation] = []
        rows.reserveCapacity(save.accompanying.count + others.count + behind.count + 5)
        rows += save.accompanying
        rows += announcement(&state, in: parent, name, by: save.requester)
        rows += others
        if let before { rows.append(before) }
        rows.append(.version(version))
        if let row = itemRow(state, stat) { rows.append(row) }
        var event = change(.saved, in: parent, name, item: state.item, version: version.id, by: save.requester)
        event.detail.isComingBack = state.isBackUntold
        event.detail.amended = former
        state.isBackUntold = false
        rows.append(.change(event))
        rows += behind + save.following(&state)
        commit(rows)
    }

    /// The first version of a new document.
    private func first(
        _ state: inout Document.State, _ parent: Node, _ name: FileName, _ stat: FileStat, _ hash: [UInt8]?,
        _ save: PendingSave
    ) {
        let version = version(state.item, stat, hash, save, parents: state.origin.map { [$0] } ?? [], base: nil)
        let isAnnounced = state.maker?.hasMade != true
        install(version, &state, stat, save, isRecorded: isAnnounced)
        guard isAnnounced else { return record(parent, save.accompanying + save.following(&state)) }
        record(save, version, &state, parent, name, stat)
        hashLater(version)
    }

    /// The row of the change feed that tells of a document made a moment ago, once: its creation needs no record of its
    /// own. Until its first save it is a file like any that was there before us.
    func announcement(
        _ state: inout Document.State, in parent: Node, _ name: FileName, by requester: Requester?
    ) -> [VersionStore.Mutation] {
        guard let created = state.created else { return [] }
        state.created = nil
        var row = change(.created, in: parent, name, item: state.item, by: requester)
        row.time = created
        return [.change(row)]
    }

    /// The rows of a document that is work to keep after all, though it began under a name that a program made up.
    func publication(
        _ state: inout Document.State, in parent: Node, _ name: FileName, _ stat: FileStat, by requester: Requester
    ) -> [VersionStore.Mutation] {
        guard state.isUnannounced, let current = state.current else { return [] }
        state.isRecorded = true
        observers.saved(current.id, of: state.item, by: state.saver, now: current.saved)
        hashLater(current)
        let event = change(.saved, in: parent, name, item: state.item, version: current.id, by: requester)
        return [.version(current)] + itemRows(state, stat) + [.change(event)]
    }

    private func supersede(
        _ current: Version, _ state: inout Document.State, _ node: Node, _ parent: Node, _ name: FileName,
        _ stat: FileStat, _ hash: [UInt8]?, _ save: PendingSave, file: Int32
    ) {
        var current = current
        if current.hash == nil { current.hash = hashOfKept(current, state, save.isAppend ? file : nil) }
        let actor = save.requester?.actor
        let base = actor.flatMap { observers.base(of: $0, item: state.item) }
        let equals = hash != nil && current.hash == hash && current.size == stat.size
        let isLeftOut = base.map { $0 != current.id && !equals && self.isLeftOut(current, base: $0, state) } ?? false
        let decision = decide(
            Save(kind: save.kind, actor: actor, base: base, equalsCurrent: equals, isLoserLeftOut: isLeftOut),
            current, state, isQuiet: base != nil && base != current.id && isQuiet(parent, name))
        // Whatever it is called, it is saved over: it is a document like others.
        state.created = state.created ?? state.beginning
        var events: [VersionStore.Mutation] = []
        var loser = current
        switch decision {
        case .nothing: return saveUnchanged(current, &state, parent, name, stat, save)
        case .supersede, .orphan: loser.kind = .history
        case .conflict(let base):
            (loser.kind, loser.base) = (.conflict, base)
            events.append(
                .change(change(.conflict, in: parent, name, item: state.item, version: loser.id, by: save.requester)))
        }
        var sharing = save
        // A copy may be there from before this mount, made for a write that did not come.
        if !state.isKept, !state.isReturning, stat.size >= current.size, !store.contents.contains(current.content),
            // A program that replaces the file may be the first to close it after another has appended to it. Where no
            // hash tells: before it is written over, it is kept.
            save.isAppend || state.isAppendedTo && (current.hash == nil || begins(file, stat, with: current))
        {
            // A content stays the beginning of the file after an append: both versions name it, C its first bytes.
            sharing.content = current.content
        } else if !state.isKept, !state.isReturning {
            // A mapping may have changed unseen what was too big to be copied when it was opened.
            loser = withoutFile(loser)
        }
        // The losing version stays a head of its own; a conflict that the author carried on into this save does not.
        var parents: [VersionID] = if case .conflict(let base) = decision { [base] } else { [current.id] }
        var mutations: [VersionStore.Mutation] = []
        if save.kind == .replacing, let base, base != current.id, let row = settle(base, &state) {
            mutations.append(row)
            if !parents.contains(base) { parents.append(base) }
        }
        let version = version(
            state.item, stat, hash, sharing, parents: parents, base: base == current.id ? nil : base)
        if loser.kind == .conflict { custodian.relabel(loser) }
        state.siblings.add(loser)
        if loser.flags.contains(.contentLost) {
            events.append(.change(change(.versionLost, in: parent, name, item: state.item, version: loser.id, by: nil)))
        }
        install(version, &state, stat, sharing)
        // A renamed file may have a history of its own, which is in the file.
        state.sharesContent = sharing.content != nil
        state.conflict = loser.kind == .conflict ? .init(winner: version.id, loser: loser.id) : nil
        record(save, version, &state, parent, name, stat, before: .version(loser), mutations, behind: events)
        hashLater(version)
    }

    /// The file holds C again; a copy of it that was kept serves the next time it is displaced.
    private func saveUnchanged(
        _ current: Version, _ state: inout Document.State, _ parent: Node, _ name: FileName, _ stat: FileStat,
        _ save: PendingSave
    ) {
        var rows: [VersionStore.Mutation] = []
        // It has the version that it had, but the name was away: that was told.
        var event: [VersionStore.Mutation] = []
        if state.isReturning {
            var row = change(.saved, in: parent, name, item: state.item, version: current.id, by: save.requester)
            row.detail.isComingBack = state.isBackUntold
            event = [.change(row)]
        }
        state.isBackUntold = false
        state.stamp = Stamp(stat)
        state.current?.hash = current.hash
        if state.isReturning, !state.isKept {
            state.isKept = store.contents.contains(current.content)
            // Or else another item's file has it: this one's is a content of its own from now on.
            if !state.isKept { rows += ownContent(&state) }
        }
        state.isReturning = false
        // A content that was kept has a version that names it, also if nothing else has ever happened to the document.
        if state.isKept, !state.isRecorded, let current = state.current {
            state.isRecorded = true
            rows.append(.version(current))
        }
        // Later appends go on from the replacement.
        if save.kind == .replacing { state.appended = nil }
        // A program that was refused, and puts a copy of the content back, has still not seen it.
        if !isRefused(state, save.requester) {
            observers.saved(current.id, of: state.item, by: save.requester?.actor, now: now)
        }
        rows += itemRows(state, stat) + event
        record(parent, save.accompanying + rows + save.following(&state))
    }

    /// The current version gets a content that no other has.
    private func ownContent(_ state: inout Document.State) -> [VersionStore.Mutation] {
        guard var current = state.current else { return [] }
        current.content = .random()
        state.current = current
        state.sharesContent = false
        return state.isRecorded ? [.version(current)] : []
    }

    /// The hash of an older version, computed now if it is small and not computed yet.
    func hash(of version: Version) -> [UInt8]? {
        if let hash = version.hash { return hash }
        guard version.kind != .current, version.size <= Self.hashedAtOnce, !version.flags.contains(.contentLost),
            let file = try? openContent(of: version)
        else { return nil }
        return withExtendedLifetime(file) { ContentHash.sha256(of: file.raw, size: version.size) }
    }

    /// Makes `version` the current one.
    private func install(
        _ version: Version, _ state: inout Document.State, _ stat: FileStat, _ save: PendingSave,
        isRecorded: Bool = true
    ) {
        state.current = version
        state.isRecorded = isRecorded
        state.stamp = Stamp(stat)
        state.isKept = false
        state.isAppendedTo = false
        state.sharesContent = false
        state.hasParted = false
        state.isParted = false
        state.isReturning = false
        state.saver = save.requester?.actor
        state.appended = save.isAppend ? version.saved : nil
        guard isRecorded else { return }
        observers.saved(version.id, of: state.item, by: save.requester?.actor, now: version.saved)
    }

    private func version(
        _ item: ItemID, _ stat: FileStat, _ hash: [UInt8]?, _ save: PendingSave, parents: [VersionID], base: VersionID?
    ) -> Version {
        Version(
            id: .random(), item: item, kind: .current, content: save.content ?? .neighboring(), size: stat.size,
            modified: stat.modified, saved: now, time: time.next(), device: store.identity.device,
            author: save.requester?.author ?? callers.owner(of: stat),
            parents: parents, base: base, hash: hash, attributes: Attributes(stat), flags: save.isSealed ? .sealed : [])
    }

    /// The hash of a small content that was not hashed yet: of a file from before the container.
    /// - Parameter appended: the file, if it still begins with that content.
    private func hashOfKept(_ current: Version, _ state: Document.State, _ appended: Int32?) -> [UInt8]? {
        guard current.size <= Self.hashedAtOnce else { return nil }
        if let appended { return ContentHash.sha256(of: appended, size: current.size) }
        guard state.isKept || state.isReturning, let kept = try? store.contents.open(current.content) else {
            return nil
        }
        defer { try? kept.close() }
        return ContentHash.sha256(of: kept.rawValue, size: current.size)
    }

    /// Says that the current version will not be amended any more.
    func seal(_ state: inout Document.State) {
        guard let current = state.current, state.isRecorded, !current.flags.contains(.sealed) else { return }
        state.current?.flags.insert(.sealed)
        store.seal(current.id, current.flags)
    }
}
