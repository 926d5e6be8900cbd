// Options that a command does not have, values that are empty, and the help that names them all.

import Testing

@Suite("mistyped options", .timeLimit(.minutes(5)))
struct MistypedOptionTests {
    @Test("an option is guessed only where its name is near, and an empty value is called that")
    func options() throws {
        for (arguments, message) in [
            (["diff", "--foo", "f"], "unknown option --foo\nhint: `versionsctl help"),
            (["diff", "--foo"], "unknown option --foo\nhint: `versionsctl help"),
            (["diff", "--verson", "f"], "unknown option --verson\nhint: did you mean `--version`?"),
            (["diff", "--a", "f"], "unknown option --a\nhint: did you mean `--at`?"),
            (["show", "f", "--at", ""], "--at is empty: a time is written as"),
            (["log", "--since", ""], "--since is empty: a time is written as"),
            (["restore", "f", "--before", ""], "--before is empty: give a program's name"),
            (["log", "--by", ""], "--by is empty: give a user"),
        ] {
            let run = try runTool(arguments)
            #expect(run.status == 64 && run.errors.hasPrefix("error: \(message)"), "\(arguments): \(run.errors)")
        }
    }

    @Test("the help of every command has lines of 80 columns at most")
    func helpWidth() throws {
        let whole = try runTool(["--help"], environment: ["COLUMNS": "80"])
        let commands = whole.output.split(separator: "\n").compactMap { line -> String? in
            guard line.prefix(2) == "  ", let word = line.split(separator: " ").first, line.dropFirst(2).first != " ",
                word.allSatisfy({ $0.isLowercase })
            else { return nil }
            return String(word)
        }
        #expect(commands.count > 25)
        for arguments in commands.map({ ["help", $0] }) + [["--help"]] {
            let run = try runTool(arguments, environment: ["COLUMNS": "80"])
            let long = run.output.split(separator: "\n").filter { $0.count > 80 }
            #expect(run.status == 0 && long.isEmpty, "\(arguments): \(long)")
        }
    }
}
