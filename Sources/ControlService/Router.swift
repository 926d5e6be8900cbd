// From a method's name to the backend's method, with typed parameters and replies.

import ControlProtocol

/// The methods of a backend, by name. The connection itself serves `watch` and `unwatch`.
struct Router: Sendable {
    /// One method.
    struct Route: Sendable {
        var isLong: Bool
        /// Takes the line of the call and returns the line of the reply.
        var answer: @Sendable (_ line: [UInt8], _ id: RequestID, _ call: ControlCall) throws(ControlError) -> [UInt8]
    }

    private let routes: [String: Route]

    init(_ backend: any ControlBackend) {
        var table = Table()
        table.add { (request: Handshake, call) throws(ControlError) in try backend.hello(request, call) }
        table.add { (request: StatusRequest, call) throws(ControlError) in try backend.status(request, call) }
        table.add { (request: ConflictsRequest, call) throws(ControlError) in try backend.conflicts(request, call) }
        table.add { (request: HistoryRequest, call) throws(ControlError) in try backend.history(request, call) }
        table.add { (request: ShowRequest, call) throws(ControlError) in try backend.show(request, call) }
        table.add { (request: DeletedRequest, call) throws(ControlError) in try backend.deleted(request, call) }
        table.add { (request: LogRequest, call) throws(ControlError) in try backend.log(request, call) }
        table.add { (request: SpaceRequest, call) throws(ControlError) in try backend.space(request, call) }
        table.add { (request: ClaimsRequest, call) throws(ControlError) in try backend.claims(request, call) }
        table.add { (request: ResolveRequest, call) throws(ControlError) in try backend.resolve(request, call) }
        table.add { (request: ResolveAllRequest, call) throws(ControlError) in try backend.resolveAll(request, call) }
        table.add { (request: SimulateConflictRequest, call) throws(ControlError) in
            try backend.simulateConflict(request, call)
        }
        table.add { (request: RestoreRequest, call) throws(ControlError) in try backend.restore(request, call) }
        table.add { (request: RestoreDirectoryRequest, call) throws(ControlError) in
            try backend.restoreDirectory(request, call)
        }
        table.add { (request: CompareDirectoryRequest, call) throws(ControlError) in
            try backend.compareDirectory(request, call)
        }
        table.add { (request: UndeleteRequest, call) throws(ControlError) in try backend.undelete(request, call) }
        table.add { (request: PinRequest, call) throws(ControlError) in try backend.pin(request, call) }
        table.add { (request: AddVersionRequest, call) throws(ControlError) in try backend.addVersion(request, call) }
        table.add { (request: ThinRequest, call) throws(ControlError) in try backend.thin(request, call) }
        table.add { (request: PurgeRequest, call) throws(ControlError) in try backend.purge(request, call) }
        table.add { (request: PreviewPurgeRequest, call) throws(ControlError) in
            try backend.purge(request.dryRun, call)
        }
        table.add { (request: PreviewPurgeDeletedRequest, call) throws(ControlError) in
            try backend.purgeDeleted(request.dryRun, call)
        }
        table.add { (request: PurgeDeletedRequest, call) throws(ControlError) in
            try backend.purgeDeleted(request, call)
        }
        table.add { (request: ForgetRequest, call) throws(ControlError) in try backend.forget(request, call) }
        table.add { (request: CheckRequest, call) throws(ControlError) in try backend.check(request, call) }
        table.add { (request: ConfigRequest, call) throws(ControlError) in try backend.config(request, call) }
        table.add { (request: SetConfigRequest, call) throws(ControlError) in try backend.setConfig(request, call) }
        routes = table.routes
    }

    subscript(method: String) -> Route? { routes[method] }

    /// The methods' names.
    var methods: [String] { routes.keys.sorted() }

    private struct Table {
        var routes: [String: Route] = [:]

        mutating func add<Request: ControlRequest>(
            _ body: @escaping @Sendable (Request, ControlCall) throws(ControlError) -> Request.Reply
        ) {
            routes[Request.method] = Route(isLong: Request.isLong) { (line, id, call) throws(ControlError) in
                let request = try Wire.parameters(Request.self, in: line)
                return try Wire.line(replying: body(request, call), to: id)
            }
        }
    }
}
