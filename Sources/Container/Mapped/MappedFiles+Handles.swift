// Mappings whose handle stays open behind its close: where nothing passes through, the kernel keeps the handle until
// they are gone, and some programs map a duplicate of their descriptor (Python does).

import Glibc
import Logging

extension MappedFiles {
    /// After how long a handle is looked at that passes through: most are released by then.
    private static let releaseNanoseconds: Int64 = 20_000_000

    /// A handle that may be mapped was closed by its opener; if it is still there a while later, a mapping or a
    /// duplicate goes on, and the content that the close has acknowledged is not to change any more.
    func watchStores(of file: OpenFile) {
        let (isFirst, isPassed) = file.state.withLock { state in
            defer { state.isWatched = true }
            return (!state.isWatched, state.isPassed)
        }
        guard isFirst, !file.node.isForeign else { return }
        var look = MappingWatch.Look(requester: file.requester)
        // Where nothing passes through, the content is kept before the first store reaches it.
        look.isKept = !isPassed
        let time = isPassed ? Self.releaseNanoseconds : Self.mappingNanoseconds
        lookForStores(of: file, look, isPassed: isPassed, in: time, on: firstLooks)
    }

    private func lookForStores(
        of file: OpenFile, _ last: MappingWatch.Look, isPassed: Bool, in time: Int64, on scheduler: Scheduler
    ) {
        scheduler.after(time) { [weak self, weak file] in
            guard let self, let file, self.serving.files[file.id] === file else { return }
            var look = last
            // Dropping its pages has the kernel write them out first.
            if !isPassed { self.serving.passthrough.kernel.side?.invalidate(node: file.node.id, data: true) }
            do {
                try self.keeper?.capture(mapped: file.node, &look, isOver: false, by: file, mayWait: true)
            } catch {
                self.logger.error("what was stored through a mapping could not be kept: \(error)")
            }
            self.lookForStores(of: file, look, isPassed: isPassed, in: Self.mappingNanoseconds, on: self.watches)
        }
    }
}
