// Names of temporary files instead of documents: always a name together with its maker (DESIGN 5.1).

/// Ephemeral names: the patterns of programs' temporary files, each with the programs that use it. `.env.sample` has
/// the shape of rsync's temporary names and `sedentary` that of sed's; made by another program they are documents.
public enum TemporaryNames {
    /// Whether a name is ephemeral if this program, in this process, has just created it.
    /// - Parameters:
    ///   - program: as in ``Author/program``: the last component of the executable.
    ///   - process: the maker's process id, which some programs use in their names; 0 if unknown.
    public static func ephemeral(_ name: FileName, program: String, process: Int32) -> Bool {
        let name = name.bytes
        let number = Array(String(process).utf8)
        if process > 0, name.indices.contains(where: { name[$0...].starts(with: number) }) {
            if ownProcess.contains(where: { $0.matches(name, process: process) }) { return true }
        }
        if unmistakable.contains(where: { $0.matches(name, process: process) }) { return true }
        return ProgramName.meanings(of: program).contains { maker in
            guard let patterns = byMaker[maker] else { return false }
            return patterns.contains { $0.matches(name, process: process) } || vim.contains(maker) && isVimProbe(name)
        }
    }

    /// Whether a name has the shape of some program's temporary files, independent of its maker. Fast, because every
    /// creation calls it; only for these names is the program read from /proc. It may be true too often, but never too
    /// rarely.
    public static func mayBeEphemeral(_ name: FileName) -> Bool {
        name.bytes.withUnsafeBufferPointer { bytes in
            guard let first = bytes.first, let last = bytes.last else { return false }
            // Hidden, or quoted: `.f.swp`, `#f#`, `~$f`, `f~`, `f@`.
            if first == 46 || first == 35 || first == 126 || last == 126 || last == 64 || last == 35 { return true }
            if holdsTemporary(bytes) { return true }
            guard let dot = bytes.lastIndex(of: 46) else { return mayBeUndotted(bytes) }
            let suffix = UnsafeBufferPointer(rebasing: bytes[(dot + 1)...])
            // Random letters or a number after the dot, or a long word.
            if suffix.count >= 6 || suffix.allSatisfy(\.isDigit) { return true }
            return shortSuffixes.contains {
                $0.count == suffix.count && zip($0, suffix).allSatisfy { $0 == $1.lowercased }
            }
        }
    }

    /// The same for names without a dot: 4913, eight hexadecimal digits, JetBrains' underscores, and mkstemp's letters.
    private static func mayBeUndotted(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if bytes.count == 8, bytes.allSatisfy(\.isHexDigit) { return true }
        if bytes.count <= 6, bytes.allSatisfy(\.isDigit) { return true }
        if bytes.count > 10, bytes.contains(95) { return true }
        return undottedBeginnings.contains { beginning in
            bytes.count == beginning.count + 6 && zip(beginning, bytes).allSatisfy { $0 == $1.lowercased }
        }
    }

    /// The beginnings before six random letters, in names without a dot.
    private static let undottedBeginnings = ["p", "xx", "cu", "st", "sed", "svn-"].map { Array($0.utf8) }

    /// The suffixes after the last dot of ephemeral names, up to five letters.
    private static let shortSuffixes = ["bck", "part", "lock", "ytdl", "aria2", "!qb"].map { Array($0.utf8) }

    /// Whether `tmp` is somewhere in the name.
    private static func holdsTemporary(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count >= 3 else { return false }
        for index in 0..<(bytes.count - 2) where bytes[index].lowercased == 116 {
            if bytes[index + 1].lowercased == 109, bytes[index + 2].lowercased == 112 { return true }
        }
        return false
    }

