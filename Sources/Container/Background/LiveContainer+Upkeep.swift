// Keeping within bounds while mounted: history thins by its schedule, deleted things go when they are old (DESIGN 7).

import Glibc
import Logging
import VersionModel
import VersionStore

extension LiveContainer {
    private static let firstUpkeepNanoseconds: Int64 = 60_000_000_000
    private static let upkeepNanoseconds: Int64 = 900_000_000_000

    /// Begins the rounds of upkeep.
    func beginUpkeep() {
        noteTime()
        chores.after(Self.firstUpkeepNanoseconds) { [weak self] in self?.upkeep() }
    }

    private func upkeep() {
        let clock = noteTime()
        if !clock.isPaused {
            do {
                _ = try thin(dryRun: false, as: .container)
                let oldest = now.advanced(byNanoseconds: -settings.keepDeletedNanoseconds)
                _ = try purgeDeleted(before: oldest, as: .container)
            } catch {
                logger.warning("history could not be thinned: \(error)")
            }
        }
        chores.after(Self.upkeepNanoseconds) { [weak self] in self?.upkeep() }
    }
}
