// A program that does to files what a test tells it: one request per line on stdin, one answer per line on stdout.
// Copied under
// another name it replays the saves of programs that cannot be installed; /proc then shows that name.
//
//     VERB ARGUMENT ...            words separated by blanks; %XX stands for any byte
//     ok VALUE ... | error NUMBER  the answer: errno of a call that failed, EINVAL for what is not a request

import CTestSupport
import Glibc

signal(SIGPIPE, SIG_IGN)
let performer = Performer()
while let line = readLine(strippingNewline: true) {
    let answer = Array((performer.answer(line) + "\n").utf8)
    if !performer.tell(answer) { break }
    if performer.isFinished { break }
}
performer.endChildren()
exit(performer.status)
