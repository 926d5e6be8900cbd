// The processes of a terminal's session, from /proc.

import Foundation

enum Session {
    /// All processes whose session this process leads, itself included.
    static func members(of leader: pid_t) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { getsid($0) == leader }
    }
}
