// A page of the manual for man(1), made from what the parser says of a command.

import ArgumentParser
import ControlProtocol
import FoundationEssentials

/// One command's page.
struct ManualPage {
    /// The words of the command: `versionsctl`, `coordinate`, `read`.
    var words: [String]
    var command: any ParsableCommand.Type

    /// The columns of a form that man(1) leaves as it is: those of a terminal, without its margin.
    private static let columns = 72

    /// `versionsctl-coordinate-read`.
    var name: String { words.joined(separator: "-") }

    /// The pages of a command and of all below it.
    static func all(of command: any ParsableCommand.Type, under words: [String] = []) throws -> [ManualPage] {
        let words = words + [command.configuration.commandName ?? "versionsctl"]
        return try [ManualPage(words: words, command: command)]
            + subcommands(command).flatMap { try all(of: $0, under: words) }
    }

    private static func subcommands(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        let configuration = command.configuration
        let grouped = configuration.groupedSubcommands.flatMap { group in group.subcommands }
        return (configuration.ungroupedSubcommands + grouped).filter { $0.configuration.shouldDisplay }
    }

    func text() throws -> String {
        let configuration = command.configuration
        var lines = [
            ".TH \(Self.quoted(name.uppercased())) 1 \"\" \(Self.quoted("versionsctl \(toolVersion)")) "
                + Self.quoted("VersionsFS"),
            ".SH NAME", "\(Self.escaped(name)) \\- \(Self.escaped(Self.clause(configuration.abstract)))",
            ".SH SYNOPSIS", ".nf",
        ]
        let usage = Tool.usageString(for: command).split(separator: "\n").map { $0.trimmingPrefix("Usage: ") }
        let wrapped = usage.flatMap { line in
            WrappedText.lines(usage: String(line), label: "", columns: Self.columns).split(separator: "\n")
        }
        lines += wrapped.map { Self.escaped($0.trimmingCharacters(in: " ")) } + [".fi"]
        if !configuration.discussion.isEmpty {
            lines += [".SH DESCRIPTION"] + Self.paragraphs(configuration.discussion)
        }
        let below = Self.subcommands(command)
        if !below.isEmpty {
            lines.append(".SH COMMANDS")
            for other in below {
                let page = (words + [other.configuration.commandName ?? ""]).joined(separator: "-")
                lines += [".TP", "\\fB\(Self.escaped(page))\\fR(1)", Self.escaped(other.configuration.abstract)]
            }
        }
        lines += try options() + exitStatus()
        let above = words.count > 1 ? [words.dropLast().joined(separator: "-")] : []
        lines += [".SH SEE ALSO"] + (above.map { "\\fB\(Self.escaped($0))\\fR(1)," } + ["\\fBmount\\fR(8)"])
        return lines.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
    }

    private func exitStatus() -> [String] {
        [".SH EXIT STATUS", Self.escaped("0 if it is done, 1 if it failed, 64 for wrong usage.")]
    }

    // MARK: Arguments

    private struct Dump: Decodable {
        struct Command: Decodable { var arguments: [Argument]? }
        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }
            var kind: String
            var shouldDisplay: Bool
            var names: [Name]?
            var valueName: String?
            var abstract: String?
        }
        var command: Command
    }

    private func options() throws -> [String] {
        let dump = try JSONDecoder().decode(Dump.self, from: Data(command._dumpHelp().utf8))
        let arguments = (dump.command.arguments ?? []).filter(\.shouldDisplay)
        return [("ARGUMENTS", true), ("OPTIONS", false)].flatMap { title, isPositional in
            let chosen = arguments.filter { ($0.kind == "positional") == isPositional }
            return chosen.isEmpty ? [] : [".SH \(title)"] + chosen.flatMap { entry($0) }
        }
    }

    private func entry(_ argument: Dump.Argument) -> [String] {
        let value = "\\fI\(Self.escaped(argument.valueName ?? "value"))\\fR"
        let names = (argument.names ?? []).map { name in
            "\\fB\(Self.escaped((name.kind == "long" ? "--" : "-") + name.name))\\fR"
        }.joined(separator: ", ")
        let tag = argument.kind == "positional" ? value : argument.kind == "flag" ? names : "\(names) \(value)"
        return [".TP", tag, Self.escaped(argument.abstract ?? "")]
    }

    // MARK: The language of man pages

    /// Lines that are indented keep their form.
    private static func paragraphs(_ text: String) -> [String] {
        var lines: [String] = []
        var isForm = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let indented = line.hasPrefix("  ")
            if indented != isForm, !line.isEmpty {
                lines.append(indented ? ".RS 4\n.nf" : ".fi\n.RE")
                isForm = indented
            }
            let kept = indented ? String(line.dropFirst(2)) : String(line)
            lines.append(line.isEmpty ? (isForm ? "" : ".PP") : escaped(kept))
        }
        if isForm { lines.append(".fi\n.RE") }
        if lines.first == ".PP" { lines.removeFirst() }
        return lines
    }

    /// A text that stands for itself: no escapes, no requests, and dashes that can be copied.
    static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("~", with: "\\(ti")
            .replacing("`", with: "\\(ga").replacing("'", with: "\\(aq").replacing("^", with: "\\(ha")
        return plain.hasPrefix(".") ? "\\&" + plain : plain
    }

    private static func quoted(_ text: String) -> String { "\"\(escaped(text).replacing("\"", with: "\\(dq"))\"" }

    /// `restore a version`, of `Restore a version.`
    private static func clause(_ abstract: String) -> String {
        let text = abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}

extension StringProtocol {
    fileprivate func trimmingCharacters(in blank: Character) -> String {
        String(drop { $0 == blank }.reversed().drop { $0 == blank }.reversed())
    }
}
