// Which files a kill or a power cut has left in parts: judged before anything is settled (docs/decisions/0003).

/// The state of a file after a kill of the daemon that had it open, or after a power cut. The file's last content is
/// the last one that a fact or a kept content tells of.
///
/// | the file | |
/// |---|---|
/// | is a database, or a program writes to it | is left alone: it has its own recovery, or is not done |
/// | begins with the last content's last version, or is another version of its document | has arrived |
/// | is the last content, which is kept | the same |
/// | goes on behind that content after a kill, not with zeros alone | was appended to, and stays as it is |
/// | was overwritten since that content was kept, and its label says that the new bytes were synchronized | the same |
/// | was overwritten since that content was kept | is torn: no fact tells that a save was complete |
/// | has another content than was saved, and nothing has touched it since | is torn |
/// | was touched since, and lacks blocks | is torn: it was being written once more |
/// | was touched since | was edited |
///
/// A torn file's bytes are a version, marked as unfinished, and the newest whole version before it is current again.
public struct ArrivedFile: Hashable, Sendable {
    /// A database, or a file that a program writes to.
    public var isLeftAlone = false
    /// Whether it begins with the last version of its last content; if that is kept, with all of the content.
    public var beginsWithLast = false
    /// Whether it is longer than its last content, which is kept.
    public var isLonger = false
    /// Whether the daemon alone has ended, so that all that was written is there, and bytes other than zeros are behind
    /// its last content, which is kept. Zeros are there before they are written over.
    public var isAppended = false
    /// Whether its bytes are those of any version of its document.
    public var isVersion = false
    /// Whether the last content is kept, so that the file may have been overwritten since.
    public var isLastKept = false
    /// Whether its label tells of a later content that was synchronized, and it begins with that.
    public var beginsWithSynchronized = false
    /// Whether nothing has changed it since its last version was recorded.
    public var isUntouched = false
    /// Whether it is shorter than that version, or has blocks that have not arrived.
    public var lacksBlocks = false

    public init() {}

    public var isTorn: Bool {
        if isLeftAlone || isVersion { return false }
        // After a power cut a longer file may be what has come of another save, with blocks that have not.
        if beginsWithLast, !isLonger || isAppended { return false }
        if isLastKept { return !beginsWithSynchronized }
        return isUntouched || lacksBlocks
    }
}
