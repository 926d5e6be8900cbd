// The shortest order of steps that still fails: a report that a reader can follow.

/// Leaves out each step without which the order fails still.
///
/// - Parameter fails: plays an order from the beginning, and says whether it fails.
public func shortest<Step>(_ steps: [Step], fails: ([Step]) throws -> Bool) rethrows -> [Step] {
    var rest = steps
    var index = 0
    while index < rest.count {
        var fewer = rest
        fewer.remove(at: index)
        if try fails(fewer) { rest = fewer } else { index += 1 }
    }
    return rest
}
