import VersionModel

/// What the daemon remembers and a crash takes (facts.md 1, "Memory only").
public struct Memory: Hashable, Sendable {
    public var files: [LiveFile] = []
    public var handles: [Handle] = []
    /// What programs have seen, oldest first.
    public var observations: [Observation] = []

    private var note = AskedNote()

    /// The plan's questions are noted there; nil if the scene has everything.
    public var asked: Asked? {
        get { note.asked }
        set { note.asked = newValue }
    }

    public init() {}

    public subscript(_ file: FileID) -> LiveFile? {
        get {
            asked?.note(file)
            return files.first { $0.id == file }
        }
        set {
            asked?.note(file)
            let index = files.firstIndex { $0.id == file }
            switch (index, newValue) {
            case (let index?, let file?): files[index] = file
            case (nil, let file?): files.append(file)
            case (let index?, nil): files.remove(at: index)
            case (nil, nil): break
            }
        }
    }

    public subscript(_ handle: HandleNumber) -> Handle? {
        get { handles.first { $0.number == handle } }
        set {
            let index = handles.firstIndex { $0.number == handle }
            switch (index, newValue) {
            case (let index?, let handle?): handles[index] = handle
            case (nil, let handle?): handles.append(handle)
            case (let index?, nil): handles.remove(at: index)
            case (nil, nil): break
            }
        }
    }

    /// The handles that have the file open, and those whose release is to come.
    func handles(of file: FileID) -> some Sequence<Handle> {
        asked?.note(file)
        return handles.lazy.filter { $0.file == file }
    }

    /// Whether a handle has the file open, or its release is to come.
    public func hasHandle(of file: FileID) -> Bool { handles(of: file).contains { _ in true } }

    /// Whether a program has the file open for writing: it may go on through a duplicate after any close.
    public func hasWriter(_ file: FileID) -> Bool { handles(of: file).contains { $0.mode != .read } }

    /// Whether a program may still write to the file through a handle that is not closed.
    public func isOpenForWriting(_ file: FileID) -> Bool {
        handles(of: file).contains { $0.mode != .read && !$0.isClosed }
    }

    /// The latest observation is the last; one that is made again moves there.
    mutating func observe(_ observation: Observation) {
        var observation = observation
        observations.removeAll {
            guard $0.actor == observation.actor && $0.version == observation.version
                && $0.document == observation.document
            else { return false }
            observation.isRead = observation.isRead || $0.isRead
            observation.hadRead = $0.isRead
            return true
        }
        observations.append(observation)
    }

    /// What a program has seen last among these was by a read that does not count.
    mutating func retractRead(by actor: ActorNumber, where isOfDocument: (Observation) -> Bool) {
        let last = observations.lastIndex { $0.actor == actor && isOfDocument($0) }
        guard let last, observations[last].isByRead else { return }
        guard let hadRead = observations[last].hadRead else {
            observations.remove(at: last)
            return
        }
        (observations[last].isRead, observations[last].isByRead) = (hadRead, false)
    }
}
