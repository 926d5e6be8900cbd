// One connection: reads lines, calls the backend on its threads, writes lines; reads no faster than it can answer.

import ControlProtocol
import Coordination
import Logging
import NIOCore

/// A client's connection. All its code runs on the server's event loop.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let shared: ConnectionShared
    private var framer: LineFramer
    private(set) var context: ChannelHandlerContext?
    private(set) var peer: Peer?
    /// The user and connection of its work.
    private(set) var source: WorkSource
    /// Lines that wait for their turn; reading pauses while there are any.
    private var backlog: [LineFramer.Frame] = []
    /// Whether another thread reads a long line; later lines wait.
    private var isReadingLine = false
    /// Whether a read was requested while reading paused.
    private var readIsPending = false
    private var inputIsClosed = false
    private var calls: [UInt64: ControlCall] = [:]
    var nextCall: UInt64 = 1
    var subscriptions: [UInt64: Subscription] = [:]
    /// The number of subscriptions in the making.
    var begunWatches = 0
    var queries: [UInt64: QueryPlace] = [:]
    var nextQuery: UInt64 = 1
    /// Its participation in coordination, if any.
    var participation: Participation?
    /// The number of messages since the client stopped reading.
    var untaken = 0
    /// Claims to make in this order; the first one is in the making.
    var claimsToMake: [@Sendable () -> (ClaimID, ControlError)?] = []
    /// Calls to the client without an answer yet.
    private var questions: [RequestID: (Result<[UInt8], ControlError>) -> Void] = [:]
    private var nextQuestion: Int64 = 1

    init(_ shared: ConnectionShared) {
        self.shared = shared
        framer = LineFramer(limit: shared.limits.lineByteCount)
        source = WorkSource(user: .max, isTrusted: false, connection: shared.number())
    }

    // MARK: - Beginning and end

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        let peer = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { Peer(socket: $0) }
        guard let known = peer.flatMap({ $0 }) else {
            return refuse(ControlError(.denied, "the kernel does not say who is calling"), context)
        }
        if let refusal = shared.refusal(of: known) { return refuse(refusal, context) }
        self.peer = known
        source.user = known.userID
        source.isTrusted = shared.trusts(known)
        shared.opened(self, peer: known, on: context.eventLoop)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        shared.closed(self)
        self.context = nil
        calls.values.forEach { $0.cancel() }
        calls = [:]
        subscriptions = [:]
        queries = [:]
        backlog = []
        claimsToMake = []
        questions = [:]
        leave()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        shared.logger.debug("control connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    /// Closes the connection.
    func close() { context?.close(promise: nil) }

    private func refuse(_ error: ControlError, _ context: ChannelHandlerContext) {
        let line = context.channel.allocator.buffer(bytes: Wire.line(failing: error, to: nil))
        context.writeAndFlush(wrapOutboundOut(line)).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    // MARK: - Incoming lines

    func read(context: ChannelHandlerContext) {
        if backlog.isEmpty, !isReadingLine { context.read() } else { readIsPending = true }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard peer != nil else { return }
        var frames: [LineFramer.Frame] = []
        unwrapInboundIn(data).withUnsafeReadableBytes { bytes in framer.feed(bytes) { frames.append($0) } }
        backlog.append(contentsOf: frames)
        work()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            work()
            subscriptions.keys.sorted().forEach(pump)
            pumpPresenters()
            pumpQueries()
        }
        context.fireChannelWritabilityChanged()
    }

    /// Handles lines from the backlog while answers can be written, then resumes reading.
    private func work() {
        var taken = 0
        while let context, context.channel.isWritable, taken < backlog.count, !isReadingLine,
            calls.count < shared.limits.callCountPerConnection
        {
            handle(backlog[taken])
            taken += 1
        }
        backlog.removeFirst(min(taken, backlog.count))
        if taken > 0 { context?.flush() }
        if backlog.isEmpty, !isReadingLine, readIsPending {
            readIsPending = false
            context?.read()
        }
        closeIfDone()
    }

    /// The client has shut down its writing end, like `nc` at the end of a pipe: it still gets the pending answers.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            inputIsClosed = true
            closeIfDone()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func closeIfDone() {
        guard inputIsClosed, backlog.isEmpty, !isReadingLine, calls.isEmpty, subscriptions.isEmpty, queries.isEmpty,
            let context, participation.map({ $0.waiting.isEmpty && $0.presenters.isEmpty }) ?? true
        else { return }
        // Close after the pending writes.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    private func handle(_ frame: LineFramer.Frame) {
        guard case .line(let line) = frame else {
            let limit = shared.limits.lineByteCount
            return write(Wire.line(failing: ControlError(.invalidRequest, "a line over \(limit) bytes"), to: nil))
        }
        guard line.count > shared.limits.shortLineByteCount, let loop = context?.eventLoop else {
            return handle(IncomingLine(line))
        }
        isReadingLine = true
        let handler = NIOLoopBound(self, eventLoop: loop)
        shared.run(on: .lines, from: source) {
            let read = IncomingLine(readingAll: line)
            loop.execute {
                let handler = handler.value
                handler.isReadingLine = false
                guard handler.context != nil else { return }
                handler.handle(read)
                handler.context?.flush()
                handler.work()
            }
        }
    }

    private func handle(_ line: IncomingLine) {
        switch line.message {
        case .success(.request(let id, WatchRequest.method)): watch(line.bytes, id)
        case .success(.request(let id, UnwatchRequest.method)): unwatch(line, id)
        case .success(.request(let id, let method)): call(method, line, id)
        case .success(.notification): break  // None is defined from client to daemon; JSON-RPC has them ignored.
        case .success(.reply(let id, let error)): answered(id, error, line.bytes)
        case .failure(let error): write(Wire.line(failing: error.error, to: error.id))
        }
    }

    func write(_ line: [UInt8]) {
        guard let context else { return }
        context.write(wrapOutboundOut(context.channel.allocator.buffer(bytes: line)), promise: nil)
    }

    // MARK: - Calls of the client

    private func call(_ method: String, _ line: IncomingLine, _ id: RequestID) {
        if coordinate(method, line, id) || query(method, line, id) { return }
        guard let route = shared.router[method] else {
            return write(Wire.line(failing: ControlError(.unknownMethod, "no method \(method.prefix(64))"), to: id))
        }
        run(on: route.isLong ? .long : .quick, id) { call in
            do throws(ControlError) {
                return try route.answer(line.bytes, id, call)
            } catch {
                return Wire.line(failing: error, to: id)
            }
        }
    }

    /// Runs work for the client on a backend's thread and writes the resulting line.
    /// - Parameter next: called after the write, before any other line is written.
    func run(
        on threads: ServiceThreads.Kind, _ id: RequestID, _ work: @escaping @Sendable (ControlCall) -> [UInt8],
        then next: @escaping (ConnectionHandler) -> Void = { _ in }
    ) {
        guard let context, let peer else { return }
        let loop = context.eventLoop
        let handler = NIOLoopBound(self, eventLoop: loop)
        let next = NIOLoopBound(next, eventLoop: loop)
        let throttle = ProgressThrottle()
        let call = ControlCall(peer: peer) { done, total, unit in
            guard throttle.lets() else { return }
            loop.execute { handler.value.progressed(id, done, total, unit) }
        }
        let number = nextCall
        nextCall += 1
        calls[number] = call
        shared.run(on: threads, from: source) {
            let reply = work(call)
            loop.execute {
                let handler = handler.value
                guard handler.calls.removeValue(forKey: number) != nil else { return }
                handler.write(reply)
                handler.context?.flush()
                next.value(handler)
                handler.work()
            }
        }
    }

    private func progressed(_ id: RequestID, _ done: UInt64, _ total: UInt64?, _ unit: String) {
        // Progress that cannot be sent at once is dropped.
        guard let context, context.channel.isWritable else { return }
        let notification = ProgressNotification(request: id, done: done, total: total, unit: unit)
        guard let line = try? Wire.line(notifying: notification) else { return }
        write(line)
        context.flush()
    }

    func notify(_ notification: some ControlNotification) {
        guard let line = try? Wire.line(notifying: notification) else { return }
        write(line)
        context?.flush()
    }

    // MARK: - Calls to the client

    /// Calls the client. The handler of the answer runs once, unless the connection ends first.
    func ask(_ request: some ControlRequest, _ answer: @escaping (Result<[UInt8], ControlError>) -> Void) {
        let id = RequestID.number(nextQuestion)
        nextQuestion += 1
        guard context != nil, let line = try? Wire.line(calling: request, id: id) else { return }
        questions[id] = answer
        write(line)
        context?.flush()
    }

    private func answered(_ id: RequestID?, _ error: ControlError?, _ line: [UInt8]) {
        showsThatItRuns()
        // An answer without a matching call gets no error: two faulty ends would never stop.
        guard let id, let answer = questions.removeValue(forKey: id) else { return }
        answer(error.map { .failure($0) } ?? .success(line))
    }
}