    /// Whether a name is a usual backup name of a document: programs move or copy the document there before they save.
    /// Independent of the maker.
    public static func isBackup(_ name: FileName, of original: FileName) -> Bool {
        let (name, original) = (name.bytes, original.bytes)
        if backupPatterns.contains(where: { $0.matches(name, process: 0) }) { return true }
        if name.starts(with: original) {
            let suffix = Array(name.dropFirst(original.count))
            return backupSuffixes.contains { $0.matches(suffix, process: 0) }
        }
        // `.f~` beside f, and vim's `f.txz~` for f.txt where `f.txt~` exists and is not its own.
        return name == [46] + original + [126]
            || name.count == original.count + 1 && name.last == 126 && name.dropLast(2) == original.dropLast(1)
                && name.dropLast().last?.isLetter == true
    }

    /// vim creates 4913 to test whether it may, else 5036, and so on in steps of 123.
    private static func isVimProbe(_ name: [UInt8]) -> Bool {
        guard name.count <= 6, name.allSatisfy(\.isDigit), let number = Int(String(decoding: name, as: UTF8.self))
        else { return false }
        return number >= 4913 && (number - 4913).isMultiple(of: 123)
    }

    // MARK: The makers

    private static let vim = ["vim", "vi", "nvim", "gvim", "view", "vimdiff", "gview", "rvim", "evim", "ex", "vimx"]
    private static let emacs = ["emacs", "emacsclient", "temacs", "xemacs", "mg", "joe", "jmacs", "jove", "zile"]
    private static let office = ["soffice", "oosplash", "libreoffice", "swriter", "scalc"]
    /// Windows programs, and programs that forward their calls: Samba, Wine, rdp and VM shares.
    private static let windows = ["smbd", "wine", "wine64", "wineserver", "winword.exe", "excel.exe", "powerpnt.exe"]
    private static let jetbrains = [
        "java", "idea", "idea64", "pycharm", "clion", "goland", "webstorm", "phpstorm", "rider", "rubymine",
        "rustrover",
        "datagrip", "studio", "studio64", "fsnotifier",
    ]
    /// Programs of Qt and GLib, whose QSaveFile and g_file_set_contents write `NAME.XXXXXX`.
    private static let toolkits = [
        "kate", "kwrite", "kdevelop", "okular", "krita", "kile", "dolphin", "konsole", "kdenlive", "digikam",
        "lokalize",
        "umbrello", "calligra", "kmymoney", "kontact", "kmail", "korganizer", "akonadi", "plasmashell", "qtcreator",
        "keepassxc", "texstudio", "texmaker", "qbittorrent", "nextcloud", "gedit", "gnome", "xed", "pluma", "mousepad",
        "geany", "gio", "gsettings", "dconf", "tracker", "nautilus", "nemo", "thunar", "meld", "inkscape", "gimp",
        "anjuta", "builder", "evolution", "rhythmbox", "lyx",
    ]
    private static let scripts = ["node", "nodejs", "bun", "deno", "electron", "code", "codium", "cursor", "windsurf"]
    private static let browsers = [
        "firefox", "librewolf", "waterfox", "thunderbird", "chrome", "google", "chromium", "brave", "msedge", "vivaldi",
        "opera", "electron", "epiphany",
    ]
    private static let fetchers = [
        "wget", "wget2", "curl", "aria2c", "kget", "axel", "yt", "python", "transmission", "rclone", "lftp", "steam",
    ]
    private static let llvm = [
        "clang", "clang++", "lld", "ld.lld", "llvm", "swift", "swiftc", "rustc", "flang", "dsymutil",
    ]
    private static let rust = [
        "jj", "cargo", "rustup", "rustfmt", "ruff", "uv", "zed", "codex", "typst", "sk", "helix", "hx",
    ]

    // MARK: The patterns

    private struct Rule: Sendable {
        var makers: [String]
        var patterns: [NamePattern]
    }

    /// The patterns of each program, because every creation needs them.
    private static let byMaker: [String: [NamePattern]] = (editors + tools).reduce(into: [:]) { byMaker, rule in
        for maker in rule.makers { byMaker[maker, default: []] += rule.patterns }
    }

