// Contents that no version has any more.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension Engine {
    /// Has the versions that are left of contents judged, while no event gives them further ones.
    func release(
        _ contents: Set<Content>, _ body: (Content, _ left: [VersionRow]) throws(Errno) -> Void
    ) throws(Errno) {
        for content in contents {
            let held: Subjects = [.file(content.file)]
            subjects.take(held)
            defer { subjects.giveBack(held) }
            while true {
                let log = PlanLog(known)
                let left = Facts(over: log).versions(in: content)
                guard !log.missing.isEmpty else {
                    try body(content, left)
                    break
                }
                try load(log.missing)
            }
        }
    }
}
