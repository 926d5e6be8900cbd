// Keeps the container within its limits: history is thinned by its schedule, deleted entries go when they are old
// (DESIGN 7).

import Glibc
import Logging
import VersionModel
import VersionStore

extension LiveContainer {
    private static let firstUpkeepNanoseconds: Int64 = 60_000_000_000
    private static let upkeepNanoseconds: Int64 = 900_000_000_000

    /// Starts the rounds of upkeep.
    func beginUpkeep() {
        noteTime()
        chores.after(0) { [weak self] in
            guard let self else { return }
            do {
                try self.store.rescanSpace(onlyIfUnknown: true)
            } catch {
                self.logger.warning("the space of what is kept could not be added up: \(error)")
            }
        }
        chores.after(Self.firstUpkeepNanoseconds) { [weak self] in self?.upkeep() }
    }

    private func upkeep() {
        if !noteTime().isPaused {
            do {
                _ = try thin(dryRun: false, as: .container)
            } catch {
                logger.warning("history could not be thinned: \(error)")
            }
        }
        _ = makeRoom(mayWait: true)
        store.ballast.take()
        chores.after(Self.upkeepNanoseconds) { [weak self] in self?.upkeep() }
    }
}
