import Lineage
import VersionModel

/// What a program of a world does next.
public indirect enum Move: Hashable, Sendable {
    /// The system call of the move is refused by the file system below.
    case refused(Move)
    /// It makes the file if the place is free and the mode is `replace`. Without a handle for `read`.
    case open(ActorNumber, PlaceNumber, AccessMode, isUnseen: Bool)
    /// By the handle at this index. `isRepeating` writes the same letter as always; at the start, a handle that was
    /// opened to append writes inside the file from now on.
    case write(Int, atStart: Bool, isRepeating: Bool)
    /// ftruncate(2) to nothing.
    case empty(Int)
    /// ftruncate(2) to half its length.
    case cut(Int)
    case close(Int)
    /// What it has written is a version now, and it stays open.
    case seal(Int, goesOn: Bool)
    /// A writer of the file that the handle has, and that has no name any more.
    case reopen(ActorNumber, Int, AccessMode, isUnseen: Bool)
    case release(Int)
    case rename(ActorNumber, PlaceNumber, PlaceNumber)
    case exchange(ActorNumber, PlaceNumber, PlaceNumber)
    case link(ActorNumber, PlaceNumber, PlaceNumber)
    case unlink(ActorNumber, PlaceNumber, leavesNothing: Bool = false)
    case truncate(ActorNumber, PlaceNumber)
    /// The program's last read at that place was for a backup.
    case readForBackup(ActorNumber, PlaceNumber)
    case makeDirectory(ActorNumber, PlaceNumber)
    case removeDirectory(ActorNumber, PlaceNumber)
    case undelete(ActorNumber, RowNumber, PlaceNumber, takesFormer: Bool = true)
    /// The current version of a place's document.
    case pin(PlaceNumber)
    case restore(ActorNumber, PlaceNumber, VersionNumber, settling: [VersionNumber] = [])
    /// A merge of the document's current version and its oldest conflict is saved; with a new letter.
    case merge(ActorNumber, PlaceNumber)
    /// A free place gets a copy of a version.
    case put(ActorNumber, PlaceNumber, VersionNumber)
    /// A new letter is kept beside the document's history.
    case add(ActorNumber, PlaceNumber, isConflict: Bool)
    /// Of the document at that place.
    case resolve(PlaceNumber, [VersionNumber])
    case drop(PlaceNumber, [VersionNumber], sparesBases: Bool)
    /// Of the deleted list, for good: the entry of that removal.
    case purge(RowNumber)
    /// All that was done is durable from now on.
    case synchronize
    /// 20 s go by: what waits for a name waits no more.
    case age
}
