// Serves an unmounted container for `versionsctl`: a few requests on standard input.

import Container
import ControlProtocol
import ControlService
import Glibc
import Logging
import Synchronization
import VersionStore

/// `versionsfs --offline DIR`.
enum Offline {
    /// Serves until the input ends. A failure to open the container is an answer, too: the caller prints it.
    /// - Returns: whether the container could be opened.
    static func run(_ arguments: Arguments, _ logger: Logger) -> Bool {
        do {
            try serve(arguments, logger)
            return true
        } catch {
            let line = Wire.line(failing: ControlError(error.diagnostic), to: nil)
            _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            return false
        }
    }

    private static func serve(_ arguments: Arguments, _ logger: Logger) throws(StartError) {
        let place = try absolutePath(arguments.directory)
        try Nesting.refuseWithin(place)
        let opened = try OpenedContainer(
            place, arguments, logger, isReadOnly: false, toleratesSettings: true)
        let ending = Once {
            opened.container.close()
            opened.container.state.close()
        }
        defer { ending.run() }
        let probe = FileSystemProbe(opened.container.state, isReadOnly: false)
        let transport = ContainerStatus.Transport(passthrough: false, ring: false)
        let backend = ContainerBackend(
            opened.container,
            .init(
                mountpoint: nil, version: ProductVersion.current, log: "none",
                transport: { transport },
                forget: { report in
                    ending.run()
                    // The marks first: as long as the state exists, the caller can repeat an interrupted request.
                    let marks = MarkRemoval(below: opened.root, report: report)
                    try StateRemoval.remove(below: opened.root)
                    return sentences(about: marks)
                },
                notes: {
                    CheckedSettings(in: opened.container.state.directory).complaints(opened.path).map(\.line)
                        + [Nesting.note(on: opened.path)].compactMap { $0 }
                },
                fileSystems: {
                    FileSystemsBelow.list(
                        opened.path, probe, canReflink: opened.container.state.contents.canReflink,
                        passesThrough: false)
                }, state: Path(bytes: opened.path.bytes + Array("/.versionsfs".utf8))))
        OfflineService.run(backend: backend)
    }
}

extension ControlError {
    fileprivate init(_ diagnostic: Diagnostic) {
        self.init(.failed, diagnostic.error, path: diagnostic.subject.map { Path($0) }, advice: diagnostic.hint)
    }
}

private func sentences(about marks: MarkRemoval) -> [String] {
    guard let first = marks.first else { return [] }
    let others = marks.left > 1 ? " and \(marks.left - 1) more" : ""
    return ["\(first.path)\(others) may still have attributes user.versionsfs.*: \(first.error)"]
}

/// Runs its action the first time only.
private final class Once: Sendable {
    private let body: @Sendable () -> Void
    private let isDone = Mutex(false)

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func run() {
        let isFirst = isDone.withLock { done in
            defer { done = true }
            return !done
        }
        if isFirst { body() }
    }
}
