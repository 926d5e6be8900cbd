// The options of a mount for libfuse and the kernel.

import Glibc

/// Builds the argument of libfuse's `-o`.
enum MountOptions {
    static func argument(fsname: String, subtype: String, options: [String]) -> String {
        (options + ["fsname=" + escape(fsname), "subtype=" + escape(subtype)]).joined(separator: ",")
    }

    /// libfuse splits options at commas; a backslash escapes them.
    private static func escape(_ value: String) -> String {
        value.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
            .split(separator: ",", omittingEmptySubsequences: false).joined(separator: "\\,")
    }

    /// Whether this user may use `allow_other` and `allow_root`.
    static var mayLetOthersIn: Bool { geteuid() == 0 || othersAllowed(readConfiguration()) }

    /// Whether fuse.conf(5) lets users other than root use `allow_other`.
    static func othersAllowed(_ configuration: String) -> Bool {
        configuration.split(separator: "\n").contains { line in
            line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace) == ["user_allow_other"]
        }
    }

    private static func readConfiguration() -> String {
        guard let file = fopen("/etc/fuse.conf", "re") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
