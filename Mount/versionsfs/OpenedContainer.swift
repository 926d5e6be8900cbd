// Opening a container for whoever serves it: the directory, its state, its settings.

import CLinux
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
            if error as? Errno == .socketNotConnected {
                throw StartError(text: "\(path): the daemon of this mount is gone: versionsctl mount \(path) mounts it again")
            }
            throw StartError(text: "\(path): \(error)")
        }
        // Through a mount of ours the state does not exist, and must not be made.
        guard fgetxattrCount(root.rawValue, "user.versions.container") < 0 else {
            throw StartError(text: "\(path): it is mounted already: versionsctl status shows it")
        }
        do {
            store = try VersionStore(
                root: root, options: .init(clock: SystemClock(), logger: logger, readOnly: isReadOnly))
        } catch {
            throw StartError(text: Self.sentence(path, error, isReadOnly: isReadOnly))
        }
        if store.identity.wasCopied {
            logger.notice("this container is a copy: it has a new device id")
            // Whoever waits for the start hears it too.
            if arguments.readyDescriptor != nil { complain("\(path): the directory was copied: it has a new device id") }
        }
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

    private static func sentence(_ path: FilePath, _ error: StoreError, isReadOnly: Bool) -> String {
        switch error {
        case .inUse: "\(path): \(error): it is mounted already, versionsctl status shows where"
        case .unknownFormat: "\(path): \(error): it was made by a newer version, update this one"
        case .reservedName: "\(path): \(error): rename it first"
        case .notAContainer where isReadOnly: "\(path): \(error) yet: mount it once without -o ro"
        case .catalog(14, _) where isReadOnly: "\(path): it was not unmounted in order: mount it once without -o ro"
        case .io(.readOnlyFileSystem, _): "\(path): the file system is read-only: mount it with -o ro"
        default: "\(path): \(error)"
        }
    }
}

/// The length of an extended attribute; negative if there is none.
private func fgetxattrCount(_ file: Int32, _ name: String) -> Int { linux_fgetxattr(file, name, nil, 0) }

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
