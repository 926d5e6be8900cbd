// Facts as a feed has told them, in the order of their numbers.

import Lineage

extension Facts {
    /// The feed tells a name that was published late when it was; here each row has its place again.
    public init(told: [Fact]) {
        func number(_ fact: Fact) -> UInt64? {
            switch fact {
            case .row(let row): row.number.number
            case .version(let version): version.number.number
            default: nil
            }
        }
        self.init()
        let recorded = told.filter { number($0) != nil }.sorted { (number($0) ?? 0) < (number($1) ?? 0) }
        for fact in recorded + told.filter({ number($0) == nil }) { apply(fact) }
    }
}
