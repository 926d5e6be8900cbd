// Bringing deleted things back by moving them out of `.deleted` (DESIGN 3.2).

import SystemPackage
import VersionModel
import VersionStore

extension Browser {
    /// Moves an entry of the deleted area to a name that is free. A directory comes with its last group.
    func undelete(_ id: DeletionID, to name: Node.Name, _ requester: Requester) throws(Errno) {
        defer { deletionListings.clear() }
        do throws(OperationError) {
            try container.undelete(id, to: name, requester)
        } catch {
            throw error.asErrno
        }
    }
}

extension OperationError {
    /// The errno for a caller that used a system call.
    fileprivate var asErrno: Errno {
        if let errno { return errno }
        return switch kind {
        case .notFound, .contentMissing, .nothingToDo: .noSuchFileOrDirectory
        case .denied: .permissionDenied
        case .exists: .fileExists
        case .busy: .resourceBusy
        case .ambiguous, .invalid: .invalidArgument
        case .cancelled: .interrupted
        case .system: .ioError
        }
    }
}
