// Measures the workloads of DESIGN 10 on several directories in one run, and prints one table of medians with ratios.
//
//     Bench [--rounds N] [--quick] [--only KEY,...] [--control] NAME=DIRECTORY ...
//
// The first directory is bare, the second ours, the others are peers. With --control the first and the third are served
// by one older build, and the second by this one. Status 2: a bar is missed, or this build is slower.

import Foundation
import Support

var rounds = 5
var isQuick = false
var hasControl = false
var canReflink = false
var only: Set<Substring>?
var places: [Place] = []
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
    if word == "--rounds", let value = words.popFirst().flatMap({ Int($0) }), value > 0 {
        rounds = value
    } else if word == "--only", let list = words.popFirst() {
        only = Set(list.split(separator: ","))
    } else if word == "--reflink" {
        canReflink = true
    } else if word == "--control" {
        hasControl = true
    } else if word == "--quick" {
        isQuick = true
    } else if let equals = word.firstIndex(of: "="), !word.hasPrefix("-") {
        places.append(Place(name: String(word[..<equals]), path: String(word[word.index(after: equals)...])))
    } else {
        let usage = "Bench [--rounds N] [--quick] [--only KEY,...] [--control] NAME=DIRECTORY ...\n"
        FileHandle.standardError.write(Data(usage.utf8))
        exit(64)
    }
}

var status: Int32 = 0
do {
    var scale = isQuick ? Scale.quick : Scale.full
    scale.canReflink = canReflink
    let source = try SourceTree(files: scale.files)
    defer { source.remove() }
    var table = Table(places: places.map(\.name))
    var comparison = Comparison()
    for workload in Workload.all(scale, source) where only?.contains(Substring(workload.key)) ?? true {
        var times = places.map { _ in [Double]() }
        // Where the scheduler puts two processes decides about single operations by a factor of two: more rounds of
        // those.
        let rounds = workload.unit == .microseconds ? 3 * rounds : rounds
        // Round by round over all places, so that a noisy minute hits all of them.
        for round in 0..<rounds {
            // Another place begins each round: the first of a round pays for work that the round before has left.
            for index in places.indices.map({ ($0 + round) % places.count }) {
                let place = places[index]
                // What the one before has left to do in the background is not to be this one's burden.
                usleep(250_000)
                let seconds = try workload.measure(place.path + "/bench-\(workload.key)", round)
                times[index].append(seconds)
            }
        }
        if hasControl, times.count == 3 {
            comparison.add(workload, before: times[0], this: times[1], control: times[2])
            print(comparison.lastRow)
        } else {
            table.add(workload, times.map(median))
            print(table.lastRow)
        }
        fflush(nil)
    }
    if hasControl {
        if !comparison.slower.isEmpty {
            print("slower than before: " + comparison.slower.joined(separator: "; "))
            status = 2
        }
    } else {
        print("\n" + table.text)
        if !table.misses.isEmpty {
            print("not reached: " + table.misses.joined(separator: "; "))
            status = 2
        }
    }
} catch {
    FileHandle.standardError.write(Data("Bench: \(error)\n".utf8))
    exit(1)
}

exit(status)

/// A directory to measure in.
struct Place {
    let name: String
    let path: String
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted.count % 2 == 1
        ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
}
