// Writing the manual: a page for each command, from the parser's own texts. `Mount/up` calls it.

import ArgumentParser
import ControlProtocol

struct ManCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "man", abstract: "Write manual pages into a directory.", shouldDisplay: false)

    @Option(help: ArgumentHelp("The directory, such as share/man/man1.", valueName: "directory")) var to: TypedPath

    func run() throws {
        for page in try ManualPage.all(of: Tool.self) {
            let path = Path(bytes: to.path.bytes + Array("/\(page.name).1".utf8))
            try Files.replace(path, with: Array(try page.text().utf8))
        }
    }
}
