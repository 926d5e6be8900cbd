// The user's editor.

import ControlProtocol
import Glibc
import VersionsClient

/// Has people edit a text.
enum Editor {
    /// As other programs choose it.
    static var program: String {
        for name in ["VISUAL", "EDITOR"] {
            if let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty { return value }
        }
        return "vi"
    }

    /// The text as the editor leaves it. It is edited in a temporary file, which is removed.
    /// - Parameter name: the file's name, so that the editor knows the language.
    static func edit(_ text: [UInt8], named name: Path) async throws -> [UInt8] {
        try await Files.withTemporaryDirectory { directory in
            let file = Path(bytes: directory.bytes + [47] + name.bytes)
            try Files.replace(file, with: text)
            let program = Self.program
            let status = try SupervisedCommand.run(
                "sh", [Path("-c"), Path(program + " \"$@\""), Path("versionsctl"), file], environment: [])
            try await KeptText.guarding(file, original: text) {
                guard status == 0 else {
                    throw ControlError(
                        .failed, "\(program) ended with status \(status); nothing was changed", path: name,
                        advice: "set VISUAL or EDITOR to another editor, or try again")
                }
            }
            return try Files.content(file)
        }
    }
}
