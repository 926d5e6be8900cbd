// File systems that keep no modes: all files have the owner and the mode of the mount.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing

@testable import Container

@Suite struct FixedModesTests {
    @Test func theyAreKnown() {
        // vfat, vboxsf, 9p, hfs, iso9660
        for type: UInt32 in [0x4d44, 0x786f_4256, 0x0102_1997, 0x4244, 0x9660] {
            #expect(linux_type_keeps_modes(type, 0) == 0, "\(String(type, radix: 16))")
        }
        // hfsplus keeps them where it can be written to.
        #expect(linux_type_keeps_modes(0x482b, 0) == 1 && linux_type_keeps_modes(0x482b, 1) == 0)
        // ext4
        #expect(linux_type_keeps_modes(0xef53, 1) == 1)
    }

    @Test func anIgnoreFileOfTheOwnerCountsThere() throws {
        let tree = try BrowsedContainer()
        try tree.save(".versionsignore", "*.o", mode: 0o777)
        let path = tree.path + "/.versionsignore"
        #expect(chmod(path, 0o777) == 0)
        let file = SharedDescriptor(try Backing.open(path: path, in: AT_FDCWD, flags: O_RDONLY))
        let stat = try Backing.stat(file.raw)
        func objection(of owner: UInt32, keepsModes: Bool) -> String? {
            IgnoreFile.objection(to: stat, file.raw, of: owner, keepsModes: keepsModes)
        }
        #expect(objection(of: getuid(), keepsModes: false) == nil)
        #expect(objection(of: getuid(), keepsModes: true) == "any user may write to it")
        if getuid() != 0 { #expect(objection(of: getuid() + 1, keepsModes: false) != nil) }
    }
}
