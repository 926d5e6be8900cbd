import Lineage
import VersionModel

/// A state of everything: the disk, the facts, what the daemon remembers, and what the checker has noted.
public struct World: Sendable {
    public var disk = Disk()
    public var facts = Facts()
    public var memory = Memory()
    /// The same by keys, where plans are made of parts of it; nil: it is to be made.
    var remembered: Remembered?
    /// It hears the change feed from the beginning.
    var listener = Listener()
    /// All of them, in their order; only where they are asked for.
    var transactions: [Transaction]?
    /// What was done, one event after another; only where it is asked for.
    var performed: [Performed]?
    var seconds: Int64 = 0
    /// Counts events within a second, so that no two have one time.
    var ticks: Int64 = 0
    var nextNumber: UInt64 = 1
    var nextFile: UInt64 = 2
    var nextHandle: UInt32 = 0
    /// How the programs are related; in enumerations they are strangers.
    var kin = Kin()
    /// Places of quiet documents.
    var quiet: [PlaceNumber] = []
    /// The letter that was written last.
    var lastLetter: UInt8 = 0
    /// Where each handle writes next, in the order of `memory.handles`.
    var positions: [Int] = []
    /// Contents that a program may count on: its close, or its rename, has told it so.
    var acknowledged: [Acknowledged] = []
    /// The facts after each of the last events, which a power cut goes back to; only where that is tried.
    var past: [Facts] = []
    /// The names before the last move. Facts are only added, so that each earlier moment was checked by its own move.
    var former: Tree?

    /// Whether the end of the facts is lost: what was amended may be as it was before, or after.
    var isAfterPowerCut = false
    /// Whether the next system call is refused, or one was.
    var refusal = Refusing.none

    enum Refusing: Sendable { case none, asked, given }

    /// When all was synchronized last, and what was done since; only where power cuts are tried.
    var synchronized: Synchronized?
    var unsynchronized: [Effect] = []
    /// After a power cut: the versions whose content cannot be lost; nil for all of them.
    var sealed: [VersionNumber]?

    struct Acknowledged: Hashable, Sendable {
        var content: Fingerprint
        var file: FileID
        /// The program that was told so; nil if no program was.
        var actor: ActorNumber?
    }

    /// Facts that were recorded at once, and those of them that listeners were told.
    public struct Transaction: Sendable {
        public var recorded: [Fact]
        public var told: [Fact]
    }

    /// One event, or a write that no event tells of.
    public struct Performed: Sendable {
        /// nil for a write past the daemon.
        public var event: Event?
        public var plan: Plan
        public var isRefused = false
        public var now: Timestamp
        public var kin: Kin
        /// The bytes that the files have afterwards.
        public var disk: Disk
    }

    struct Tree: Hashable, Sendable {
        var number: UInt64
        var names: [Found.Name]
    }

    init() {}

    /// The scene as the engine has it.
    var sceneOverLog: Scene {
        let facts = Facts(over: ListedFacts(facts))
        return Scene(
            facts: facts, memory: memory, now: now, nextNumber: nextNumber, kin: kin, quiet: Quiet(quiet))
    }

    public static let root = FileID.root

    /// A little less than 20 s, so that no number of them meets a limit exactly.
    static let age: Int64 = 19_900_000_000

    public var now: Timestamp { Timestamp(nanoseconds: seconds * Self.age + ticks) }

    var scene: Scene {
        Scene(facts: facts, memory: memory, now: now, nextNumber: nextNumber, kin: kin, quiet: Quiet(quiet))
    }

    /// A place: a name, numbered, in a directory.
    public static func place(_ directory: FileID, _ name: UInt32) -> PlaceNumber {
        PlaceNumber(UInt32(truncatingIfNeeded: directory.number) * 8 + name)
    }

    static func directory(of place: PlaceNumber) -> FileID { FileID(UInt64(place.number / 8)) }
    static func name(of place: PlaceNumber) -> UInt32 { place.number % 8 }

    static let x = place(root, 0)
    static let y = place(root, 1)
    /// The name that each program which makes it has made up, where the rules of the world have such names. So is the
    /// third name of a directory.
    static let made = place(root, 2)

    /// The places that moves are made at: three names, and three in each directory.
    var places: [PlaceNumber] {
        var places = [Self.x, Self.y, Self.made]
        for directory in disk.directories.sorted() { places += (0..<3).map { Self.place(directory, $0) } }
        return places
    }

    /// What is torn is judged before it is settled (facts.md 6): its label counts no more.
    private func wholeLabels(_ object: Disk.Object) -> [Label] {
        guard isAfterPowerCut else { return object.labels }
        return object.labels.filter { object.bytes.begins(with: $0.version.fingerprint) }
    }

    /// What the disk shows after a crash.
    var found: Found {
        Found(
            names: disk.names, directories: disk.directories,
            files: disk.files.map { Found.File(id: $0.id, fingerprint: $0.content, modified: $0.modified) },
            objects: disk.objects.map { Found.Object(content: $0.content, labels: wholeLabels($0)) },
            begins: { $0.fingerprint.begins(with: $1) })
    }
}
