// Schema 2: the tables that facts are recorded in (facts.md 1 and 7).

/// The tables of `catalog2.sqlite`.
///
/// | table | a row is |
/// |---|---|
/// | `meta` | what the catalog says of itself |
/// | `setting` | a small value that survives the daemon |
/// | `place` | a directory and a name in it, with the number that stands for them in other rows |
/// | `boot` | a boot of the machine, in which start times of processes count |
/// | `actor` | a program that reads and saves: a process, with its user and program then |
/// | `name` | a `NameRow` that is published: a place has a file from now on, or none |
/// | `version` | a `VersionRow`, with its document, and what users see of it |
/// | `event` | what a transaction tells beside its rows: an earlier one is amended or published late (``FactEvent``) |
/// |  | and what an amended version was before, for returns to a moment |
/// | `label` | the text that users have given to a document or a version |
/// | `times` | the times that a directory had before the first removal of a group from it; `seq` is the removal's |
/// | `alias` | one more identity of a version, which another one had in format 1 |
///
/// A directory has a row of `name` before a place in it has a number, but for the root: it is found, if nothing was
/// recorded of it. So a path is known by rows alone, also when the directory has gone, and a walk down finds all of it.
///
/// Rows of `name`, `version` and `event` have their numbers from one sequence, which is the order of the facts. Numbers
/// begin at 1. A row stays as it is, but for a version that its handle still amends, a hash that was not known, marks,
/// and a purge; and a directory that was copied is another file in all rows. The numbers of places and actors are the
/// catalog's own, for good.
///
/// | column | |
/// |---|---|
/// | `name.item`, `version.item` | the document: the number of its first row |
/// | `name.other` | the row before (`from`); of a departure, the row that the file went to |
/// | `name.alias` | another identity: of the document, on its first row; of the deletion, on a removal |
/// | `version.saved` | the file that was saved, if the content is another's |
/// | `version.high`, `low`, `rest` | SHA-256: 8, 8 and 16 bytes. Without `rest` it is not known |
/// | `version.row` | NULL for the document's first row |
/// | `version.base` | NULL for the first parent, or for none if there is no parent; 0 for none |
/// | `version.modified` | the file's mtime, in nanoseconds after `time` |
/// | `version.changed` | its ctime, in nanoseconds after the mtime; NULL if that is not known |
/// | `version.access` | the value of `system.posix_acl_access` |
/// | `version.alias` | another identity |
/// | `label.subject` | the number of the document or the version |
///
/// | index | |
/// |---|---|
/// | `name_file` | the names of a file; the rows without a file are the departures of all places, in their order |
/// | `name_gone` | the departures of a place |
/// | `name_directory` | the directories that a place had |
/// | `version_item` | the versions of a document that are not forgotten |
/// | `version_rival` | those of them that have a loser, or are a conflict beside it |
/// | `version_conflict` | losers and conflicts that are neither settled nor forgotten |
/// | `version_lost` | versions that are not forgotten and whose content is gone |
enum FactSchema {
    static let version: Int64 = 2

    static let tables = [
        "meta", "setting", "place", "boot", "actor", "name", "version", "event", "label", "times", "alias",
    ]

    static let text = """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE setting (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE place (number INTEGER PRIMARY KEY, directory INTEGER NOT NULL, name BLOB NOT NULL);
        CREATE UNIQUE INDEX place_name ON place (directory, name);
        CREATE TABLE boot (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE);
        CREATE TABLE actor (
            number INTEGER PRIMARY KEY, boot INTEGER NOT NULL, process INTEGER NOT NULL, started INTEGER NOT NULL,
            user INTEGER NOT NULL, login TEXT NOT NULL, program TEXT NOT NULL);
        CREATE INDEX actor_process ON actor (process, started);
        CREATE TABLE name (
            seq INTEGER PRIMARY KEY, place INTEGER NOT NULL, file INTEGER, item INTEGER NOT NULL, how INTEGER NOT NULL,
            other INTEGER, time INTEGER NOT NULL, actor INTEGER, flags INTEGER NOT NULL, origin INTEGER,
            purged INTEGER, alias BLOB);
        CREATE INDEX name_place ON name (place);
        CREATE INDEX name_file ON name (file);
        CREATE INDEX name_gone ON name (place) WHERE file IS NULL;
        CREATE INDEX name_directory ON name (place) WHERE file IS NOT NULL AND flags & 2;
        CREATE INDEX name_item ON name (item, place) WHERE file IS NOT NULL;
        CREATE INDEX name_other ON name (other) WHERE file IS NOT NULL AND other IS NOT NULL;
        CREATE INDEX name_origin ON name (origin) WHERE origin IS NOT NULL;
        CREATE INDEX name_alias ON name (alias) WHERE alias IS NOT NULL;
        CREATE TABLE version (
            seq INTEGER PRIMARY KEY, row INTEGER, item INTEGER NOT NULL, file INTEGER NOT NULL,
            generation INTEGER NOT NULL, saved INTEGER, size INTEGER NOT NULL, high INTEGER NOT NULL,
            low INTEGER NOT NULL, rest BLOB, time INTEGER NOT NULL, modified INTEGER NOT NULL, changed INTEGER,
            author INTEGER, base INTEGER, first INTEGER, second INTEGER, loser INTEGER, flags INTEGER NOT NULL,
            mode INTEGER, owner INTEGER, "group" INTEGER, access BLOB, alias BLOB);
        CREATE INDEX version_item ON version (item) WHERE flags & 16 = 0;
        CREATE INDEX version_content ON version (file, generation);
        CREATE INDEX version_rival ON version (item) WHERE loser IS NOT NULL OR flags & 2;
        CREATE INDEX version_conflict ON version (item) WHERE flags & 2050 <> 0 AND flags & 48 = 0;
        CREATE INDEX version_lost ON version (item) WHERE flags & 272 = 256;
        CREATE INDEX version_loser ON version (loser) WHERE loser IS NOT NULL;
        CREATE INDEX version_alias ON version (alias) WHERE alias IS NOT NULL;
        CREATE TABLE event (seq INTEGER PRIMARY KEY, record BLOB NOT NULL);
        CREATE TABLE label (subject INTEGER PRIMARY KEY, text TEXT NOT NULL);
        CREATE TABLE times (seq INTEGER PRIMARY KEY, accessed INTEGER NOT NULL, modified INTEGER NOT NULL);
        CREATE TABLE alias (id BLOB PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
        """
}
