// What an operation does with the file that its walk has found: on that very file, whatever has its name by now.

import SystemPackage
import VersionModel

extension Spot {
    /// The file that was found under the name, as an O_PATH descriptor; ESTALE if another one has the name by now.
    func hold() throws(Errno) -> SharedDescriptor {
        guard let stat else { throw .noSuchFileOrDirectory }
        return try Backing.hold(name.bytes, in: directory.raw, stat.key)
    }

    /// The same, open.
    func open(flags: Int32) throws(Errno) -> SharedDescriptor {
        try with { file throws(Errno) in SharedDescriptor(try Backing.open([], in: file, flags: flags)) }
    }

    /// Works on the file that was found under the name: with calls that take an empty name.
    func with<Result>(_ body: (Int32) throws(Errno) -> Result) throws(Errno) -> Result {
        let file = try hold()
        return try withExtendedLifetime(file) { () throws(Errno) in try body(file.raw) }
    }
}
