// The merge's files reach diff3 whatever numbers their descriptors have.

@testable import Container
import Glibc
import Testing

@Suite struct ThreeWayMergeTests {
    @Test("A merge with many descriptors open is a merge still")
    func manyDescriptors() {
        let bytes = { (text: String) in Array(text.utf8) }
        let input = MergeInput(
            mine: bytes("a\n=\n=\nMINE\n"), base: bytes("a\n=\n=\nb\n"), other: bytes("OTHER\n=\n=\nb\n"))
        var held: [Int32] = []
        defer { for descriptor in held { close(descriptor) } }
        for _ in 0..<130 {
            held.append(open("/dev/null", O_RDONLY | O_CLOEXEC))
            // Where the numbers of the three files and those they are moved by meet.
            guard let last = held.last, last > 90 else { continue }
            #expect(ThreeWayMerge.merge(input) == bytes("OTHER\n=\n=\nMINE\n"), "with \(last) descriptors")
        }
    }

    @Test("An edit that both have made is none to argue about")
    func sameEdit() {
        let bytes = { (text: String) in Array(text.utf8) }
        let input = MergeInput(
            mine: bytes("a\n=\n=\nSAME\n"), base: bytes("a\n=\n=\nb\n"), other: bytes("OTHER\n=\n=\nSAME\n"))
        #expect(ThreeWayMerge.merge(input) == bytes("OTHER\n=\n=\nSAME\n"))
    }
}