    /// An agent's or a script's own process number, beside a word for the kind of file.
    private static let ownProcess: [NamePattern] = [
        [.anything, .text(".tmp."), .process], [.anything, .text(".tmp."), .process, .text("."), .anything],
        [.anything, .text(".tmp-"), .process], [.anything, .text(".tmp"), .process],
        [.anything, .text("."), .process, .text(".tmp")], [.anything, .text("-"), .process, .text(".tmp")],
        [.anything, .text("."), .process, .text("."), .anything, .text(".tmp")],
        [.text(".tmp"), .process, .anything], [.text("tmp."), .process], [.text(".tmp."), .process],
    ]

    /// Names that programs use only for temporary files.
    private static let unmistakable: [NamePattern] = [
        [.text(".goutputstream-"), .random(6)], [.anything, .text("___jb_tmp___")], [.anything, .text("___jb_old___")],
        // Swift's Foundation: the process in hexadecimal digits.
        [.text(".dat.nosync"), .anything, .text("."), .random(6)],
        [.anything, .text(".vsctmp")], [.anything, .text(".crswap")], [.text(".~lock."), .anything, .text("#")],
        [.text(".fuse_hidden"), .hex(8), .anything], [.text(".nfs"), .hex(16), .anything],
    ]

    private static let editors: [Rule] = [
        Rule(
            makers: vim + ["nano", "pico"],
            patterns: [
                // .swp, then .swo to .swa, then .svz and so on; .swx is a probe, and .swpx of a name without a dot.
                [.text("."), .anything, .text(".s"), .random(2)],
                [.text("."), .anything, .text(".s"), .random(2), .text("x")], [.text(".sw"), .random(1)],
                [.text(".viminf"), .random(1), .text(".tmp")], [.text("viminf"), .random(1), .text(".tmp")],
                [.anything, .text(".shada.tmp."), .random(1)],
            ]),
        Rule(makers: vim + emacs + ["nano", "pico"] + jetbrains, patterns: [[.anything, .text("~")]]),
        Rule(
            makers: emacs,
            patterns: [
                [.text(".#"), .anything], [.text("#"), .anything, .text("#")], [.text("tmp"), .random(6)],
            ]),
        Rule(makers: ["mg"], patterns: [[.anything, .text("."), .random(10)]]),
        Rule(makers: ["kak"], patterns: [[.text("."), .anything, .text(".kak."), .random(6)]]),
        Rule(makers: ["hx", "helix"], patterns: [[.anything, .random(6), .text(".bck")]]),
        Rule(
            makers: toolkits,
            patterns: [
                [.anything, .text("."), .random(6)], [.text("."), .anything, .text(".kate-swp")],
            ]),
        Rule(makers: jetbrains, patterns: [[.anything, .text(".tmp")]]),
        Rule(makers: ["sublime_text", "subl", "plugin_host"], patterns: [[.text(".subl"), .anything, .text(".tmp")]]),
        Rule(makers: office, patterns: [[.text("lu"), .anything, .text(".tmp")], [.anything, .text(".tmp")]]),
        Rule(
            makers: office + windows,
            patterns: [
                [.text("~$"), .anything], [.text("~wrd"), .digits(1, 8), .text(".tmp")],
                [.text("~wrl"), .digits(1, 8), .text(".tmp")], [.text("ppt"), .hex(4), .text(".tmp")],
            ]),
        Rule(
            makers: windows,
            patterns: [
                [.hex(8)], [.hex(8), .text(".tmp")],
                ]),
        // AppKit's safe saves, and the file sharing programs that forward them.
        Rule(makers: windows + ["textedit", "preview", "pages", "numbers", "keynote", "afpd", "parsec"], patterns: [
            [.anything, .text(".sb-"), .random(8), .text("-"), .random(6)],
        ]),
        Rule(makers: ["blender"], patterns: [[.anything, .text("@")]]),
    ]

