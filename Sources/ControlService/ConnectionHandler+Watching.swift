// Subscriptions of one connection to the change feed: each fetches its next page after the client has read the last
// one.

import ControlProtocol
import NIOCore

extension ConnectionHandler {
    func watch(_ line: [UInt8], _ id: RequestID) {
        guard subscriptions.count + begunWatches < shared.limits.subscriptionCountPerConnection else {
            let error = ControlError(
                .busy, "too many subscriptions of this connection", advice: "end some with unwatch")
            return write(Wire.line(failing: error, to: id))
        }
        begunWatches += 1
        let number = nextCall
        let backend = shared.backend
        let parcel = Parcel<Subscription>()
        run(on: .feeds, id) { _ in
            do throws(ControlError) {
                let request = try Wire.parameters(WatchRequest.self, in: line)
                let last = try backend.lastSequence()
                let sequence = request.after ?? last
                // Numbers after the end are used again for other changes: a power cut may remove the feed's last rows.
                guard sequence <= last else {
                    throw ControlError(
                        .notFound, "the change feed ends before \(sequence)", advice: "ask again without it")
                }
                parcel.put(Subscription(
                    target: request.target, depth: request.depth ?? .subtree, sequence: sequence))
                return try Wire.line(
                    replying: WatchRequest.Reply(subscription: number, sequence: sequence), to: id)
            } catch {
                return Wire.line(failing: error, to: id)
            }
        } then: { handler in
            handler.begunWatches -= 1
            guard let subscription = parcel.take() else { return }
            handler.subscriptions[number] = subscription
            handler.pump(number)
        }
    }

    func unwatch(_ line: IncomingLine, _ id: RequestID) {
        do throws(ControlError) {
            let request = try line.parameters(UnwatchRequest.self)
            guard subscriptions.removeValue(forKey: request.subscription) != nil else {
                throw ControlError(.notFound, "no subscription \(request.subscription)")
            }
            write(try Wire.line(replying: Done(), to: id))
        } catch {
            write(Wire.line(failing: error, to: id))
        }
    }

    /// Notes that the backend has recorded changes.
    func changesHappened() {
        for number in subscriptions.keys.sorted() {
            subscriptions[number]?.cursor.changesHappened()
            pump(number)
        }
        presentersMayHear()
        changesHappenedForQueries()
    }

    /// Fetches the next page of the feed for a subscriber that has read the last one. So a slow subscriber stays behind
    /// at its own position and uses no memory here.
    func pump(_ number: UInt64) {
        guard let context, let peer, var subscription = subscriptions[number] else { return }
        let mayFetch = subscription.cursor.beginFetch(isWritable: context.channel.isWritable)
        subscriptions[number] = subscription
        guard mayFetch else { return }
        let (backend, limit, loop) = (shared.backend, shared.limits.changesPerPage, context.eventLoop)
        let handler = NIOLoopBound(self, eventLoop: loop)
        shared.run(on: .feeds, from: source) { [subscription] in
            let page = Result { () throws(ControlError) in
                try backend.changes(
                    after: subscription.cursor.sequence, limit: limit, within: subscription.target, subscription.depth,
                    peer: peer)
            }
            loop.execute { handler.value.fetched(page, for: number) }
        }
    }

    private func fetched(_ page: Result<ChangePage, ControlError>, for number: UInt64) {
        guard var subscription = subscriptions[number] else { return }
        switch page {
        case .success(let page):
            subscription.cursor.took(upTo: page.upTo)
            let tells = subscription.cursor.tells(ofSomething: !page.events.isEmpty)
            subscriptions[number] = subscription
            if tells {
                notify(EventsNotification(subscription: number, events: page.events, sequence: page.upTo))
            }
            pump(number)
        case .failure(let error):
            subscriptions[number] = nil
            notify(WatchEndedNotification(
                subscription: number, sequence: subscription.cursor.sequence, reason: error.message))
        }
    }
}
