// Whether a directory in a container is a container of its own.

import Glibc
import SystemPackage

/// Distinguishes a state in its original place from a copied, unpacked or hand-made one, which users may make through
/// the mount of the outer container. Such a state is ordinary files.
public enum NestedState {
    /// Whether the directory of that name holds the state of a container in its original place.
    public static func lies(in directory: FileDescriptor, below name: UnsafePointer<CChar>) -> Bool {
        guard let container = try? System.openBeneath(name, in: directory, O_RDONLY | O_DIRECTORY) else { return false }
        defer { System.close(container) }
        return lies(in: container)
    }

    /// The same for a directory that is open for reading.
    public static func lies(in directory: FileDescriptor) -> Bool {
        guard let state = try? System.openBeneath(StateDirectory.name, in: directory, O_RDONLY | O_DIRECTORY) else {
            return false
        }
        defer { System.close(state) }
        // A user of a shared directory must not turn it into another user's container.
        guard let around = try? System.status(directory), let own = try? System.status(state),
            [around.st_uid, 0, geteuid()].contains(own.st_uid),
            let bytes = try? System.contents(of: "format", in: state, limit: 4096),
            case .known(let line) = FormatLine.read(String(decoding: bytes, as: UTF8.self)),
            let location = try? StateDirectory.location(of: state)
        else { return false }
        return line.location == location
    }
}
