// The events of requests that a listener gets: raw facts of one call each. Tests compare other rules with them.

import VersionModel

/// Hears what requests do, in the order in which that takes effect: most calls come under the lock that orders them, so
/// a listener only takes notes. Outside tests there is none.
public protocol EventListener: Sendable {
    func happened(_ event: RequestEvent)
}

/// One thing that a request has done to the live tree.
public enum RequestEvent: Sendable {
    /// A free name has a new file, open for writing. `isMadeUp`: the program makes up such names for itself.
    case created(Place, FileID, handle: UInt64, flags: Int32, isMadeUp: Bool, Requester)
    /// A file is open for writing, and is empty by now if the flags say so.
    case opened(Place, FileID, handle: UInt64, flags: Int32, Requester)
    /// How a handle that was opened is served: whether its writes go past the daemon.
    case served(handle: UInt64, isUnseen: Bool)
    /// A program has opened a file for reading.
    case read([Place], FileActor)
    /// The program's last read of that file was to copy the file for a backup.
    case readForBackup([Place], FileActor)
    /// A handle is about to write.
    case writing(handle: UInt64, appends: Bool)
    /// A file has another length; without a handle by its name.
    case resized(Place, FileID, handle: UInt64?, size: UInt64, Requester)
    /// close(2), and the release of the handle.
    case closed(handle: UInt64)
    case released(handle: UInt64)
    case renamed(from: Place, to: Place, FileID, isMadeUp: Bool, Requester)
    case exchanged(Place, Place, Requester)
    case linked(FileID, to: Place, Requester)
    case unlinked(Place, Requester)
    case directoryMade(Place, FileID, Requester)
    case directoryRemoved(Place, Requester)
    /// A deleted entry has left the list, for a free name.
    case undeleted(from: Place, to: Place, FileID, Requester)
    /// A name has a new file with the content of a version.
    case replaced(Place, FileID, Requester)
}

extension LiveContainer {
    /// Tells the listener; the event is only made if there is one.
    @inline(__always)
    func hear(_ event: @autoclosure () -> RequestEvent) {
        guard let listener = options.listener else { return }
        listener.happened(event())
    }
}
