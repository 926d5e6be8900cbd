// The names of the options in messages.

/// A reading option's name in messages.
enum ReadingOptionName: String, CaseIterable {
    case withoutChanges, resolvesSymbolicLink, immediatelyAvailableMetadataOnly, forUploading

    var option: NSFileCoordinator.ReadingOptions {
        switch self {
        case .withoutChanges: .withoutChanges
        case .resolvesSymbolicLink: .resolvesSymbolicLink
        case .immediatelyAvailableMetadataOnly: .immediatelyAvailableMetadataOnly
        case .forUploading: .forUploading
        }
    }
}

/// A writing option's name in messages.
enum WritingOptionName: String, CaseIterable {
    case forDeleting, forMoving, forMerging, forReplacing, contentIndependentMetadataOnly

    var option: NSFileCoordinator.WritingOptions {
        switch self {
        case .forDeleting: .forDeleting
        case .forMoving: .forMoving
        case .forMerging: .forMerging
        case .forReplacing: .forReplacing
        case .contentIndependentMetadataOnly: .contentIndependentMetadataOnly
        }
    }
}

extension NSFileCoordinator.ReadingOptions {
    /// The names of the set options; unknown bits are ignored.
    var names: [String] { ReadingOptionName.allCases.filter { contains($0.option) }.map(\.rawValue) }
}

extension NSFileCoordinator.WritingOptions {
    var names: [String] { WritingOptionName.allCases.filter { contains($0.option) }.map(\.rawValue) }
}
