// Coordinated reading and writing of files, as Apple's systems spell it.

import Foundation

/// Reads and writes files and directories so that other programs are asked first and wait meanwhile.
public final class NSFileCoordinator: NSObject, Sendable {}
