// What FileManager and URLs tell of items in a container and outside: state, generations, identities.

import FileCoordination
import Foundation
import Glibc
import Support
import Testing

@Suite("Items in a container") struct UbiquityTests {
    @Test("FileManager and URLs tell what lies in a container, and what one device cannot do")
    func items() throws {
        try withContainer(named: "ubiquity", files: ["a": "1"]) { container in
            guard container.isVersioned else { return [] }
            let (manager, file) = (FileManager.default, URL(fileURLWithPath: container.file("a")))
            let outside = URL(fileURLWithPath: container.path + "-outside")
            defer { try? manager.removeItem(at: outside) }
            #expect(manager.ubiquityIdentityToken?.isEqual(manager.ubiquityIdentityToken) == true)
            let elsewhere = URL(fileURLWithPath: "/etc/passwd")
            #expect(manager.isUbiquitousItem(at: file) && !manager.isUbiquitousItem(at: elsewhere))
            let root = URL(fileURLWithPath: container.path, isDirectory: true)
            let id = try shell("getfattr -n user.versions.container --only-values .", in: container.path).text
            for name in [container.path, id, String(id.prefix(8)), container.file("a")] {
                #expect(manager.url(forUbiquityContainerIdentifier: name)?.path == root.path, "\(name)")
            }
            #expect(manager.url(forUbiquityContainerIdentifier: "no such container") == nil)
            #expect(throws: Never.self) { try manager.startDownloadingUbiquitousItem(at: file) }
            #expect(throws: CocoaError.self) { try manager.evictUbiquitousItem(at: file) }
            #expect(throws: CocoaError.self) { try manager.startDownloadingUbiquitousItem(at: elsewhere) }
            #expect(throws: CocoaError.self) { try manager.url(forPublishingUbiquitousItemAt: file, expiration: nil) }
            let keys: Set<URLResourceKey> = [
                .isUbiquitousItemKey, .ubiquitousItemHasUnresolvedConflictsKey, .ubiquitousItemDownloadingStatusKey,
                .ubiquitousItemContainerDisplayNameKey, .ubiquitousItemIsDownloadingKey, .ubiquitousItemIsUploadedKey,
            ]
            #expect(try file.promisedItemResourceValues(forKeys: keys).ubiquitousItemHasUnresolvedConflicts == false)
            try container.must("simulate", "conflict", "a")
            let values = try file.promisedItemResourceValues(forKeys: keys)
            #expect(values.isUbiquitousItem == true && values.ubiquitousItemHasUnresolvedConflicts == true)
            #expect(values.ubiquitousItemIsDownloading == false && values.ubiquitousItemIsUploaded == false)
            #expect(values.ubiquitousItemDownloadingStatus == .current)
            #expect(values.ubiquitousItemContainerDisplayName == root.lastPathComponent)
            let presenter = RecordingPresenter(file)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            try manager.setUbiquitous(false, itemAt: file, destinationURL: outside)
            presenter.await("reacquire from writer")
            #expect(!manager.isUbiquitousItem(at: outside))
            let left = try outside.promisedItemResourceValues(forKeys: keys)
            #expect(left.isUbiquitousItem == false && left.allValues.count == 1)
            #expect(throws: CocoaError.self) { try manager.setUbiquitous(false, itemAt: outside, destinationURL: file) }
            try manager.setUbiquitous(true, itemAt: outside, destinationURL: file)
            #expect(manager.isUbiquitousItem(at: file))
            return []
        }
    }
}

@Suite("Generations and identities") struct ResourceValueTests {
    /// Outside of a container, and in one.
    private static let places: [ContainerLevel] = Workplace.level == .versioned ? [.plain, .versioned] : [.plain]

    private func generation(_ path: String) throws -> any NSCopying & NSSecureCoding & NSObjectProtocol {
        let values = try URL(fileURLWithPath: path).promisedItemResourceValues(forKeys: [.generationIdentifierKey])
        return try #require(values.generationIdentifier)
    }

    private func identity(_ path: String) throws -> Int? {
        try URL(fileURLWithPath: path).promisedItemResourceValues(forKeys: [.documentIdentifierKey]).documentIdentifier
    }

    /// Whether a command changes a generation.
    private func changes(_ path: String, _ line: String) throws -> Bool {
        let before = try generation(path)
        try shell(line, in: (path as NSString).deletingLastPathComponent)
        return try !generation(path).isEqual(before)
    }

