// What was deleted, and can come back.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

struct DeletedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deleted", abstract: "List deleted files.",
        discussion: """
            A directory that was deleted with its entries takes one line, with the numbers of files and of directories \
            (itself included) and the size of the files. With --json all entries are listed, each by itself.
            """)
    @Argument(help: "A directory, or a deleted file.") var path: TypedPath?
    @Flag(help: "List the entries of deleted directories, too.") var all = false
    @Option(help: "Sort by time (newest first), name or size (largest first); the default is time.")
    var sort: DeletedOrder?
    @OptionGroup var pager: PagerOption
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container, followingLastLink: false)
        let entries = try await session.call(DeletedRequest(session.target))
        if entries.isEmpty {
            try session.requireThere(path, advice: "`versionsctl deleted` lists what was deleted from here")
        }
        if json.json {
            guard let sort else { return try Printer.json(entries) }
            let nodes = DeletedNode.listed(entries.map { DeletedNode(entry: $0) }, sort, showsAll: true)
            return try Printer.json(nodes.map(\.entry))
        }
        pager.start(besides: json)
        let text = session.versionText()
        try Printer.text(text.deleted(entries, opened: opened(session, entries), order: sort ?? .time, showsAll: all))
    }

    /// What was asked for, as a path.
    private func opened(_ session: Session, _ entries: [DeletedEntry]) -> Path? {
        switch session.target {
        case .path(let path): path
        case .id(let id): entries.first { $0.id.hex.hasPrefix(id) }?.path
        }
    }
}
