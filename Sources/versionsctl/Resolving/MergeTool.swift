// Merging with a program of the user's: named on the command line, or the one that git is to use.

import ControlProtocol
import Glibc
import VersionsClient

/// A program that merges.
struct MergeTool {
    /// What it is called in messages.
    var name: String
    /// For the shell, with LOCAL, BASE, REMOTE and MERGED in its environment.
    var command: String

    /// - Parameter word: a program, which gets the four as arguments; one of those that want them in another way; or a
    ///   command with `$` in it.
    init(_ word: String) {
        name = word
        command =
            Self.known(word, path: nil)
            ?? (word.contains("$") ? word : word + " \"$LOCAL\" \"$BASE\" \"$REMOTE\" \"$MERGED\"")
    }

    private init(name: String, command: String) { (self.name, self.command) = (name, command) }

    /// The one of git's settings; nil if they name none, or there is no git.
    static func configured() throws -> MergeTool? {
        guard let name = try setting("merge.tool") else { return nil }
        if let command = try setting("mergetool.\(name).cmd") { return MergeTool(name: name, command: command) }
        guard let path = try setting("mergetool.\(name).path") else { return MergeTool(name) }
        let quoted = "'" + path.replacing("'", with: "'\\''") + "'"
        return MergeTool(
            name: name,
            command: known(name, path: quoted) ?? quoted + " \"$LOCAL\" \"$BASE\" \"$REMOTE\" \"$MERGED\"")
    }

    private static func setting(_ key: String) throws -> String? {
        let bytes = try Files.withTemporary { output -> [UInt8]? in
            let arguments = ["config", "--get", key].map { Path(bytes: ArgumentBytes.bytes($0)) }
            do throws(ControlError) {
                let status = try Subprocess.run("git", arguments, standard: [1: output.descriptor])
                return status == 0 ? try Files.content(output.path) : nil
            } catch {
                guard error.errno == ENOENT else { throw error }
                return nil
            }
        }
        guard var bytes else { return nil }
        if bytes.last == 10 { bytes.removeLast() }
        return bytes.isEmpty ? nil : ArgumentBytes.text(bytes)
    }

    /// As git calls them. In vim MERGED is the window at the bottom and has the cursor.
    private static func known(_ name: String, path: String?) -> String? {
        let vims = ["vimdiff": "vim", "gvimdiff": "gvim", "nvimdiff": "nvim"]
        if let vim = vims[name] {
            return (path ?? vim) + " -f -d -c '4wincmd w | wincmd J' \"$LOCAL\" \"$BASE\" \"$REMOTE\" \"$MERGED\""
        }
        if let vim = name.last == "2" ? vims[String(name.dropLast())] : nil {
            return (path ?? vim) + " -f -d -c '2wincmd w' \"$LOCAL\" \"$MERGED\" \"$REMOTE\""
        }
        switch name {
        case "meld": return (path ?? "meld") + " --output=\"$MERGED\" \"$LOCAL\" \"$BASE\" \"$REMOTE\""
        case "kdiff3": return (path ?? "kdiff3") + " --auto -o \"$MERGED\" \"$BASE\" \"$LOCAL\" \"$REMOTE\""
        case "vscode", "code":
            return (path ?? "code") + " --wait --merge \"$REMOTE\" \"$LOCAL\" \"$BASE\" \"$MERGED\""
        default: return nil
        }
    }

    /// Runs it over four files; MERGED then has what is to be saved.
    /// - Parameters:
    ///   - document: as it was typed.
    ///   - asks: whether people are asked if it has not written MERGED, as git does.
    func run(_ files: MergeFiles, for document: Path, asks: Bool) throws {
        // Long ago, so that whatever the tool writes shows in the time.
        let before = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        _ = files.merged.withCString { utimensat(AT_FDCWD, $0, before, 0) }
        let sources = try [files.local, files.base, files.remote].map { try Files.content($0) }
        let status = try SupervisedCommand.run(
            "sh", [Path("-c"), Path(bytes: ArgumentBytes.bytes(command))], environment: files.environment)
        let shown = Style.printable(Path(bytes: ArgumentBytes.bytes(name)))
        guard status == 0 else {
            throw ControlError(.failed, "\(shown) ended with status \(status); nothing was changed", path: document,
                advice: "try again, or use --keep current|ID|all")
        }
        // A tool may say 0 and have done nothing, being closed without saving.
        if Files.modified(files.merged) == 1 {
            let question = "\(shown) has not written the merged file. Keep the current version?"
            guard asks, Question.canAsk, try Question.confirm(question) else {
                throw ControlError(.failed, "\(shown) has not written the merged file; nothing was changed",
                    path: document, advice: "save the merged file in the tool, or use --keep current|ID|all")
            }
            return
        }
        let content = try Files.content(files.merged)
        guard !content.isEmpty || sources[0].isEmpty else {
            throw ControlError(.failed, "\(shown) left the merged file empty; nothing was changed", path: document,
                advice: "let it write MERGED, or use --keep current|ID|all")
        }
        guard ConflictMarkers(besides: sources).count(in: content) == 0 else {
            throw ControlError(.failed, "conflict markers are left; nothing was changed", path: document,
                advice: "remove them in the tool, or use --keep current|ID|all")
        }
    }
}