    @Test("a file's generation follows its content, however it is changed, and nothing else", arguments: Self.places)
    func contents(_ place: ContainerLevel) throws {
        try withContainer(named: "generation", files: ["a": "1", "b": "2"], level: place) { container in
            let file = container.file("a")
            for line in ["cat a", "chmod 600 a", "setfattr -n user.tag -v red a", "ln a c", "mv b d"] {
                #expect(try !changes(file, line), "\(line)")
            }
            for line in [
                "echo 1 >> a", "echo 2 >> a", "echo new > a", "printf x | dd of=a conv=notrunc 2>&1", ": > a",
                "echo saved > t; mv t a", "printf saveD > a; touch -d 2020-01-01 a",
                "printf Saved > a; touch -d 2020-01-01 a",
            ] where container.isVersioned || !line.hasPrefix("printf S") {
                #expect(try changes(file, line), "\(line)")
            }
            let former = try generation(container.file("d"))
            #expect(!former.isEqual(try generation(file)))
            // A handle that stays open.
            let handle = try #require(FileHandle(forUpdatingAtPath: file))
            for text in ["one", "two"] {
                let before = try generation(file)
                try handle.seek(toOffset: 0)
                try handle.write(contentsOf: Data(text.utf8))
                #expect(try !generation(file).isEqual(before), "\(text)")
            }
            try handle.close()
            guard container.isVersioned else { return [] }
            #expect(try !changes(file, "touch -d 2021-01-01 a"))
            let now = try generation(file)
            try container.remount()
            #expect(try generation(file).isEqual(now))
            #expect(try generation(container.file("d")).isEqual(former))
            return try container.checkFindings()
        }
    }

    @Test("no change of a content is missed, and metadata are none, whatever comes after what", arguments: 1...4)
    func anything(seed: Int) throws {
        guard Workplace.level == .versioned else { return }
        try withContainer(named: "generation", files: ["a": "1"]) { container in
            let file = container.file("a")
            var generator = SeededGenerator(seed: UInt64(seed))
            var held: FileHandle?
            var before = (content: try Data(contentsOf: URL(fileURLWithPath: file)), generation: try generation(file))
            for step in 0..<150 {
                let text = "\(generator.next() % 3)"
                let line = [
                    "touch a", "touch -d 2020-01-1\(text) a", "chmod 6\(text)4 a", "truncate -s \(text) a",
                    "printf \(text) >> a", "printf \(text) > a", "printf \(text) > t; mv t a",
                    "printf \(text) | dd of=a conv=notrunc status=none",
                ][Int(generator.next() % 8)]
                let step = "seed \(seed), step \(step): \(line)"
                switch generator.next() % 5 {
                case 0:
                    if held == nil { held = FileHandle(forUpdatingAtPath: file) }
                    try held?.write(contentsOf: Data(text.utf8))
                case 1:
                    try held?.close()
                    held = nil
                default:
                    try shell(line, in: container.path)
                    let isMetadata = line.hasPrefix("touch") || line.hasPrefix("chmod")
                    // Nobody has anything to save; what was emptied is saved a moment after its close.
                    if isMetadata, held == nil, !before.content.isEmpty {
                        #expect(try generation(file).isEqual(before.generation), "\(step)")
                    }
                }
                let now = (content: try Data(contentsOf: URL(fileURLWithPath: file)), generation: try generation(file))
                if now.content != before.content {
                    #expect(!now.generation.isEqual(before.generation), "\(step)")
                }
                before = now
            }
            try held?.close()
            return try container.checkFindings()
        }
    }

    @Test("a directory's generation follows its entries, not what is in them", arguments: Self.places)
    func directories(_ place: ContainerLevel) throws {
        try withContainer(named: "generation", files: ["d/a": "1", "d/e/b": "2"], level: place) { container in
            let directory = container.file("d")
            for line in ["echo 2 >> d/a", "echo 3 > d/a", "echo 4 > d/e/c", "chmod 700 d"] {
                let hasChanged = try changes(directory, line)
                #expect(!hasChanged, "\(line)")
            }
            for line in ["echo 5 > d/f", "mv d/f d/g", "rm d/g", "mkdir d/h"] {
                let hasChanged = try changes(directory, line)
                #expect(hasChanged, "\(line)")
            }
            return []
        }
    }

