// Errors in the form of Apple's coordinators.

import ControlProtocol
import Foundation

extension ControlError {
    /// The error for programs that know Apple's API: a code of Cocoa or POSIX, with the message.
    /// - Parameters:
    ///   - url: the item of the access.
    ///   - isWriting: whether the access was a write.
    func cocoa(_ url: URL?, isWriting: Bool) -> NSError {
        var details: [String: Any] = [NSLocalizedDescriptionKey: message, NSUnderlyingErrorKey: self]
        if let advice { details[NSLocalizedRecoverySuggestionErrorKey] = advice }
        if let url {
            details[NSURLErrorKey] = url
            details[NSFilePathErrorKey] = url.path
        }
        func cocoa(_ code: CocoaError.Code) -> NSError {
            NSError(domain: NSCocoaErrorDomain, code: code.rawValue, userInfo: details)
        }
        func system(_ number: Int32) -> NSError {
            NSError(domain: NSPOSIXErrorDomain, code: Int(number), userInfo: details)
        }
        switch code {
        case .cancelled: return cocoa(.userCancelled)
        case .deadlock: return system(EDEADLK)
        case .denied: return cocoa(isWriting ? .fileWriteNoPermission : .fileReadNoPermission)
        case .notFound: return cocoa(isWriting ? .fileNoSuchFile : .fileReadNoSuchFile)
        case .exists: return cocoa(.fileWriteFileExists)
        case .busy: return system(EAGAIN)
        case .invalidValue, .invalidParameters: return system(EINVAL)
        case .notMounted, .disconnected: return system(ENOTCONN)
        case .system: return errno.map { system($0) } ?? cocoa(isWriting ? .fileWriteUnknown : .fileReadUnknown)
        default: return cocoa(isWriting ? .fileWriteUnknown : .fileReadUnknown)
        }
    }
}
