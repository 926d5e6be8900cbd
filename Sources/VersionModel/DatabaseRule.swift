// Databases and their journals: one package each, without a version per write (DESIGN 5.1).

/// Recognizes databases by name and by the first bytes.
public enum DatabaseRule {
    /// The number of bytes at the beginning that ``isDatabase(_:header:)`` reads.
    public static let headerLength = 32

    /// Whether a file is a database: by its name, or by the beginning of its content if given.
    public static func isDatabase(_ name: FileName, header: [UInt8] = []) -> Bool {
        if database(ofJournal: name) != nil { return true }
        if let ending = name.fileExtension, endings.contains(String(decoding: ending, as: UTF8.self).lowercased()) {
            return true
        }
        return headers.contains { offset, magic in
            header.count >= offset + magic.count && header[offset..<(offset + magic.count)].elementsEqual(magic)
        }
    }

    /// The database of a journal, by name; nil for other files.
    public static func database(ofJournal name: FileName) -> FileName? {
        for suffix in suffixes where name.bytes.count > suffix.count && name.bytes.suffix(suffix.count) == suffix[...] {
            return FileName(bytes: name.bytes.dropLast(suffix.count))
        }
        return nil
    }

    /// Whether a rollback journal holds a running or interrupted transaction. A finished journal is removed, emptied,
    /// or starts with zeros.
    public static func isHot(journal header: [UInt8]) -> Bool {
        header.starts(with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
    }

    /// The names of a database's possible journals.
    public static func journals(of name: FileName) -> [FileName] {
        suffixes.compactMap { FileName(bytes: name.bytes + $0) }
    }

    /// Whether a journal is a write-ahead log.
    public static func isLog(_ journal: FileName) -> Bool { journal.bytes.suffix(4).elementsEqual("-wal".utf8) }

    /// Whether it is the shared memory of such a log's readers and writers, which they create if it is missing.
    public static func isSharedMemory(_ journal: FileName) -> Bool {
        journal.bytes.suffix(4).elementsEqual("-shm".utf8)
    }

    private static let suffixes = ["-journal", "-wal", "-shm"].map { Array($0.utf8) }

    private static let endings: Set<String> = [
        "db", "db3", "sqlite", "sqlite3", "sqlitedb", "mdb", "accdb", "ldb", "laccdb", "fdb", "gdb", "realm", "ibd",
        "myd",
        "myi", "rdb", "duckdb", "kyoto", "tdb", "bdb",
    ]

    private static let headers: [(Int, [UInt8])] = [
        (0, Array("SQLite format 3\0".utf8)),
        // A rollback journal and a write-ahead log of SQLite, in both byte orders.
        (0, [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]), (0, [0x37, 0x7F, 0x06, 0x82]),
        (0, [0x37, 0x7F, 0x06, 0x83]),
        (4, Array("Standard Jet DB".utf8)), (4, Array("Standard ACE DB".utf8)),
        // LMDB behind its page header, Berkeley DB (hash, btree, queue), gdbm, DuckDB.
        (16, [0xDE, 0xC0, 0xEF, 0xBE]), (12, [0x61, 0x15, 0x06, 0x00]), (12, [0x62, 0x31, 0x05, 0x00]),
        (12, [0x53, 0x22, 0x04, 0x00]), (0, [0xCE, 0x9A, 0x57, 0x13]), (0, [0xCF, 0x9A, 0x57, 0x13]),
        (8, Array("DUCK".utf8)),
    ]
}
