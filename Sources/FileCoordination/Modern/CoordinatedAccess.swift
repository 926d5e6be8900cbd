// Coordinated reads and writes for tasks.

import ControlProtocol
import Foundation
import VersionsClient

/// Reads an item when no other program writes it and its presenters have saved.
///
///     let text = try await withCoordinatedRead(of: url) { url in
///         try String(contentsOf: url, encoding: .utf8)
///     }
///
/// A cancelled task stops waiting; once it has the item, `body` runs to its end. Accesses inside `body` are known to be
/// nested.
/// - Parameters:
///   - url: the item: a file, a directory, or a missing item.
///   - options: the options for the read and for the presenters.
///   - coordinator: the coordinator of the access. For a presenter's access: `NSFileCoordinator(filePresenter:
///     presenter)`.
///   - body: gets the item's present place.
/// - Throws: `CancellationError`, a coordinator's error if the access is not granted, or the error of `body`.
public func withCoordinatedRead<Result: Sendable>(
    of url: URL, options: NSFileCoordinator.ReadingOptions = [],
    by coordinator: NSFileCoordinator = NSFileCoordinator(),
    _ body: sending (URL) async throws -> Result
) async throws -> Result {
    try await coordinator.access([.reading(url, options)]) { try await body($0[0]) }
}

/// Writes an item when no other program reads or writes it and its presenters have relinquished it.
///
///     try await withCoordinatedWrite(of: url, options: .forReplacing) { url in
///         try text.write(to: url, atomically: true, encoding: .utf8)
///     }
///
/// See ``withCoordinatedRead(of:options:by:_:)``.
public func withCoordinatedWrite<Result: Sendable>(
    of url: URL, options: NSFileCoordinator.WritingOptions = [],
    by coordinator: NSFileCoordinator = NSFileCoordinator(),
    _ body: sending (URL) async throws -> Result
) async throws -> Result {
    try await coordinator.access([.writing(url, options)]) { try await body($0[0]) }
}

/// Accesses several items, all granted together.
///
///     let move = [
///         NSFileAccessIntent.writingIntent(with: old, options: .forMoving),
///         .writingIntent(with: new, options: .forReplacing),
///     ]
///     try await withCoordinatedAccess(to: move) { urls in
///         try FileManager.default.moveItem(at: urls[0], to: urls[1])
///     }
///
/// See ``withCoordinatedRead(of:options:by:_:)``.
public func withCoordinatedAccess<Result: Sendable>(
    to intents: [NSFileAccessIntent], by coordinator: NSFileCoordinator = NSFileCoordinator(),
    _ body: sending ([URL]) async throws -> Result
) async throws -> Result {
    try await coordinator.access(intents.map(\.wanted), body)
}

extension NSFileCoordinator {
    /// Requests items as a task, and runs `body` while they are held.
    func access<Result: Sendable>(
        _ wanted: [Wanted], _ body: sending ([URL]) async throws -> Result
    ) async throws -> Result {
        let isWriting = wanted.contains(where: \.isWriting)
        let granted: Granted
        do throws(ControlError) {
            granted = try await acquire(wanted)
        } catch {
            if error.code == .cancelled, Task.isCancelled { throw CancellationError() }
            throw error.cocoa(wanted.first?.url, isWriting: isWriting)
        }
        var isReleased = false
        defer {
            if !isReleased { granted.release() }
            lookAgain()
        }
        let snapshots = try Snapshots(of: granted.urls, wanted)
        defer { snapshots.remove() }
        if snapshots.areAll {
            granted.release()
            isReleased = true
        }
        let context = isReleased ? CoordinationContext.current : granted.context()
        return try await CoordinationContext.$current.withValue(context) { try await body(snapshots.urls) }
    }

    private func acquire(_ wanted: [Wanted]) async throws(ControlError) -> Granted {
        guard !isCancelled else { throw ControlError(.cancelled, "cancelled") }
        let acquisition = try newAcquisition(wanted)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                start(acquisition, in: .current) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            acquisition.cancel()
        }
        if case .success(let granted) = result, isCancelled || Task.isCancelled {
            granted.release()
            throw ControlError(.cancelled, "cancelled")
        }
        return try result.get()
    }
}
