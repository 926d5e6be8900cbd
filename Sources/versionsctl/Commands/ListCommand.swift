// `versionsctl list`.

import ArgumentParser
import ControlProtocol

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List your containers, mounted or not (as root, those of all users).",
        discussion: """
            A container that is not mounted is listed if it was once mounted on this machine. Its conflicts are not \
            counted: `versionsctl status DIR` does that. A container whose directory is gone is listed once more. A \
            daemon or a file system that takes over 3 s is listed as not answering.
            """)
    @OptionGroup var json: JSONOption

    func run() async throws {
        let containers = await ContainerList.take()
        if json.json { return try Printer.json(containers) }
        try Printer.text(ListText(style: .standardOutput(), now: Words.now()).list(containers))
    }
}
