// The daemon, from top to bottom: opens the container, mounts it, serves the kernel and the control socket, and ends.

import Container
import ControlService
import FUSE
import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// Why the daemon cannot go on, in one line for people.
struct StartError: Error {
    var text: String
}

/// One container, served until it is unmounted or a signal ends it.
struct Daemon {
    let arguments: Arguments
    let logger: Logger

    func run() throws(StartError) {
        let path = try absolute(arguments.directory)
        let root = try openRoot(path)
        let store = try openStore(root, path)
        let settings = try readSettings(store, path)
        let container = try makeContainer(root, store, settings)
        let fileSystem = ContainerFileSystem(container)
        let mountpoint = try arguments.mountpoint.map { bytes throws(StartError) in try absolute(bytes) } ?? path
        let session = try mount(fileSystem, path, on: mountpoint)
        let signals = SignalThread { [logger] in
            do {
                try session.unmount(.detached)
            } catch {
                logger.error("cannot unmount: \(error)")
            }
        }
        signals.start()
        container.start()
        logger.notice("mounted", metadata: ["container": "\(path)", "mountpoint": "\(mountpoint)"])
        // The pipe's reader stats the mount, which is answered once run() serves it.
        if let descriptor = arguments.readyDescriptor { Detaching.ready(descriptor) }
        do {
            try session.run()
        } catch {
            logger.error("the mount ended: \(error)")
        }
        container.close()
        logger.notice("unmounted", metadata: ["container": "\(path)"])
    }

    private func absolute(_ bytes: [UInt8]) throws(StartError) -> FilePath {
        let text = bytes.map { CChar(bitPattern: $0) } + [0]
        guard let resolved = realpath(text, nil) else {
            let shown = String(decoding: bytes, as: UTF8.self)
            throw StartError(text: "\(shown): \(String(cString: strerror(errno)))")
        }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }

    private func openRoot(_ path: FilePath) throws(StartError) -> FileDescriptor {
        do {
            return try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        } catch {
            throw StartError(text: "\(path): \(error)")
        }
    }

    private func openStore(_ root: FileDescriptor, _ path: FilePath) throws(StartError) -> VersionStore {
        do {
            let store = try VersionStore(
                root: root,
                options: .init(clock: SystemClock(), logger: logger, readOnly: arguments.has("ro")))
            if store.identity.wasCopied { logger.notice("this container is a copy: it has a new device id") }
            if store.identity.rebuilt { logger.warning("the catalog was rebuilt from what is kept") }
            return store
        } catch {
            throw StartError(text: "\(path): \(error)")
        }
    }

    private func readSettings(_ store: VersionStore, _ path: FilePath) throws(StartError) -> Settings {
        do {
            return try SettingsFile(in: store.state.rawValue).settings()
        } catch {
            throw StartError(text: "\(path): \(error)")
        }
    }

    private func makeContainer(
        _ root: FileDescriptor, _ store: VersionStore, _ settings: Settings
    ) throws(StartError) -> LiveContainer {
        do {
            return try LiveContainer(
                root: root, store: store,
                options: .init(clock: SystemClock(), logger: logger, settings: settings, servesOthers: geteuid() == 0))
        } catch {
            throw StartError(text: "the container cannot be used: \(error)")
        }
    }

    /// As root the mount is as free as the one below it; libfuse alone would forbid devices and set-id programs.
    private func inheritedFlags(of path: FilePath, given: [String]) -> [String] {
        var below = statvfs()
        guard path.withPlatformString({ statvfs($0, &below) }) == 0 else { return [] }
        // ST_NOSUID and so on, which the C library shows to GNU programs only.
        let flags: [(UInt, restricting: String, freeing: String?)] = [
            (2, "nosuid", "suid"), (4, "nodev", "dev"), (8, "noexec", nil), (1024, "noatime", nil),
        ]
        return flags.compactMap { flag, restricting, freeing in
            if given.contains(restricting) { return nil }
            return below.f_flag & flag != 0 ? restricting : freeing
        }
    }

    private func mount(
        _ fileSystem: ContainerFileSystem, _ path: FilePath, on mountpoint: FilePath
    ) throws(StartError) -> MountedSession {
        var options = arguments.kernelOptions + ["default_permissions"]
        if geteuid() == 0 {
            if !options.contains("allow_root") { options.append("allow_other") }
            options += inheritedFlags(of: path, given: options)
        }
        do {
            return try MountedSession(
                fileSystem: fileSystem, mountpoint: mountpoint, fsname: path.string, options: options)
        } catch {
            throw StartError(text: "\(mountpoint): cannot be mounted: \(error)")
        }
    }
}
