// `deleted` of whole directories, on a mount.

import Foundation
import Support
import Testing

@Suite("The list of deleted entries")
struct DeletedListTests {
    private func withDeleted(_ body: (TestContainer) throws -> [String]) throws {
        try withContainer(named: "deleted") { container in
            guard container.isVersioned else { return [] }
            try shell(
                """
                mkdir -p d/s/t e; for i in $(seq 20); do echo $i > d/f$i; echo $i > d/s/g$i; done; echo x > d/s/t/h
                echo apart > apart; echo 12345678901 > e/other; rm apart; rm e/other; rm -r d
                """, in: container.path)
            return try body(container)
        }
    }

    @Test("A directory is one line with what went with it; --all, a path and JSON list its entries")
    func directories() throws {
        try withDeleted { container in
            var problems: [String] = []
            func lines(_ arguments: String...) throws -> [String] {
                let output = try container.ctl(["deleted"] + arguments)
                if output.status != 0 || !output.errors.isEmpty { problems.append("\(arguments): \(output.errors)") }
                return output.text.split(separator: "\n").dropFirst().map(String.init)
            }
            let short = try lines()
            // 41 files and two directories.
            let line = short.first { $0.contains(" d/ ") } ?? ""
            if short.count != 4 || !line.hasSuffix(" d/       41 files, 3 directories") { problems.append("\(short)") }
            if !line.contains(" 104 B ") { problems.append("the size: \(line)") }
            if !(short.last ?? "").contains("--all") { problems.append("it does not name --all: \(short)") }
            let all = try lines("--all")
            if all.count != 46 || !all.contains(where: { $0.hasSuffix(" d/s/t/h") }) { problems.append("\(all)") }
            let below = try lines("d")
            if below.count != 23 || !below.contains(where: { $0.contains(" d/s/ ") }) { problems.append("\(below)") }
            let names = try lines("--sort", "name").map { $0.split(separator: " ").last ?? "" }
            if names.prefix(3) != ["apart", "directories", "e/other"] { problems.append("by name: \(names)") }
            let sizes = try lines("--sort", "size")
            if !sizes[0].contains(" d/ ") || !sizes[1].contains("e/other") { problems.append("by size: \(sizes)") }
            let whole = Data(try container.must("deleted", "--json").stdout)
            let json = try JSONSerialization.jsonObject(with: whole) as? [Any]
            if json?.count != 46 { problems.append("JSON has \(json?.count ?? -1) entries") }
            let id = line.split(separator: " ").first.map(String.init) ?? ""
            if try lines(id).count != 23 { problems.append("by id: \(try lines(id))") }
            let told = try container.must("undelete", "d").text
            if told != "Undeleted d (41 files, 3 directories)." { problems.append("undelete: \(told)") }
            if container.text(of: "d/s/t/h") != "x\n" { problems.append("d did not come back") }
            return problems
        }
    }
}
