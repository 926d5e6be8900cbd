// Printing what a shell needs to complete our words.

import ArgumentParser

struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion", abstract: "Print a completion script for a shell.",
        discussion: """
            bash: versionsctl completion bash > ~/.local/share/bash-completion/completions/versionsctl

            zsh: versionsctl completion zsh > DIR/_versionsctl, with DIR in fpath before compinit runs

            fish: versionsctl completion fish > ~/.config/fish/completions/versionsctl.fish
            """)

    enum Shell: String, CaseIterable, ExpressibleByArgument { case bash, zsh, fish }

    @Argument(help: "The shell.") var shell: Shell

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell.rawValue) else { return }
        try Printer.text(Tool.completionScript(for: shell) + "\n")
    }
}
