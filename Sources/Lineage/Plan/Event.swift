import VersionModel

/// What a request of the kernel, or of a program, means to the rules: one system call, with what is known of its
/// caller.
///
/// `isMadeUp` says that the name has the pattern of names which this program makes up (``TemporaryNames``).
public enum Event: Hashable, Sendable {
    /// A free place gets a new file, open for writing; with O_APPEND if the mode is `append`.
    case create(ActorNumber, PlaceNumber, FileID, HandleNumber, AccessMode, isMadeUp: Bool, isUnseen: Bool)
    /// A file that exists is opened for writing.
    case open(ActorNumber, PlaceNumber, HandleNumber, AccessMode, isUnseen: Bool)
    /// The same for a file that has no name any more, through another handle of it (/proc/self/fd).
    case openNameless(ActorNumber, FileID, HandleNumber, AccessMode, isUnseen: Bool)
    /// A file is opened for reading.
    case read(ActorNumber, PlaceNumber)
    /// The program's last read at a place was for a backup: the program does not know the content by that.
    case readForBackup(ActorNumber, PlaceNumber)
    /// A handle is about to write. For one whose writes come unseen, its first write is its opening. `isInside` says
    /// that it writes inside the file, though it was opened to append (fcntl(2) takes O_APPEND away).
    case write(HandleNumber, isInside: Bool = false)
    /// ftruncate(2) to nothing: from now on the handle replaces the file, as one does that was opened with O_TRUNC.
    case empty(HandleNumber)
    /// ftruncate(2) to a shorter length, by a handle of any mode. To a longer one it is a write.
    case shorten(HandleNumber)
    /// close(2), which waits for the save (FLUSH).
    case close(HandleNumber)
    /// What a handle has written is a version now, while it stays open: after 5 s of quiet, by fsync(2), at a look at
    /// a mapped file, at the mount's end. With `goesOn` its later writes amend that, else they make another one.
    case seal(HandleNumber, goesOn: Bool = false)
    /// The handle is gone (RELEASE). `isLater` says that the file follows the minute (``Minute``): a `save` comes when
    /// that is due.
    case release(HandleNumber, isLater: Bool = false)
    /// truncate(2) by name; `save` follows it.
    case truncate(ActorNumber, PlaceNumber)
    /// What the file holds is a save of this program.
    case save(ActorNumber, PlaceNumber)
    case rename(ActorNumber, from: PlaceNumber, to: PlaceNumber, isMadeUp: Bool)
    case exchange(ActorNumber, PlaceNumber, PlaceNumber)
    case link(ActorNumber, from: PlaceNumber, to: PlaceNumber)
    /// With `leavesNothing` no program wants the file any more, as one that is ignored, or a scrap of git's: there is
    /// no entry of the deleted list, and its versions go, too.
    case unlink(ActorNumber, PlaceNumber, leavesNothing: Bool = false)
    case makeDirectory(ActorNumber, PlaceNumber, FileID)
    case removeDirectory(ActorNumber, PlaceNumber)
    /// What was deleted comes back from that row to a free place: a document, one of its names, or a directory. The
    /// file is a new one, in case the old one is gone. Without `takesFormer` it is taken in any case: a program has the
    /// old one open, and no link is left of it.
    case undelete(ActorNumber, RowNumber, PlaceNumber, FileID, takesFormer: Bool = true)
    /// The entry of the deleted list that this removal made goes for good.
    case purge(RowNumber)
    /// A place gets the content of a version, in a new file. Conflicts that its user has looked at are settled by that;
    /// so is the version itself, if it is one.
    case restore(ActorNumber, PlaceNumber, VersionNumber, FileID, settling: [VersionNumber] = [])
    /// A place gets the merge of its current version and a conflict, which is settled by that.
    case merge(PlaceNumber, Merged)
    /// A free place gets a copy of a version, as a document of its own.
    case put(ActorNumber, PlaceNumber, FileID, VersionNumber)
    /// A content that is kept already is a version beside the history of the place's document.
    case add(PlaceNumber, Added)
    /// A database is captured: an image of it is a version of what the place shows.
    case capture(PlaceNumber, Captured)
    /// Conflicts of a document that its user has looked at are none any more. Others stay.
    case resolve(DocumentNumber, [VersionNumber])
    /// A version is to stay as it is: no writer goes on with it.
    case pin(VersionNumber)
    /// Versions of a document go for good, as far as nothing keeps them. `sparesBases` leaves those that programs work
    /// from.
    case drop(DocumentNumber, [VersionNumber], sparesBases: Bool = false)
}

extension Event {
    /// The handle that the event is about, if that was opened before.
    public var handle: HandleNumber? {
        switch self {
        case .write(let handle, _), .empty(let handle), .shorten(let handle), .close(let handle),
            .seal(let handle, _), .release(let handle, _):
            handle
        default: nil
        }
    }

    /// The program whose call it is, if that does not follow from a handle.
    public var actor: ActorNumber? {
        switch self {
        case .create(let actor, _, _, _, _, _, _), .open(let actor, _, _, _, _), .openNameless(let actor, _, _, _, _),
            .read(let actor, _), .readForBackup(let actor, _), .truncate(let actor, _), .save(let actor, _),
            .rename(let actor, _, _, _), .exchange(let actor, _, _), .link(let actor, _, _),
            .unlink(let actor, _, _), .makeDirectory(let actor, _, _), .removeDirectory(let actor, _):
            actor
        default: nil
        }
    }
}
