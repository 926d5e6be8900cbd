// shoebox DIR: the pictures of a directory in a terminal, the same in every program that shows them.

import FileCoordination
import Foundation
import Glibc

guard CommandLine.arguments.count == 2, CommandLine.arguments[1] != "--help" else {
    print("usage: shoebox DIR\n\(Gallery.help)")
    exit(CommandLine.arguments.count == 2 ? 0 : 64)
}
/// Prints at once, also into a pipe, and from any thread.
@Sendable func say(_ text: String, terminator: String = "\n") {
    FileHandle.standardOutput.write(Data((text + terminator).utf8))
}

let isTyped = isatty(STDIN_FILENO) != 0
// A symbolic link to a directory is no directory: what is presented is where it leads.
let directory = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)
    .resolvingSymlinksInPath().standardizedFileURL
let shoebox = Shoebox(directory) { shoebox, what in
    say("\(what)\n\(Gallery(shoebox: shoebox).list)")
}
do {
    try shoebox.open()
} catch {
    say("shoebox: \(CommandLine.arguments[1]): \(error.localizedDescription)")
    exit(1)
}
let gallery = Gallery(shoebox: shoebox)
say(gallery.list)
while true {
    if isTyped { say("> ", terminator: "") }
    guard let line = readLine(), let answer = gallery.perform(line) else { break }
    say(answer)
}
shoebox.close()
