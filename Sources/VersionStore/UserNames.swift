// The names of user numbers, looked up once each.

import Glibc
import Synchronization
import VersionModel

/// The names of users; the number as text for one without a name.
public final class UserNames: Sendable {
    /// Guards the known names. Innermost; the user database is queried without it.
    private let names = Mutex<[UInt32: String]>([:])

    public init() {}

    /// The name of a user.
    public func name(of user: UInt32) -> String {
        if let known = names.withLock({ $0[user] }) { return known }
        let name = Self.ask(user) ?? String(user)
        names.withLock { names in
            if names.count >= 4096 { names.removeAll() }
            names[user] = name
        }
        return name
    }

    /// The author of a file whose program is unknown.
    public func owner(_ user: UInt32) -> Author {
        Author(userID: user, user: name(of: user), program: "", process: 0)
    }

    private static func ask(_ user: UInt32) -> String? {
        var size = 1024
        while size <= 1 << 20 {
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            var buffer = [CChar](repeating: 0, count: size)
            let (failure, name) = buffer.withUnsafeMutableBufferPointer { buffer -> (Int32, String?) in
                guard let start = buffer.baseAddress else { return (0, nil) }
                let failure = getpwuid_r(user, &entry, start, buffer.count, &found)
                guard failure == 0, found != nil, let name = entry.pw_name else { return (failure, nil) }
                return (0, String(cString: name))
            }
            if failure != ERANGE { return name }
            size *= 4
        }
        return nil
    }
}
