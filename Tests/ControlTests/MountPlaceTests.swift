// Where a directory cannot be mounted.

import ControlProtocol
import Testing

@Suite("Where a container may be mounted")
struct MountPlaceTests {
    private func reason(_ mountpoint: String, _ directory: String) -> String? {
        MountPlace.objection(to: Path(mountpoint), for: Path(directory))?.reason
    }

    @Test("nothing is mounted on the root, not even itself")
    func root() {
        for directory in ["/a", "/a/b/c", "/"] { #expect(reason("/", directory)?.contains("root") == true) }
        #expect(reason("/mnt", "/") == "the mount point lies in / itself")
    }

    @Test("not above the directory, nor in it; over itself and beside it it may be")
    func places() {
        for above in ["/a", "/a/b"] { #expect(reason(above, "/a/b/c") == "a mount there would cover /a/b/c") }
        for below in ["/a/b/c", "/a/b/.versionsfs"] {
            #expect(reason(below, "/a/b") == "the mount point lies in /a/b itself")
        }
        for other in ["/a/b", "/a/c", "/a/bb", "/c", "/a/b b/c"] { #expect(reason(other, "/a/b") == nil) }
        #expect(reason("/a/b", "/a/bb") == nil)
    }

    @Test("a bind of a directory is that directory")
    func binds() {
        // /x is a bind of /a/b.
        let isSame = { (one: Path, other: Path) in one == other || Set([one, other]) == [Path("/x"), Path("/a/b")] }
        let judge = { (mountpoint: String, directory: String) in
            MountPlace.objection(to: Path(mountpoint), for: Path(directory), isSame: isSame)
        }
        #expect(judge("/x", "/a/b/c") != nil)
        #expect(judge("/x/m", "/a/b") != nil)
        #expect(judge("/x/m", "/a/b/c") == nil)
    }
}
