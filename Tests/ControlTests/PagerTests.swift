// Which pager is started.

import Testing

@testable import versionsctl

@Suite("Choice of the pager")
struct PagerTests {
    @Test("PAGER, else less; nothing for cat, for nothing, and for a program that is missing", arguments: [
        (nil, false, ["less"], "less"), (nil, false, [], nil), (nil, true, ["less"], nil), ("", false, ["less"], nil),
        ("  ", false, ["less"], nil), ("cat", false, ["cat", "less"], nil), ("cat -v", false, ["cat"], "cat -v"),
        ("more", true, ["more"], "more"), ("gone -R", false, ["less"], nil), ("/x/gone", false, ["less"], nil),
        ("/x/my-pager_2.sh -R", false, ["/x/my-pager_2.sh"], "/x/my-pager_2.sh -R"),
        // What the shell makes of these, only the shell knows.
        ("'my pager' -R", false, [], "'my pager' -R"), ("LESS=x less", false, [], "LESS=x less"),
        ("$HOME/p", false, [], "$HOME/p"),
    ] as [(String?, Bool, [String], String?)])
    func program(named: String?, isDumb: Bool, there: [String], expected: String?) {
        #expect(Pager.program(named, isDumb: isDumb) { there.contains($0) } == expected)
    }
}
