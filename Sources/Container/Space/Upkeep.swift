// Keeps the container within its limits: history is thinned by its schedule, deleted entries go when they are old
// (DESIGN 7).

import Logging
import VersionModel
import VersionStore

/// The rounds of upkeep.
final class Upkeep: Sendable {
    private static let firstNanoseconds: Int64 = 60_000_000_000
    private static let roundNanoseconds: Int64 = 900_000_000_000

    private let ballast: Ballast
    private let source: any PurgeableSource
    let thinner: Thinner
    private let making: RoomMaking
    private let retention: Retention
    private let chores: Scheduler
    private let logger: Logger

    init(
        ballast: Ballast, source: any PurgeableSource, thinner: Thinner, making: RoomMaking, retention: Retention,
        chores: Scheduler, logger: Logger
    ) {
        (self.ballast, self.source, self.thinner, self.making) = (ballast, source, thinner, making)
        (self.retention, self.chores, self.logger) = (retention, chores, logger)
    }

    func begin() {
        retention.note()
        chores.after(0) { [weak self] in self?.addUp() }
        chores.after(Self.firstNanoseconds) { [weak self] in self?.goRound() }
    }

    private func addUp() {
        do { try source.addUp() } catch {
            logger.warning("the space of what is kept could not be added up: \(error)")
        }
    }

    private func goRound() {
        addUp()
        if !retention.note().isPaused {
            do {
                _ = try thinner.thin(dryRun: false) { _, _ in }
            } catch {
                logger.warning("history could not be thinned: \(error)")
            }
        }
        _ = making.makeRoom(mayWait: true)
        ballast.take()
        chores.after(Self.roundNanoseconds) { [weak self] in self?.goRound() }
    }
}