    @Test(
        "a document keeps its identity through saves, renames and a remount; a copy has another",
        arguments: Self.places)
    func identities(_ place: ContainerLevel) throws {
        try withContainer(named: "identity", files: ["a": "1", "d/b": "2"], level: place) { container in
            guard container.isVersioned else {
                for name in ["a", "d", ""] { #expect(try identity(container.file(name)) == nil) }
                return []
            }
            let document = try #require(try identity(container.file("a")))
            #expect(document > 0)
            for (line, name) in [
                ("echo 2 > a", "a"), ("echo 3 > t; mv t a", "a"), ("mv a d/a", "d/a"), ("sed -i s/3/4/ d/a", "d/a"),
                ("mv d e", "e/a"),
            ] {
                try shell(line, in: container.path)
                #expect(try identity(container.file(name)) == document, "\(line)")
            }
            let url = URL(fileURLWithPath: container.file("e/a"))
            try Data("5".utf8).write(to: url, options: .atomic)
            #expect(try identity(url.path) == document)
            let directory = try #require(try identity(container.file("e")))
            try shell("cp -a e/a copy; mv e f", in: container.path)
            let all = try ["copy", "f/b", "f/a", "f", ""].map { try #require(try identity(container.file($0))) }
            #expect(Set(all).count == 5 && all[2] == document && all[3] == directory)
            try container.remount()
            #expect(try ["copy", "f/b", "f/a", "f", ""].map { try identity(container.file($0)) } == all)
            return try container.checkFindings()
        }
    }

    @Test("values of promised items are those of the items, by each of the calls", arguments: Self.places)
    func promised(_ place: ContainerLevel) throws {
        try withContainer(named: "promised", files: ["a": "1", "d/b": "2"], level: place) { container in
            let url = URL(fileURLWithPath: container.file("a"))
            let nowhere = URL(fileURLWithPath: container.file("nowhere"))
            let keys: [URLResourceKey] = [
                .nameKey, .fileSizeKey, .isDirectoryKey, .generationIdentifierKey, .isUbiquitousItemKey,
                .ubiquitousItemDownloadingStatusKey,
            ]
            #expect(try url.checkPromisedItemIsReachable())
            let values = try url.promisedItemResourceValues(forKeys: Set(keys))
            #expect(values.name == "a" && values.fileSize == 1 && values.isDirectory == false)
            #expect(values.isUbiquitousItem == container.isVersioned && values.documentIdentifier == nil)
            #expect(values.ubiquitousItemDownloadingStatus == (container.isVersioned ? .current : nil))
            #expect(values.ubiquitousItemIsDownloading == nil && values.ubiquitousItemDownloadingError == nil)
            #expect(values.allValues.count == (container.isVersioned ? 6 : 5))
            let generation = try #require(values.generationIdentifier)
            let archived = try NSKeyedArchiver.archivedData(withRootObject: generation, requiringSecureCoding: true)
            #expect(try generation.isEqual(NSKeyedUnarchiver.unarchivedObject(ofClass: NSString.self, from: archived)))

            let object = url as NSURL
            #expect(object.checkPromisedItemIsReachableAndReturnError(nil))
            let dictionary = try object.promisedItemResourceValues(forKeys: keys)
            #expect(dictionary[.nameKey] as? String == "a" && generation.isEqual(dictionary[.generationIdentifierKey]))
            var value: AnyObject?
            try object.getPromisedItemResourceValue(&value, forKey: .nameKey)
            #expect(value as? String == "a")
            try object.getPromisedItemResourceValue(&value, forKey: .fileSizeKey)
            #expect(value as? Int == 1)
            try object.getPromisedItemResourceValue(&value, forKey: .generationIdentifierKey)
            #expect(generation.isEqual(value))
            try object.getPromisedItemResourceValue(&value, forKey: .isUbiquitousItemKey)
            #expect(value as? Bool == container.isVersioned)
            try object.getPromisedItemResourceValue(&value, forKey: .ubiquitousItemDownloadingStatusKey)
            #expect((value as? String != nil) == container.isVersioned)
            try object.getPromisedItemResourceValue(&value, forKey: .ubiquitousItemDownloadingErrorKey)
            #expect(value == nil)

            var error: NSError?
            #expect(!(nowhere as NSURL).checkPromisedItemIsReachableAndReturnError(&error) && error != nil)
            let failure = #expect(throws: CocoaError.self) { _ = try nowhere.promisedItemResourceValues(forKeys: []) }
            #expect(failure?.code == .fileReadNoSuchFile)
            #expect(throws: CocoaError.self) { try nowhere.checkPromisedItemIsReachable() }
            #expect(throws: CocoaError.self) {
                _ = try #require(URL(string: "http://x/a")).promisedItemResourceValues(forKeys: [.isUbiquitousItemKey])
            }
            return []
        }
    }

    @Test("a link in a container is an item of it, whatever it leads to", arguments: Self.places)
    func links(_ place: ContainerLevel) throws {
        try withContainer(named: "links", files: ["a": "1"], level: place) { container in
            try shell("ln -s a inside; ln -s /etc outside; ln -s nothing nowhere; mkfifo pipe", in: container.path)
            for name in ["inside", "outside", "nowhere", "pipe"] {
                let url = URL(fileURLWithPath: container.file(name))
                let keys: Set<URLResourceKey> = [.isUbiquitousItemKey, .generationIdentifierKey, .documentIdentifierKey]
                let values = try url.promisedItemResourceValues(forKeys: keys)
                #expect(values.isUbiquitousItem == container.isVersioned && values.documentIdentifier == nil)
                #expect(FileManager.default.isUbiquitousItem(at: url) == container.isVersioned, "\(name)")
            }
            #expect(try changes(container.file("inside"), "ln -sfn b inside"))
            #expect(try !changes(container.file("outside"), "echo 2 > a"))
            #expect(!FileManager.default.isUbiquitousItem(at: URL(fileURLWithPath: "/etc/no such thing")))
            return []
        }
    }
}
