import Synchronization
import Glibc
let traced = Mutex<[String]>([])
func trace(_ s: @autoclosure () -> String) { let t = s(); traced.withLock { $0.append("\(pthread_self() % 9973) " + t) } }
