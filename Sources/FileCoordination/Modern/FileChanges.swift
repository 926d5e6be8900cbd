// Changes of an item, or of what is in a directory, as a sequence.

import ControlProtocol
import Foundation
import VersionModel
import VersionsClient

/// Something that has happened to an item.
public struct FileChange: Sendable, Hashable {
    /// What happened.
    public enum Kind: String, Sendable, Hashable {
        case created, saved, moved, deleted, undeleted, attributes
        /// The file has a version that lost a conflict.
        case conflict
        /// A conflict is settled.
        case resolved
        /// A version is gone.
        case versionLost
    }

    public let kind: Kind
    /// What it is about.
    public let url: URL
    /// For a move, where that was before.
    public let oldURL: URL?
    /// The version that it is about, by its identity (``NSFileVersion/persistentIdentifier``).
    public let versionIdentifier: String?
    /// Who did it; nil if nobody can tell.
    public let processIdentifier: Int32?
    public let programName: String?
    /// Whether it is about the item that is followed, and not about something in it.
    public let isOfItem: Bool
}

/// The changes of an item, and of all that is in it if it is a directory, from when they are first asked for.
///
///     for try await change in FileChanges(of: directory) {
///         print(change.kind, change.url.path)
///     }
///
/// In a container everybody's changes, each once and in their order, however they were made; elsewhere those that are made
/// in coordinated writes of this process. The item is followed when it is moved. Ends with an error if the daemon ends, or
/// if nobody has taken 65,536 changes.
public struct FileChanges: AsyncSequence, Sendable {
    public typealias Element = FileChange
    public typealias AsyncIterator = AsyncThrowingStream<FileChange, any Error>.Iterator

    private let url: URL

    /// Follows an item.
    public init(of url: URL) { self.url = url }

    public func makeAsyncIterator() -> AsyncIterator {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: FileChange.self, throwing: (any Error).self, bufferingPolicy: .bufferingOldest(65_536))
        do throws(ControlError) {
            let place = try Places.locate(presented: url)
            let wanted = PresenterWanted(path: place.path, purpose: PurposeToken.random()) { _ in
                Self.sink(continuation, place.arbitration)
            }
            // Nobody may want them any more by the time that they are told.
            let running = Running { place.arbitration.withdraw($0) }
            continuation.onTermination = { _ in running.end() }
            place.arbitration.present(wanted) { result in
                running.began(result.map(\.number))
                if case .failure(let error) = result { continuation.finish(throwing: error.cocoa(url, isWriting: false)) }
            }
        } catch {
            continuation.finish(throwing: error.cocoa(url, isWriting: false))
        }
        return stream.makeAsyncIterator()
    }

    /// Nobody waits for whoever only follows: it is asked nothing.
    private static func sink(
        _ continuation: AsyncThrowingStream<FileChange, any Error>.Continuation, _ arbitration: any Arbitration
    ) -> PresenterSink {
        PresenterSink(
            take: { message in
                message.answer(.success(()))
                guard case .changes(let changes, _) = message.content else { return }
                for change in changes.compactMap({ FileChange($0, arbitration) }) {
                    if case .dropped = continuation.yield(change) {
                        return continuation.finish(throwing: CocoaError(.fileReadTooLarge))
                    }
                }
            },
            ended: { error in
                if error.code == .cancelled { return continuation.finish() }
                continuation.finish(throwing: error.cocoa(nil, isWriting: false))
            })
    }
}

extension FileChange {
    init?(_ change: PresentedChange, _ arbitration: any Arbitration) {
        let event = change.event
        guard let url = arbitration.url(of: event.path, isDirectory: false) else { return nil }
        self.init(
            kind: Kind(event.event), url: url, oldURL: event.from.flatMap { arbitration.url(of: $0, isDirectory: false) },
            versionIdentifier: event.version?.hex, processIdentifier: event.pid, programName: event.program,
            isOfItem: change.relation == .item)
    }
}

extension FileChange.Kind {
    init(_ event: ChangeEvent) {
        self =
            switch event {
            case .created: .created
            case .saved: .saved
            case .renamed: .moved
            case .deleted: .deleted
            case .undeleted: .undeleted
            case .attributes: .attributes
            case .conflict: .conflict
            case .resolved: .resolved
            case .versionLost: .versionLost
            }
    }
}
