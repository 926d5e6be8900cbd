// Presenters of one connection: registration, moves, withdrawal, and the changes of their items.

import ControlProtocol
import Coordination
import Logging
import NIOCore
import VersionModel

extension ConnectionHandler {
    func present(_ request: PresentRequest, _ id: RequestID) throws(ControlError) {
        let (backend, peer, connection) = try takePart()
        guard (participation?.presenters.count ?? 0) < shared.limits.presenterCountPerConnection else {
            throw ControlError(.busy, "too many presenters of this connection", advice: "withdraw some")
        }
        let parcel = Parcel<Presented>()
        participation?.begunPresenters += 1
        run(on: .coordination, id) { _ in
            do throws(ControlError) {
                let presented = try backend.present(request, of: connection, peer: peer)
                parcel.put(presented)
                let reply = PresentRequest.Reply(
                    presenter: presented.presenter.number, purpose: presented.purpose.hex, sequence: presented.sequence)
                return try Wire.line(replying: reply, to: id)
            } catch {
                return Wire.line(failing: error, to: id)
            }
        } then: { handler in
            defer { handler.participation?.presenterHasBegun() }
            guard let presented = parcel.take(), handler.participation != nil else { return }
            let presenter = presented.presenter
            handler.participation?.presenters[presenter] = PresenterFeed(presented)
            // Questions from before the client could know the presenter's number.
            for message in handler.participation?.early.removeValue(forKey: presenter) ?? [] { handler.told(message) }
            handler.pump(presenter)
        }
    }

    func place(_ request: PlacePresenterRequest, _ id: RequestID) throws(ControlError) {
        let (backend, peer, connection) = try takePart()
        let parcel = Parcel<(path: TreePath?, item: ItemID?)>()
        run(on: .coordination, id) { _ in
            do throws(ControlError) {
                parcel.put(try backend.place(request, of: connection, peer: peer))
                return try Wire.line(replying: Done(), to: id)
            } catch {
                return Wire.line(failing: error, to: id)
            }
        } then: { handler in
            guard let place = parcel.take() else { return }
            handler.participation?.presenters[PresenterID(request.presenter)]?.place(at: place.path, place.item)
        }
    }

    func presenters(_ request: PresentersRequest, _ id: RequestID) throws(ControlError) {
        guard let backend = shared.backend as? any CoordinationBackend else {
            throw ControlError(.unknownMethod, "no coordination here")
        }
        run(on: .quick, id) { call in
            do throws(ControlError) {
                return try Wire.line(replying: backend.presenters(request, call), to: id)
            } catch {
                return Wire.line(failing: error, to: id)
            }
        }
    }

    func withdraw(_ request: WithdrawRequest, _ id: RequestID) throws(ControlError) {
        let (backend, _, connection) = try takePart()
        guard backend.withdraw(PresenterID(request.presenter), of: connection) else {
            throw ControlError(.notFound, "no presenter \(request.presenter) of this connection")
        }
        participation?.presenters[PresenterID(request.presenter)] = nil
        write(try Wire.line(replying: Done(), to: id))
    }

    // MARK: Messages to presenters

    /// Passes a message to a presenter: at once, or after the changes that must come first.
    func told(_ message: CoordinationMessage, for presenter: PresenterID) {
        if case .ask(let question, _, let what, _, _) = message, let peer, !shared.trusts(peer) {
            return ask(question, what, of: presenter, message, peer)
        }
        var mustWait = participation?.presenters[presenter]?.isBehind(message) ?? false
        if case .reacquire = message { mustWait = true }
        guard mustWait else {
            if participation?.presenters[presenter]?.mayGo(message) ?? false { send(message) }
            return
        }
        guard let number = participation?.presenters[presenter]?.hold(message), let context else { return }
        let (backend, loop) = (shared.backend, context.eventLoop)
        let handler = NIOLoopBound(self, eventLoop: loop)
        shared.run(on: .coordination, from: source) {
            // Without a readable feed there is nothing to wait for.
            let sequence = (try? backend.lastSequence()) ?? 0
            loop.execute { handler.value.settle(number, of: presenter, until: sequence) }
        }
    }

