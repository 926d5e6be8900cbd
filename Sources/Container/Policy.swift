// The settings in force, with what is derived from them.

import Synchronization
import VersionModel

/// What the settings say at the moment; replaced as a whole when one is changed. Lock order: last.
final class Policy: Sendable {
    private struct State {
        var settings: Settings
        /// The lines of `.versionsignore` at the root.
        var ignoreFile: [UInt8] = []
        var ignore: IgnorePatterns
        var quiet: QuietRule

        init(_ settings: Settings, ignoreFile: [UInt8]) {
            self.settings = settings
            self.ignoreFile = ignoreFile
            let lines =
                settings.ignorePatterns + ignoreFile.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
            ignore = IgnorePatterns(lines: lines)
            quiet = settings.quietPatterns.map { QuietRule(patterns: $0) } ?? QuietRule()
        }
    }

    private let state: Mutex<State>

    init(_ settings: Settings) { state = Mutex(State(settings, ignoreFile: [])) }

    var settings: Settings {
        get { state.withLock(\.settings) }
        set { state.withLock { $0 = State(newValue, ignoreFile: $0.ignoreFile) } }
    }

    /// The text of `.versionsignore` at the root was read.
    func take(ignoreFile bytes: [UInt8]) { state.withLock { $0 = State($0.settings, ignoreFile: bytes) } }

    func ignores(_ path: @autoclosure () -> TreePath) -> Bool {
        let ignore = state.withLock(\.ignore)
        return !ignore.isEmpty && ignore.ignores(path(), isDirectory: false)
    }

    /// Whether `conflicts.quiet` names a document.
    func isNamedQuiet(_ path: TreePath) -> Bool { state.withLock(\.quiet).isNamed(path) }

    func isQuiet(_ path: TreePath, isIgnoredByRepository: Bool) -> Bool {
        state.withLock(\.quiet).isQuiet(path, isIgnoredByRepository: isIgnoredByRepository)
    }
}
