// Ephemeral names by their makers, and the same names by others; backup names of a document.

import Testing
import VersionModel

private func isEphemeral(_ name: String, by program: String, process: Int32 = 777) throws -> Bool {
    let name = try #require(FileName(name))
    let isEphemeral = TemporaryNames.ephemeral(name, program: program, process: process)
    // What the quick look turns down nobody looks at again.
    if isEphemeral { #expect(TemporaryNames.mayBeEphemeral(name), "\(name) by \(program)") }
    return isEphemeral
}

@Suite("Temporary names")
struct TemporaryNamesTests {
    @Test(
        "a maker's own names are ephemeral, and the same names by `cat` are not",
        arguments: [
            ("4913", "vim.basic"), ("5036", "nvim"), (".f.txt.swp", "vim"), (".f.txt.swx", "vim.tiny"),
            (".f.swpx", "vim.basic"), (".f.swox", "vim"),
            (".f.txt.svz", "vi"),
            (".f.txt.swp", "nano"), ("f.txt~", "vim"), ("f.txt~", "nano"), (".#f.txt", "emacs-gtk"),
            ("#f.txt#", "emacs"),
            ("tmpgjG7fU", "emacs"), (".#f.txt", "joe"), ("f.txt.XXXXzH9jaQ", "mg"), (".f.txt.kak.a1B2c3", "kak"),
            ("f.txt.AbC123", "kate"), ("f.txt.AbC123", "gnome-text-editor"), ("f.txt.tmp", "java"),
            ("lu12ab.tmp", "soffice.bin"),
            ("~$report.docx", "smbd"), ("~WRD0001.tmp", "smbd"), ("~wrl0001.tmp", "wine64-preloader"),
            ("5F3A99B0", "smbd"),
            ("sedn2UzOg", "sed"), ("sedentary", "sed"), ("XXNolC27", "perl"), ("f.txt.oQCzgkq", "patch"),
            (".f.txt.uhRlvH", "rsync"), (".env.sample", "rsync"), ("index.lock", "git"), ("tmp_obj_P6bXpc", "git"),
            ("index.lock", "git-remote-https"), ("film.mp4.part", "firefox"), ("film.mp4.crdownload", "chrome"),
            ("package.json.2938475610", "node"), ("main.go.123456789", "gofmt"), ("tmpab_cd3f9", "python3.11"),
            (".tmpAbC123", "jj"), ("a-0a1b2c3d.o.tmp", "clang-14"), ("CuAbC123", "ln"),
        ])
    func makers(name: String, program: String) throws {
        #expect(try isEphemeral(name, by: program))
        #expect(try !isEphemeral(name, by: "cat"))
    }

    @Test(
        "a name with the maker's own process number is ephemeral whoever makes it",
        arguments: [
            "f.txt.tmp.777.1a2b3c", "f.txt.tmp.777", "f.txt.777.tmp", "f.txt.777.9f.tmp", ".tmp777x",
        ])
    func process(name: String) throws {
        #expect(try isEphemeral(name, by: "whatever"))
        #expect(try !isEphemeral(name, by: "whatever", process: 77))
        #expect(try !isEphemeral(name, by: "whatever", process: 778))
        #expect(try !isEphemeral(name, by: "whatever", process: 0))
    }

    @Test(
        "unmistakable names need no maker",
        arguments: [
            ".goutputstream-N4SEZ3", ".dat.nosync3D9.xlcL9m", "f.txt___jb_tmp___", "f.txt___jb_old___",
            "settings.json.vsctmp", "f.txt.crswap", ".~lock.f.odt#", ".fuse_hidden0000001a00000002",
            ".nfs00000000000a1b2c00000003",
        ])
    func unmistakable(name: String) throws {
        #expect(try isEphemeral(name, by: "x"))
    }

    @Test(
        "documents are documents",
        arguments: [
            ("4913", "node"), ("4914", "vim"), ("49130", "vim"), ("4913", ""), ("sedentary", "vim"),
            (".env.sample", "vim"),
            ("report-777.txt", "node"), ("f.txt", "vim"), (".vimrc", "vim"), ("~", "vim"), ("#", "emacs"),
            ("##", "emacs"),
            ("Cargo.lock", "cargo"), ("package-lock.json", "npm"), ("notes.md", "rsync"), ("sedimentary", "sed"),
            ("f.part", "vim"), ("XXNolC27", "perlbrew"), ("mysed.txt", "sed"), (".bashrc", "rsync"),
        ])
    func documents(name: String, program: String) throws {
        #expect(try !isEphemeral(name, by: program))
    }

    @Test(
        "backups are known by the document's name",
        arguments: [
            "f.txt~", "f.txt.bak", "f.txt.orig", "f.txt.~12~", "f.txt.XXXXzH9jaQ", "f.txt___jb_old___", "~WRL0003.tmp",
            "f.txz~", ".f.txt~",
        ])
    func backups(name: String) throws {
        let name = try #require(FileName(name))
        #expect(TemporaryNames.isBackup(name, of: try #require(FileName("f.txt"))))
    }

    @Test(
        "other names are not",
        arguments: ["f.txt", "g.txt~", "f.tx", "f.txt.txt", "f.bak", "xf.txt~", "f.txt.~x~", "~"])
    func notBackups(name: String) throws {
        let name = try #require(FileName(name))
        #expect(!TemporaryNames.isBackup(name, of: try #require(FileName("f.txt"))))
    }

    @Test("hostile names are answered, and soon")
    func hostile() throws {
        let long = [UInt8](repeating: 46, count: 255)
        #expect(!TemporaryNames.ephemeral(try #require(FileName(bytes: long)), program: "x", process: 1))
        let digits = try #require(FileName(bytes: [UInt8](repeating: 57, count: 255)))
        #expect(!TemporaryNames.ephemeral(digits, program: "vim", process: 9))
        let raw = try #require(FileName(bytes: [255, 254, 126]))
        #expect(TemporaryNames.ephemeral(raw, program: "vim", process: 9))
    }
}
