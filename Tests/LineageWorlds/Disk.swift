import Lineage
import VersionModel

/// The file system of a world: what survives a crash.
public struct Disk: Hashable, Sendable {
    public struct File: Hashable, Sendable {
        public var id: FileID
        public var content: Fingerprint
        public var modified: Timestamp
    }

    /// A content that was kept, and its labels.
    public struct Object: Hashable, Sendable {
        public var content: Content
        public var bytes: Fingerprint
        public var labels: [Label]
    }

    /// In the order of places.
    public var names: [Found.Name] = []
    /// In the order of their numbers.
    public var files: [File] = []
    public var directories: [FileID] = []
    public var objects: [Object] = []

    public init() {}

    public func file(at place: PlaceNumber) -> FileID? { names.first { $0.place == place }?.file }

    public func hasName(_ file: FileID) -> Bool { names.contains { $0.file == file } }

    public subscript(_ file: FileID) -> File? { files.first { $0.id == file } }

    public func object(_ content: Content) -> Object? { objects.first { $0.content == content } }

    /// Whether a file, not a directory, is there.
    public func hasFile(at place: PlaceNumber) -> Bool { file(at: place).map { self[$0] != nil } ?? false }

    // MARK: Changes

    mutating func setName(_ place: PlaceNumber, _ file: FileID?) {
        names.removeAll { $0.place == place }
        guard let file else { return }
        let index = names.firstIndex { place < $0.place } ?? names.count
        names.insert(Found.Name(place: place, file: file), at: index)
    }

    mutating func setContent(_ id: FileID, _ content: Fingerprint, at time: Timestamp) {
        if let index = files.firstIndex(where: { $0.id == id }) {
            files[index].content = content
            files[index].modified = time
        } else {
            let index = files.firstIndex { id < $0.id } ?? files.count
            files.insert(File(id: id, content: content, modified: time), at: index)
        }
    }

    mutating func keep(_ content: Content, labels: [Label]) {
        guard let bytes = self[content.file]?.content else { return }
        objects.removeAll { $0.content == content }
        objects.append(Object(content: content, bytes: bytes, labels: labels))
    }

    mutating func forget(_ file: FileID) { files.removeAll { $0.id == file } }

    /// Carries out a call. What is written comes from the move.
    mutating func perform(_ call: SystemCall, writing: Writing?, at time: Timestamp) {
        switch call {
        case .create(let place, let file):
            setName(place, file)
            setContent(file, .empty, at: time)
        case .open: break
        case .write(let file):
            if let writing, let former = self[file]?.content { setContent(file, writing.result(in: former), at: time) }
        case .truncate(let file, let toNothing):
            guard let former = self[file]?.content else { return }
            setContent(file, toNothing ? .empty : former.prefix(former.size / 2), at: time)
        case .rename(let from, let to):
            guard let file = file(at: from) else { return }
            setName(from, nil)
            setName(to, file)
        case .exchange(let one, let other):
            let (first, second) = (file(at: one), file(at: other))
            setName(one, second)
            setName(other, first)
        case .link(let from, let to): setName(to, file(at: from))
        case .unlink(let place): setName(place, nil)
        case .makeDirectory(let place, let directory):
            setName(place, directory)
            directories.append(directory)
        case .removeDirectory(let place):
            if let directory = file(at: place) { directories.removeAll { $0 == directory } }
            setName(place, nil)
        case .name(let file, let place): setName(place, file)
        }
    }
}
