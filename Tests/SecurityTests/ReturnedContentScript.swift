// How content that one user chose comes into files to which another has given set-id bits, as a shell script: it runs
// in a container, as root, and prints a line for each way: mode and owner, the number of capabilities, the content.

enum ReturnedContentScript {
    static let text = #"""
        # Content that one user chose comes back into files that another has given bits and a capability.
        member=65534 owner=5 group=6001
        as() { setpriv --reuid="$1" --regid="$1" --groups "$2" -- sh -c "$3"; }
        cap() { setfattr -n security.capability -v 0sAQAAAgAgAAAAAAAAAAAAAAAAAAA= "$1"; }
        mkdir d; chown 0:$group d; chmod 2775 d; cd d
        # An edit of the member between two of root's; then root gives the bits.
        prepare() {
            printf 'first' > "$1"; chown "${2:-0}:$group" "$1"; chmod 775 "$1"
            as $member $group "printf 'evil text' > $1"
            when=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
            printf 'good, and long' > "$1"; chown "${2:-0}:$group" "$1"; chmod 6775 "$1"; cap "$1"; chmod 6775 "$1"
        }
        loser() { $CTL history "$1" --json | python3 -c "
        import json, sys
        print(next(v['id'] for v in json.load(sys.stdin)['versions'] if v['kind'] == 'conflict'))"; }
        id() { $CTL history "$1" --json | python3 -c "
        import json, sys
        print(next(v['id'] for v in json.load(sys.stdin)['versions'] if v['size'] == $2))"; }
        tell() {
            capabilities=$(getfattr -m security --absolute-names "$2" | grep -c capability)
            printf '%s: %s %s %s\n' "$1" "$(stat -c '%a %U' "$2")" "$capabilities" "$(head -c 9 "$2")"
        }
        conflict() { as $member $group "$CTL simulate conflict $1" > /dev/null; }
        prepare a; tell 'before' a
        as $member $group "$CTL restore a --version $(id a 9)" > /dev/null; tell 'restored by a member' a
        prepare b; ln b b2; as $member $group "$CTL restore b --version $(id b 9)" > /dev/null
        tell 'restored in place' b
        prepare c; $CTL restore c --version "$(id c 9)" > /dev/null; tell "a member's restored by root" c
        prepare e; $CTL restore e --version "$(id e 5)" > /dev/null; tell "root's own restored by root" e
        prepare f; conflict f; as $member $group "mv .versions/f/conflicts/* f"; tell 'a loser moved over it' f
        prepare g; conflict g; as $member $group "$CTL resolve g --keep $(loser g)" > /dev/null; tell 'a loser kept' g
        prepare h; rm h; as $member $group "mv .versions/.deleted/h h"; tell 'moved out of the deleted area' h
        prepare i; rm i; as $member $group "$CTL undelete i" > /dev/null; tell 'undeleted by a member' i
        prepare j; rm j; $CTL undelete j > /dev/null; tell 'undeleted by root' j
        prepare k $owner; rm k; as $owner $group "$CTL undelete k" > /dev/null; tell 'undeleted by its owner' k
        prepare l; as $member $group "$CTL restore l --version $(id l 9) --to l2" > /dev/null; tell 'a copy' l2
        prepare m; rm m; as $member $group "$CTL restore m --version $(id m 9)" > /dev/null
        tell 'deleted, then restored' m
        mkdir n; chown 0:$group n; chmod 2775 n; prepare n/n
        as $member $group "$CTL restore n --at $when" > /dev/null
        tell 'a directory of then' n/n
        """#

    static let expected = [
        "before: 6775 root 1 good, and",
        "restored by a member: 775 root 0 evil text",
        "restored in place: 775 root 0 evil text",
        "a member's restored by root: 775 root 0 evil text",
        "root's own restored by root: 6775 root 0 first",
        "a loser moved over it: 775 root 0 good, and",
        "a loser kept: 775 root 0 good, and",
        "moved out of the deleted area: 775 root 0 good, and",
        "undeleted by a member: 775 root 0 good, and",
        "undeleted by root: 6775 root 1 good, and",
        "undeleted by its owner: 4775 games 0 good, and",
        "a copy: 775 nobody 0 evil text",
        "deleted, then restored: 775 root 0 evil text",
        "a directory of then: 775 root 0 evil text",
    ]
}
