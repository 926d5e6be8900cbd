// The settings in force, with what is derived from them.

import Synchronization
import VersionModel

/// What the settings say at the moment; replaced as a whole when one is changed. Lock order: last.
final class Policy: Sendable {
    private struct State {
        var settings: Settings
        /// `.versionsignore` at the root; nil if there is none.
        var ignoreFile: IgnoreFile?
        var ignore: IgnorePatterns
        var quiet: QuietRule
        var changes = 0

        init(_ settings: Settings, ignoreFile: IgnoreFile?) {
            self.settings = settings
            self.ignoreFile = ignoreFile
            let text = ignoreFile?.text ?? []
            let lines = settings.ignorePatterns + text.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
            ignore = IgnorePatterns(lines: lines)
            quiet = settings.quietPatterns.map { QuietRule(patterns: $0) } ?? QuietRule()
        }
    }

    private let state: RankedMutex<State>

    init(_ settings: Settings) { state = RankedMutex(State(settings, ignoreFile: nil)) }

    var settings: Settings {
        get { state.withLock(\.settings) }
        set {
            state.withLock { state in
                let changes = state.changes + 1
                state = State(newValue, ignoreFile: state.ignoreFile)
                state.changes = changes
            }
        }
    }

    /// How often the settings were set.
    var changes: Int { state.withLock(\.changes) }

    /// `.versionsignore` at the root as it was read last.
    var ignoreFile: IgnoreFile? {
        get { state.withLock(\.ignoreFile) }
        set {
            state.withLock { state in
                let changes = state.changes
                state = State(state.settings, ignoreFile: newValue)
                state.changes = changes
            }
        }
    }

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
