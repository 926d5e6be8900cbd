// The manual: a page for each command, which man finds and renders without a complaint.

import Foundation
import Support
import Testing

@Suite("Manual pages") struct ManualTests {
    @Test("Every command has a page that man finds beside PATH and renders without warnings")
    func pages() throws {
        try Place.with { place in
            try shell("mkdir -p bin/share/man/man1; ln -s '\(Workplace.control)' bin/versionsctl", in: place.path)
            let written = try place.ctl("man", "--to", "bin/share/man/man1")
            #expect(written.status == 0, "\(written.errors)")
            let names = try FileManager.default.contentsOfDirectory(atPath: place.path + "/bin/share/man/man1").sorted()
            let commands = try place.ctl("--help").text.split(separator: "\n").filter { $0.hasPrefix("  ") }
                .compactMap { $0.split(separator: " ").first.map(String.init) }
                .filter { !$0.hasPrefix("-") && $0.first?.isLowercase == true }
            for command in ["restore", "history", "undelete", "coordinate-read", "simulate-conflict"] {
                #expect(names.contains("versionsctl-\(command).1"), "\(names)")
            }
            #expect(names.contains("versionsctl.1") && names.count > 25 && commands.count > 20, "\(commands)")
            let environment = ["PATH": "\(place.path)/bin:/usr/bin:/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"]
            let found = try run("man", ["-w", "versionsctl-restore"], environment: environment)
            #expect(found.text.hasSuffix("bin/share/man/man1/versionsctl-restore.1"), "\(found)")
            for name in names {
                let page = try run(
                    "man", ["--warnings", String(name.dropLast(2))], environment: environment, seconds: 60)
                #expect(page.status == 0 && page.errors.isEmpty, "\(name): \(page.errors)")
                let forms = page.text.split(separator: "\n").drop { $0 != "SYNOPSIS" }.dropFirst()
                    .prefix { $0.hasPrefix(" ") }
                #expect(!forms.isEmpty && forms.allSatisfy { $0.count <= 80 }, "\(name): \(forms)")
                for heading in ["NAME", "SYNOPSIS", "EXIT STATUS", "SEE ALSO"] {
                    #expect(page.text.contains(heading), "\(name): \(page.text)")
                }
            }
            let restore = try run("man", ["versionsctl-restore"], environment: environment).text
            #expect(restore.contains("--version") && restore.contains("Restore to this path instead."), "\(restore)")
        }
    }
}
