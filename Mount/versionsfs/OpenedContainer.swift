// Opening a container for whoever serves it: the directory, its state, its settings.

import Container
import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// A container with all that belongs to it.
struct OpenedContainer {
    let path: FilePath
    let root: FileDescriptor
    let store: VersionStore
    let container: LiveContainer

    init(_ arguments: Arguments, _ logger: Logger, isReadOnly: Bool) throws(StartError) {
        path = try absolutePath(arguments.directory)
        do {
            root = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        } catch {
            throw StartError(text: "\(path): \(error)")
        }
        do {
            store = try VersionStore(
                root: root, options: .init(clock: SystemClock(), logger: logger, readOnly: isReadOnly))
        } catch {
            throw StartError(text: "\(path): \(error)\(Self.advice(error))")
        }
        if store.identity.wasCopied { logger.notice("this container is a copy: it has a new device id") }
        if store.identity.rebuilt { logger.warning("the catalog was rebuilt from what is kept") }
        do {
            let settings = try SettingsFile(in: store.state.rawValue).settings()
            container = try LiveContainer(
                root: root, store: store,
                options: .init(
                    clock: SystemClock(), logger: logger, settings: settings, servesOthers: geteuid() == 0,
                    isReadOnly: isReadOnly))
        } catch let error as SettingsError {
            throw StartError(text: "\(path): \(error)")
        } catch {
            throw StartError(text: "\(path): the container cannot be used: \(error)")
        }
    }

    private static func advice(_ error: StoreError) -> String {
        switch error {
        case .inUse: ": it is mounted already, versionsctl status shows where"
        case .unknownFormat: ": it was made by a newer version, update this one"
        case .reservedName: ": rename it first"
        default: ""
        }
    }
}

/// An existing path, absolute and without symbolic links.
func absolutePath(_ bytes: [UInt8]) throws(StartError) -> FilePath {
    let text = bytes.map { CChar(bitPattern: $0) } + [0]
    guard let resolved = realpath(text, nil) else {
        let shown = String(decoding: bytes, as: UTF8.self)
        throw StartError(text: "\(shown): \(String(cString: strerror(errno)))")
    }
    defer { free(resolved) }
    return FilePath(platformString: resolved)
}
