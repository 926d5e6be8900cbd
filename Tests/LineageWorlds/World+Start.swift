import Lineage
import VersionModel

extension World {
    /// A world with nothing in it.
    public static func empty() -> World { World() }

    /// A world with two documents that a program of long ago has saved.
    public static func start(_ rules: Rules) throws(Violation) -> World {
        let quiet = Rules(actors: 9, hasMadeUpNames: rules.hasMadeUpNames, kills: false)
        let maker = ActorNumber(7)
        var world = World()
        for place in [x, y] {
            let moves: [Move] = [
                .open(maker, place, .replace, isUnseen: false), .write(0, atStart: false, isRepeating: false),
                .close(0),
                .release(0),
            ]
            for move in moves { world = try world.performing(move, quiet) }
        }
        world = try world.performing(.age, quiet)
        world.acknowledged = []
        if rules.cuts { world.synchronize() }
        return world
    }
}
