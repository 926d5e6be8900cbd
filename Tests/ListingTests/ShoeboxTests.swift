// Examples/Shoebox: two of them on one mount show the same pictures, whoever changes what.

import Foundation
import Support
import Testing

@Suite("The shoebox example", .timeLimit(.minutes(3))) struct ShoeboxTests {
    /// Two shoeboxes that read from fifos; `expect N TEXT` waits until the last list that one has printed holds a text,
    /// `lacks N TEXT` until it does not.
    private static let prelude = """
        mkfifo ../in1 ../in2
        "$SHOEBOX" . < ../in1 > ../out1 2>&1 & one=$!
        "$SHOEBOX" . < ../in2 > ../out2 2>&1 & two=$!
        exec 3> ../in1 4> ../in2
        last() { tac ../out$1 | sed '/ pictures$/q' | tac; }
        expect() { for ((t = SECONDS + 30; ;)); do last $1 | grep -q -- "$2" && return; \
        [ $SECONDS -lt $t ] || { echo "$1 lacks $2:"; cat ../out$1; exit 1; }; done; }
        lacks() { for ((t = SECONDS + 30; ;)); do last $1 | grep -q -- "$2" || return 0; \
        [ $SECONDS -lt $t ] || { echo "$1 has $2:"; cat ../out$1; exit 1; }; done; }
        expect 1 '^0 pictures'; expect 2 '^0 pictures'

        """

    private func play(_ story: String) throws {
        try withContainer(named: "shoebox") { container in
            let output = try run(
                "bash", ["-c", Self.prelude + story + "\nexec 3>&- 4>&-; wait $one $two"], in: container.path,
                environment: ["SHOEBOX": Workplace.products + "/shoebox", "CTL": Workplace.control], seconds: 100)
            return output.status == 0 ? [] : [output.text + output.errors]
        }
    }

    @Test("what one adds, rates, renames and deletes the other shows, and what plain programs do both")
    func sameItems() throws {
        try play("""
            echo 'add sunset 3 ~~o~~' >&3
            expect 1 'sunset *★★★☆☆'; expect 2 'sunset *★★★☆☆'
            echo 'add forest 1 |||||' >&4
            expect 1 'forest'; expect 2 '^2 pictures'
            echo 'rate sunset 5' >&4
            expect 1 'sunset *★★★★★'
            mv forest.picture wood.picture
            expect 1 'wood'; lacks 1 forest; expect 2 'wood'
            printf 'rating 2\\n^^^\\n' > hills.picture
            expect 1 'hills *★★☆☆☆'; expect 2 'hills *★★☆☆☆'
            echo 'delete sunset' >&3
            lacks 1 sunset; lacks 2 sunset
            rm wood.picture
            lacks 1 wood; lacks 2 wood
            expect 1 '^1 pictures'; expect 2 '^1 pictures'
            """)
    }

    @Test("a conflict is shown by both, resolved in one, and gone from both") func conflicts() throws {
        try play("""
            echo 'add sunset 3 ~~o~~' >&3
            expect 2 'sunset *★★★☆☆'
            "$CTL" simulate conflict sunset.picture
            expect 1 'sunset.*conflict with 1'; expect 2 'sunset.*conflict with 1'
            echo 'keep sunset 1' >&4
            lacks 1 conflict; lacks 2 conflict
            """)
    }

    @Test("a deletion that does not come changes nothing, pictures further down are not shown, a link is followed")
    func others() throws {
        try play("""
            echo 'add sunset 3 ~~o~~' >&3
            expect 1 sunset; expect 2 sunset
            "$CTL" coordinate write --for-deleting sunset.picture -- true
            echo 'rate sunset 4' >&3
            expect 1 'sunset *★★★★☆'; expect 2 'sunset *★★★★☆'
            mkdir sub; printf 'rating 1\\n' > sub/deep.picture
            mv sub sub2; printf 'rating 2\\n' > last.picture
            expect 1 last; expect 2 last
            if last 1 | grep deep || last 2 | grep deep; then exit 1; fi
            ln -s "$PWD" ../link
            "$SHOEBOX" ../link < /dev/null > ../out3; grep -q '^2 pictures' ../out3 || { cat ../out3; exit 1; }
            """)
    }
}
