// crash-worker: changes files of a container until it is told to end or the mount is gone, and says on standard output
// what it does.
//
//     CrashWorker DIR SUBDIRECTORY FIRST-NUMBER SEED [survive | ONE-OF]

import CrashLoad
import Glibc

signal(SIGPIPE, SIG_IGN)
let words = CommandLine.arguments
guard words.count >= 5, let first = UInt64(words[3]), let seed = UInt64(words[4]) else {
    print("usage: CrashWorker DIR SUBDIRECTORY FIRST-NUMBER SEED [survive | ONE-OF]")
    exit(64)
}
let syncsOneOf = words.dropFirst(5).first.flatMap { Int($0) } ?? 3
var worker = Worker(root: words[1], directory: words[2], first: first, seed: seed, syncsOneOf: max(1, syncsOneOf))
if words.dropFirst(5).first == "survive" { worker.survive() } else { worker.run() }
