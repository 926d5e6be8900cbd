// Opens a container for a daemon: the directory, its state, its settings.

import CLinux
import Container
import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// A container with all its parts.
struct OpenedContainer {
    let path: FilePath
    let root: FileDescriptor
    let container: any ServedContainer

    /// - Parameters:
    ///   - path: absolute and without links.
    ///   - toleratesSettings: whether invalid settings get their defaults; otherwise they are an error.
    init(
        _ path: FilePath, _ arguments: Arguments, _ logger: Logger, isReadOnly: Bool, toleratesSettings: Bool = false
    ) throws(StartError) {
        self.path = path
        let opened: FileDescriptor
        do {
            opened = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        } catch {
            if error as? Errno == .socketNotConnected {
                throw StartError(
                    path, "the daemon of this mount is gone", hint: "`versionsctl mount \(path)` mounts it again")
            }
            if error as? Errno == .notDirectory {
                throw StartError.notDirectory(path)
            }
            throw StartError(path, "\(error)", hint: "give a directory that you may read")
        }
        let tree = MountFlags.tree(of: opened, arguments.table, logger)
        if tree != nil { try? opened.close() }
        root = tree ?? opened
        // A mount of this program hides the state, and a new state must not be made there.
        guard fgetxattrCount(root.rawValue, "user.versions.container") < 0 else {
            throw StartError(path, "already mounted", hint: "`versionsctl status \(path)` shows the mount")
        }
        let core: Core
        do {
            core = try Self.openCore(
                root, .init(clock: SystemClock(), logger: logger, readOnly: isReadOnly),
                waits: arguments.mode == .mount, path)
        } catch let failure as UpgradeFailure {
            throw StartError(path, "\(failure)", hint: nil)
        } catch {
            if error as? StoreError == .inUse { throw StartError(LockHolder.diagnostic(path, root)) }
            throw Self.failure(path, error, isReadOnly: isReadOnly)
        }
        if core.state.identity.wasCopied {
            logger.notice("the directory is a copy of another container and has a new device id")
            // The waiting command prints it too.
            if arguments.readyDescriptor != nil {
                note("\(path) is a copy of another container and has a new device id.")
            }
        }
        if core.wasRebuilt { logger.warning("the catalog was rebuilt from the kept contents") }
        let checked = CheckedSettings(in: core.state.directory)
        if !toleratesSettings, let complaint = checked.complaints(path).first {
            core.close()
            throw StartError(complaint)
        }
        for text in toleratesSettings ? [] : checked.ignored {
            logger.warning("\(text)")
            if arguments.readyDescriptor != nil { note("\(path): \(text)") }
        }
        do {
            container = try core.container(
                .init(
                    clock: SystemClock(), logger: logger, settings: checked.settings, servesOthers: geteuid() == 0,
                    isReadOnly: isReadOnly))
        } catch {
            throw StartError(
                path, "the container cannot be used: \(error)",
                hint: "`versionsctl check --repair --container \(path)` may repair it")
        }
    }

    /// The longest wait for the daemon of the previous mount, which writes its last changes.
    private static let patience = Duration.seconds(20)

    private static func openCore(
        _ root: FileDescriptor, _ options: ContainerState.Options, waits: Bool, _ path: FilePath
    ) throws -> Core {
        let end = ContinuousClock.now.advanced(by: patience)
        while true {
            do { return try Core(root, options) } catch {
                let rest = ContinuousClock.now.duration(to: end)
                guard waits, error as? StoreError == .inUse, rest > .zero, LockHolder.mayEnd(path, root) else {
                    throw error
                }
                options.logger.notice("waiting for the daemon of an earlier mount, which is ending")
                guard LockHolder.wait(for: root, atMost: rest) else { throw error }
            }
        }
    }

    private static func failure(_ path: FilePath, _ error: any Error, isReadOnly: Bool) -> StartError {
        guard let error = error as? StoreError else { return StartError(path, "\(error)", hint: nil) }
        if case .untrusted(let what, let advice) = error { return StartError(path, what, hint: advice) }
        let (text, hint): (String, String) =
            switch error {
            case .unknownFormat: ("\(error), made by a newer version", "update VersionsFS")
            case .unknownCatalog: ("\(error)", "update VersionsFS")
            case .damagedFormat:
                ("\(error)", "empty it and mount again; the container gets new ids and keeps all versions")
            case .reservedName: ("\(error)", "rename it first")
            case .notAContainer where isReadOnly: ("\(error) yet", "mount it once without -o ro")
            case .catalog(14, _) where isReadOnly: ("it was not unmounted cleanly", "mount it once without -o ro")
            case .io(.readOnlyFileSystem, _): ("the file system is read-only", "mount it with -o ro")
            case .io(.permissionDenied, _), .io(.notPermitted, _):
                ("\(error)", "the directory belongs to another user: ask them, or root")
            default: ("\(error)", "`df` and `dmesg` show the state of the file system")
            }
        return StartError(path, text, hint: hint)
    }
}

/// The length of an extended attribute; negative if there is none.
private func fgetxattrCount(_ file: Int32, _ name: String) -> Int { linux_fgetxattr(file, name, nil, 0) }

/// An existing path, absolute and without symbolic links.
func absolutePath(_ bytes: [UInt8]) throws(StartError) -> FilePath {
    let text = bytes.map { CChar(bitPattern: $0) } + [0]
    guard let resolved = realpath(text, nil) else {
        let shown = String(decoding: bytes, as: UTF8.self)
        let advice = errno == ENOENT ? "make it with `mkdir`" : "give a directory that you may enter"
        throw StartError(shown, String(cString: strerror(errno)), hint: advice)
    }
    defer { free(resolved) }
    return FilePath(platformString: resolved)
}