    /// Sends a message after all changes up to this one.
    private func settle(_ number: UInt64, of presenter: PresenterID, until sequence: UInt64) {
        participation?.presenters[presenter]?.settle(number, until: sequence)
        participation?.presenters[presenter]?.cursor.changesHappened()
        sendDue(presenter)
        pump(presenter)
    }

    /// Asks a client with limited rights, if it may know the item by now. Without that right, the question counts as
    /// answered.
    private func ask(
        _ question: QuestionID, _ what: Question, of presenter: PresenterID, _ message: CoordinationMessage,
        _ peer: Peer
    ) {
        let isBehind = participation?.presenters[presenter]?.isBehind(message) ?? false
        guard let number = participation?.presenters[presenter]?.hold(message), let context,
            let backend = shared.backend as? any CoordinationBackend
        else { return }
        let (feed, loop) = (shared.backend, context.eventLoop)
        let handler = NIOLoopBound(self, eventLoop: loop)
        shared.run(on: .coordination, from: source) {
            let mayAsk = backend.mayAsk(what, of: presenter, peer: peer)
            let sequence = mayAsk && isBehind ? (try? feed.lastSequence()) ?? 0 : 0
            loop.execute {
                let handler = handler.value
                guard let connection = handler.participation?.connection else { return }
                if mayAsk && isBehind { return handler.settle(number, of: presenter, until: sequence) }
                if mayAsk {
                    handler.participation?.presenters[presenter]?.settle(number, until: 0)
                } else {
                    handler.participation?.presenters[presenter]?.withhold(number)
                    backend.answer(question, .done, of: connection)
                }
                handler.sendDue(presenter)
            }
        }
    }

    private func sendDue(_ presenter: PresenterID) {
        for message in participation?.presenters[presenter]?.due() ?? [] { send(message) }
    }

    /// Notes that the backend has recorded changes.
    func presentersMayHear() {
        for presenter in participation?.presenters.keys.sorted() ?? [] {
            participation?.presenters[presenter]?.cursor.changesHappened()
            pump(presenter)
        }
    }

    /// Continues after the client has read.
    func pumpPresenters() { participation?.presenters.keys.sorted().forEach(pump) }

    /// Fetches the next page of the feed for a presenter that has received the previous one.
    private func pump(_ presenter: PresenterID) {
        guard let context, let peer, let backend = shared.backend as? any CoordinationBackend,
            participation?.presenters[presenter]?.cursor.beginFetch(isWritable: context.channel.isWritable) ?? false,
            let feed = participation?.presenters[presenter]
        else { return }
        let (limit, loop) = (shared.limits.changesPerPage, context.eventLoop)
        let handler = NIOLoopBound(self, eventLoop: loop)
        let (feedBackend, logger) = (shared.backend, shared.logger)
        shared.run(on: .feeds, from: source) {
            let fetched: (page: PresentedPage, isWhole: Bool)
            do throws(ControlError) {
                fetched = (
                    try backend.changes(after: feed.cursor.sequence, limit: limit, for: feed.item, peer: peer), true
                )
            } catch {
                logger.warning("a presenter has missed changes", metadata: ["error": "\(error)"])
                let last = (try? feedBackend.lastSequence()) ?? feed.cursor.sequence
                fetched = (PresentedPage(changes: [], upTo: last, item: feed.item), false)
            }
            loop.execute { handler.value.fetched(fetched, for: presenter, asOf: feed.placements) }
        }
    }

    private func fetched(
        _ fetched: (page: PresentedPage, isWhole: Bool), for presenter: PresenterID, asOf placements: UInt64
    ) {
        guard participation?.presenters[presenter]?.took(fetched.page, asOf: placements) ?? false else {
            return pump(presenter)
        }
        let page = fetched.page
        // The presenter learns that it may show old content, and hears of later changes.
        if !fetched.isWhole { notify(PresenterRevokedNotification(presenter: presenter.number)) }
        if participation?.presenters[presenter]?.cursor.tells(ofSomething: !page.changes.isEmpty) ?? false {
            notify(PresenterChangesNotification(
                presenter: presenter.number, changes: page.changes, sequence: page.upTo))
        }
        sendDue(presenter)
        pump(presenter)
    }
}
