// The writer while the catalog cannot be written: committed rows wait in memory, and further changes are refused in
// time.

import Glibc
import Logging
import Synchronization

extension CommitQueue {
    /// Keeps all staged rows in an open transaction, in memory, and repeats the commit until it succeeds.
    func retry(_ first: Calls, _ error: any Error) {
        let begun = MonotonicTime.now()
        var (calls, failure) = (Array(first), error)
        var (seen, pause) = (0, Self.firstPauseNanoseconds)
        locked {
            isUncommitted = true
            // Wakes threads that wait for a smaller backlog.
            pthread_cond_broadcast(progress)
        }
        // The failed commit has rolled back.
        var staged: [Target.Told]?
        while true {
            staged = staged ?? (try? catalog.stage(calls[...], applied: taken))
            seen = show(calls.count, seen, isStaged: staged != nil)
            refuseIfHopeless(failure, since: begun)
            let deadline = MonotonicTime.now() + pause
            while let more = moreWork(until: deadline) {
                guard var told = staged else {
                    calls += more
                    refuseIfHopeless(failure, since: begun)
                    continue
                }
                // A failure here rolls everything back; the next round stages it again.
                if let added = try? catalog.stage(more, applied: taken) {
                    told += added
                    staged = told
                } else {
                    staged = nil
                }
                calls += more
                seen = show(calls.count, seen, isStaged: staged != nil)
                refuseIfHopeless(failure, since: begun)
            }
            // Reserved for the labels of removed files; used last, before changes are refused and at the end.
            let isLast = locked { isStopping || backlog >= Self.backlogLimit / 2 }
            if isLast, ballast?.release() == true, staged == nil {
                staged = try? catalog.stage(calls[...], applied: taken)
            }
            if let told = staged {
                guard let failed = catalog.commitOrStage(calls[...], applied: taken) else {
                    logger.notice("the catalog can be written again", metadata: ["transactions": "\(calls.count)"])
                    return finished(calls[...], told, seen: seen)
                }
                (failure, staged) = failed
            }
            pause = min(pause * 2, Self.longestPauseNanoseconds)
            if locked({ isStopping }) {
                return logger.error("changes are lost from the catalog", metadata: ["transactions": "\(calls.count)"])
            }
        }
    }

    /// Tells waiting readers how many calls they can see, or that they cannot; returns the number of visible calls.
    func show(_ staged: Int, _ seen: Int, isStaged: Bool) -> Int {
        locked {
            isFailing = !isStaged
            if isStaged { visible += UInt64(staged - seen) }
            pthread_cond_broadcast(progress)
            return isStaged ? staged : seen
        }
    }

    /// The calls that came while the disk was full; nil when it is time for another try, or for the end.
    func moreWork(until deadline: Int) -> Calls? {
        // Where calls always come, the next try takes them. None comes once the queue stops.
        if MonotonicTime.now() >= deadline, locked({ !isStopping }) { return nil }
        if taking.isEmpty {
            let taken: [Call]? = locked {
                while pending.isEmpty {
                    let rest = deadline - MonotonicTime.now()
                    if isStopping || rest <= 0 { return nil }
                    isWriterWaiting = true
                    wait(on: work, rest)
                    isWriterWaiting = false
                }
                return takeAll()
            }
            guard let taken else { return nil }
            taking = taken[...]
        }
        return take()
    }

    /// Refuses changes when too many wait in memory, or when the catalog has failed for a while for a reason that the
    /// removal of files cannot cure.
    func refuseIfHopeless(_ failure: any Error, since begun: Int) {
        let isFull = (failure as? SQLFailure).map { $0.code & 0xff } == Self.fullCode
        let isOver = !isFull && MonotonicTime.now() - begun >= Self.patienceNanoseconds
        let isFirst = locked {
            guard reason == nil, !isStopping, isOver || backlog >= Self.backlogLimit else { return false }
            reason = "\(failure)"
            return true
        }
        guard isFirst else { return }
        refuses.store(true, ordering: .relaxed)
        logger.critical(
            "the catalog cannot be written: the container is read-only until it can be: see df and dmesg",
            metadata: ["error": "\(failure)"])
    }
}
