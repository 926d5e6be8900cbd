/// Two shells at terminals, each of which runs make in turns; at last both do at once.
///
/// The recipes are those of `PeacefulStories.makeInTwoTerminals`: `sort x > out`, and
/// `cat out x > log.new && mv log.new log`.
struct TwoMakes {
    private(set) var processes: [TreeProcess] = [.shell, .shell]
    private var orders: [String] = []

    var steps: String { orders.joined(separator: "; ") }

    init(rounds: Int) {
        orders = ["0 save x"]
        for round in 1...rounds {
            let shell = round % 2
            orders.append("\(shell) append x")
            orders += make(in: shell)
        }
        let (one, other) = (make(in: 0), make(in: 1))
        for (first, second) in zip(one, other) { orders += [first, second] }
    }

    private mutating func start(by parent: Int) -> Int {
        processes.append(.child(of: parent))
        return processes.count - 1
    }

    /// Make and all that it starts: a shell for each line of a recipe, which starts the programs of that.
    private mutating func make(in shell: Int) -> [String] {
        let (touch, make) = (start(by: shell), start(by: shell))
        let (first, second) = (start(by: make), start(by: make))
        let (sort, cat, mv) = (start(by: first), start(by: second), start(by: second))
        return [
            "\(touch) touch x", "\(sort) load x", "\(first) save out", "\(cat) load out", "\(cat) load x",
            "\(second) save log.new", "\(mv) move log.new log",
        ]
    }
}