    private static let tools: [Rule] = [
        Rule(makers: ["sed"], patterns: [[.text("sed"), .random(6)]]),
        Rule(makers: ["perl"], patterns: [[.text("XX"), .random(6)]]),
        Rule(makers: ["patch"], patterns: [[.anything, .text(".o"), .random(6)], [.text("p"), .random(6)]]),
        Rule(makers: ["rsync"], patterns: [[.text("."), .anything, .text("."), .random(6)], [.text(".~tmp~")]]),
        Rule(makers: ["ln", "cp", "mv"], patterns: [[.text("Cu"), .random(6)]]),
        Rule(
            makers: ["strip", "objcopy", "ar", "ranlib", "x86_64-linux-gnu-strip"],
            patterns: [[.text("st"), .random(6)]]),
        Rule(makers: ["dpkg"], patterns: [[.anything, .text(".dpkg-new")], [.anything, .text(".dpkg-tmp")]]),
        Rule(
            makers: ["git"],
            patterns: [
                [.anything, .text(".lock")], [.text("tmp_obj_"), .random(6)], [.text("tmp_pack_"), .random(6)],
                [.text("tmp_idx_"), .random(6)], [.text("tmp_rev_"), .random(6)], [.text(".merge_file_"), .random(6)],
                [.text(".tmp-"), .digits(1, 10), .text("-pack-"), .anything],
            ]),
        Rule(
            makers: ["hg", "python", "rhg"],
            patterns: [
                [.text("."), .anything, .text("-"), .random(8)],
                [.text("."), .anything, .text("-"), .random(8), .text("~")],
            ]),
        Rule(makers: ["svn"], patterns: [[.text("svn-"), .random(6)], [.anything, .text(".tmp")]]),
        Rule(makers: ["python", "pypy", "black", "ipython", "jupyter"], patterns: [[.text("tmp"), .random(8)]]),
        Rule(makers: rust, patterns: [[.text(".tmp"), .random(6)]]),
        // write-file-atomic of npm: the name and a hash in decimal.
        Rule(makers: scripts, patterns: [[.anything, .text("."), .digits(7, 10)]]),
        Rule(
            makers: ["gofmt", "goimports", "go", "gopls", "terraform", "tofu", "packer"],
            patterns: [
                [.anything, .text("."), .digits(6, 10)], [.anything, .digits(6, 10), .text(".tmp")],
                [.text("."), .anything, .digits(6, 20)],
            ]),
        Rule(
            makers: llvm,
            patterns: [
                [.anything, .text("-"), .hex(8), .anything, .text(".tmp")],
                [.anything, .text("-"), .hex(8), .text(".tmp")],
                [.anything, .text(".tmp"), .hex(8)], [.anything, .text(".temp-stream-"), .hex(6)],
            ]),
        Rule(
            makers: browsers + fetchers,
            patterns: [
                [.anything, .text(".part")], [.anything, .text(".crdownload")], [.anything, .text(".partial")],
                [.anything, .text(".download")], [.anything, .text(".opdownload")], [.anything, .text(".aria2")],
                [.anything, .text(".ytdl")], [.text(".com.google.Chrome."), .random(6)],
                [.text(".org.chromium.Chromium."), .random(6)],
            ]),
        Rule(makers: ["qbittorrent"], patterns: [[.anything, .text(".!qB")]]),
    ]

    private static let backupSuffixes: [NamePattern] = [
        [.text("~")], [.text(".bak")], [.text(".bak~")], [.text(".orig")], [.text(".old")], [.text(".save")],
        [.text(".backup")], [.text(".bck")], [.text(".sav")], [.text(".~"), .digits(1, 9), .text("~")],
        [.text("."), .random(10)], [.text("___jb_old___")], [.text("___jb_bak___")], [.digits(1, 2)],
        [.random(6), .text(".bck")],
    ]

    private static let backupPatterns: [NamePattern] = [
        [.text("~wrl"), .digits(1, 8), .text(".tmp")], [.text("Backup of "), .anything, .text(".wbk")],
    ]
}
