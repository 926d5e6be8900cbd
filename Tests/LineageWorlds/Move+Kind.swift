import Lineage

extension Move {
    /// How many kinds of moves a round may leave out.
    static let countOfKinds = 19

    /// What a move is, by number; writing comes last.
    var kind: Int {
        switch self {
        case .refused(let move): move.kind
        case .open(_, _, .replace, _): 0
        case .open(_, _, .read, _): 1
        case .open(_, _, .append, _): 2
        case .open: 3
        case .rename: 4
        case .exchange: 5
        case .link: 6
        case .unlink: 7
        case .truncate: 8
        case .makeDirectory: 9
        case .removeDirectory: 10
        case .undelete: 11
        case .restore: 12
        case .age: 13
        case .purge: 14
        case .resolve: 15
        case .drop: 16
        case .merge, .add: 17
        case .pin: 16
        case .put: 18
        case .write: 19
        case .close: 20
        case .release: 21
        case .empty: 22
        case .synchronize: 23
        case .cut: 24
        case .readForBackup: 25
        case .seal: 26
        case .reopen: 27
        }
    }

    /// Whether it goes on with an open handle, which no round leaves out.
    var continuesWriting: Bool { kind >= Self.countOfKinds }
}
