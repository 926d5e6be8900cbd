// Commands that list and show: status, conflicts, history, show, space, claims.

import ArgumentParser
import ControlProtocol
import Glibc
import VersionModel
import VersionsClient

extension Session {
    /// How versions are shown here.
    func versionText() -> VersionText {
        let display = display
        return VersionText(style: .standardOutput(), now: Words.now(), shown: { display.shown($0) })
    }
}

func statusText() -> StatusText { StatusText(style: .standardOutput(), now: Words.now()) }

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "status", abstract: "Show a container's state.")
    @Argument(help: "A path in the container.") var path: TypedPath?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container, offline: true)
        let status = try await session.call(StatusRequest())
        if json.json { return try Printer.json(status) }
        try Printer.text(statusText().status(status, root: session.place.root))
    }
}

struct ConflictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "conflicts", abstract: "List unresolved conflicts.")
    @Argument(help: "A document or directory.") var path: TypedPath?
    @Flag(help: "Exit with 1 if there are conflicts, with 2 on failure.") var exitCode = false
    @OptionGroup var pager: PagerOption
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container)
        // A mistyped name has no conflicts either: the answer would look like peace.
        try session.requireThere(path)
        let documents = try await session.call(ConflictsRequest(session.target))
        if json.json {
            try Printer.json(documents)
        } else {
            // The status is for a program, not for a reader.
            if !exitCode { pager.start(besides: json) }
            try Printer.text(session.versionText().conflicts(documents))
        }
        if exitCode, !documents.isEmpty { throw ExitCode(1) }
    }
}

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "history", abstract: "List a document's versions.")
    @Argument(help: "The document.") var file: TypedPath
    @OptionGroup var pager: PagerOption
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(file, container)
        let history = try await session.call(HistoryRequest(session.target))
        if json.json { return try Printer.json(history) }
        pager.start(besides: json)
        let earlier = await earlier(history, session)
        try Printer.text(session.versionText().history(history, earlier: earlier))
    }

    /// The document that the first version was saved from, if that is another one: a file that is renamed, while its
    /// name comes to a new file, leaves its history with the name.
    private func earlier(_ history: DocumentHistory, _ session: Session) async -> Path? {
        guard let first = history.versions.last, let parent = first.parents.first,
            !history.versions.contains(where: { $0.id == parent }),
            let version = try? await session.client.call(ShowRequest(.id(parent.hex), version: nil, content: nil)),
            version.id == parent, version.item != first.item
        else { return nil }
        return version.path
    }
}

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print a version's content (with --json: the version).",
        discussion: VersionOptions.explanation)
    @Argument(help: "The document.") var file: TypedPath
    @OptionGroup var version: VersionOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws { try version.requireOne() }

    func run() async throws {
        let session = try await Session.open(file, container)
        let version = try await session.call(
            ShowRequest(session.target, version: version.name, content: json.json ? nil : true))
        if json.json { return try Printer.json(version) }
        try Files.copy(version.file, to: 1)
    }
}

struct SpaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "space", abstract: "Show the space of files, versions and deleted files.")
    @Argument(help: "A document or directory.") var path: TypedPath?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container)
        let space = try await session.call(SpaceRequest(session.target), progress: "counting")
        if json.json { return try Printer.json(space) }
        try Printer.text(statusText().space(space) + "\n")
    }
}

struct ClaimsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claims", abstract: "List the programs that have or wait for files.")
    @Argument(help: "A path in the container.") var path: TypedPath?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container)
        let claims = try await session.call(ClaimsRequest())
        if json.json { return try Printer.json(claims) }
        try Printer.text(statusText().claims(claims, shown: session.display.shown))
    }
}

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print changes as they happen.")
    @Argument(help: "A document or directory.") var path: TypedPath?
    @Option(help: ArgumentHelp("Begin after the change with this number.", valueName: "sequence")) var after: UInt64?
    @Flag(help: "Only the directory and its own entries.") var shallow = false
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container)
        // A client that comes back names what it saw last: what it watches may be gone by now.
        if after == nil { try session.requireThere(path, advice: "watch its directory") }
        let (text, asJSON) = (statusText(), json.json)
        let display = session.display
        // Printed on the connection's own thread: a reader that stops reading us
        // makes the daemon wait, and nothing piles up.
        let depth: WatchDepth = shallow ? .directory : .subtree
        let end = try await session.client.watch(session.target, depth: depth, after: after) { event in
            do {
                if asJSON {
                    try Printer.jsonLine(event)
                } else {
                    try Printer.text(text.event(event, shown: display.shown))
                }
            } catch {
                Printer.stop(error)
            }
        }
        throw end
    }
}
