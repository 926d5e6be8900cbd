// Changes of an item, or of the items in a directory, as a sequence.

import ControlProtocol
import Foundation
import VersionModel
import VersionsClient

/// A change of an item.
public struct FileChange: Sendable, Hashable {
    /// The kind of the change.
    public enum Kind: String, Sendable, Hashable {
        case created, saved, moved, deleted, undeleted, attributes
        /// The file has a new version that lost a conflict.
        case conflict
        /// A conflict is resolved.
        case resolved
        /// A version is gone.
        case versionLost
    }

    public let kind: Kind
    /// The changed item.
    public let url: URL
    /// For a move, the former place of the item.
    public let oldURL: URL?
    /// The changed version's identity (``NSFileVersion/persistentIdentifier``).
    public let versionIdentifier: String?
    /// The process of the change; nil if it is unknown.
    public let processIdentifier: Int32?
    public let programName: String?
    /// True if the followed item itself has changed; false for an item inside it.
    public let isOfItem: Bool
}

/// The changes of an item, and of all items inside a directory, from the first request on.
///
///     for try await change in FileChanges(of: directory) {
///         print(change.kind, change.url.path)
///     }
///
/// In a container the sequence has the changes of all programs, each once and in order. Elsewhere it has the changes of
/// coordinated writes in this process. It follows the item when it moves. It ends with an error if the daemon ends, or
/// if 65,536 changes are waiting.
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
            // The consumer may have stopped before the registration ends.
            let running = Running { place.arbitration.withdraw($0) }
            continuation.onTermination = { _ in running.end() }
            place.arbitration.present(wanted) { result in
                running.began(result.map(\.number))
                if case .failure(let error) = result {
                    continuation.finish(throwing: error.cocoa(url, isWriting: false))
                }
            }
        } catch {
            continuation.finish(throwing: error.cocoa(url, isWriting: false))
        }
        return stream.makeAsyncIterator()
    }

    /// Takes changes only: every question is answered at once.
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
            kind: Kind(event.event), url: url,
            oldURL: event.from.flatMap { arbitration.url(of: $0, isDirectory: false) },
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
