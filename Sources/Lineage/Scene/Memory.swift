import VersionModel

/// What the daemon remembers and a crash takes (facts.md 1, "Memory only").
public struct Memory: Hashable, Sendable {
    public var files: [LiveFile] = []
    public var handles: [Handle] = []
    /// What programs have seen, oldest first.
    public var observations: [Observation] = []

    public init() {}

    public subscript(_ file: FileID) -> LiveFile? {
        get { files.first { $0.id == file } }
        set {
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

    /// Whether a handle has the file open, or its release is to come.
    public func hasHandle(of file: FileID) -> Bool { handles.contains { $0.file == file } }

    /// Whether a program has the file open for writing: it may go on through a duplicate after any close.
    public func hasWriter(_ file: FileID) -> Bool { handles.contains { $0.file == file && $0.mode != .read } }

    /// Whether a program may still write to the file through a handle that is not closed.
    public func isOpenForWriting(_ file: FileID) -> Bool {
        handles.contains { $0.file == file && $0.mode != .read && !$0.isClosed }
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
