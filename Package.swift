// swift-tools-version: 6.2
// The modules of VersionsFS and their direction: Mount depends on Sources, never the other way (docs/ARCHITECTURE.md).

import PackageDescription

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let collections: Target.Dependency = .product(name: "Collections", package: "swift-collections")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]
let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let toml: Target.Dependency = .product(name: "TOMLKit", package: "TOMLKit")

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Defined in debug builds, and in release builds where one of the variables is 1 in the environment.
func debugging(_ name: String, _ variables: String...) -> SwiftSetting {
    .define(name, variables.contains { Context.environment[$0] == "1" } ? nil : .when(configuration: .debug))
}

/// Debug builds check the order of the container's locks (docs/locks.md), and so does the release build of Tests/run.
let checksLocks = debugging("CHECKS_LOCKS", "VERSIONSFS_CHECKS_LOCKS")

/// The daemon of such a build serves by the engine where the environment says so (`Core`). One without checked locks is
/// for measurements. It goes when the old core does.
let choosesCore = debugging("CHOOSES_CORE", "VERSIONSFS_CHECKS_LOCKS", "VERSIONSFS_CHOOSES_CORE")

func library(
    _ name: String, path: String? = nil, _ dependencies: [Target.Dependency] = [], _ more: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings + more)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["Support"], swiftSettings: settings)
}

let package = Package(
    name: "VersionsFS",
    products: [
        .executable(name: "versionsfs", targets: ["versionsfs"]),
        .executable(name: "versionsctl", targets: ["versionsctl"]),
        .library(name: "VersionsClient", targets: ["VersionsClient"]),
        .library(name: "FileCoordination", targets: ["FileCoordination"]),
        // Preloaded by tests.
        .library(name: "FaultShim", type: .dynamic, targets: ["FaultShim"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    ],
    targets: [
        .target(name: "CLinux", path: "Sources/CLinux"),
        library("VersionModel"),
        library("Lineage", ["VersionModel"]),
        library("QueryLanguage", ["VersionModel"]),
        library("VersionStore", ["VersionModel", "Lineage", "CLinux", grdb, sqlite, crypto, system, logging]),
        library("Coordination", ["VersionModel"]),
        library(
            "Container",
            [
                "VersionModel", "Lineage", "CLinux", "VersionStore", "Coordination", system, logging, collections,
                crypto, toml,
            ],
            [checksLocks]),
        library("ControlProtocol", ["VersionModel", "QueryLanguage"]),
        library("LocalState", ["ControlProtocol", "VersionModel", "CLinux"]),
        library("ControlService", ["ControlProtocol", "Coordination", "VersionModel", logging] + nio),
        library("VersionsClient", ["ControlProtocol", "VersionModel", "CLinux"]),
        library(
            "FileCoordination",
            ["VersionsClient", "ControlProtocol", "Coordination", "QueryLanguage", "VersionModel", "CLinux", crypto]),
        .executableTarget(
            name: "versionsctl",
            dependencies: [
                "VersionsClient", "LocalState", "ControlProtocol", "QueryLanguage", "VersionModel", "CLinux",
                argumentParser,
            ],
            swiftSettings: settings),

        .systemLibrary(
            name: "CFuse3", path: "Mount/CFuse3", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
        .systemLibrary(
            name: "CUring", path: "Mount/CUring", pkgConfig: "liburing", providers: [.apt(["liburing-dev"])]),
        .target(name: "CRing", dependencies: ["CUring"], path: "Mount/CRing"),
        library("FUSE", path: "Mount/FUSE", ["CFuse3", "CLinux", "CRing", "VersionModel", system, logging]),
        .executableTarget(
            name: "versionsfs", dependencies: [
                "FUSE", "Container", "Coordination", "CLinux", "ControlService", "ControlProtocol", "LocalState",
                "QueryLanguage", "VersionStore", "VersionModel", system, logging, toml,
            ],
            path: "Mount/versionsfs", swiftSettings: settings + [choosesCore]),

        // What the tests stand on: the mount fixture, terminals, processes, and programs that act as other programs do.
        .systemLibrary(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(name: "Support", dependencies: ["CTestSupport"], path: "Tests/Support", swiftSettings: settings),
        .executableTarget(
            name: "TestActor", dependencies: ["CTestSupport"], path: "Tests/TestActor", swiftSettings: settings),
        .executableTarget(
            name: "Bench", dependencies: ["Support", "CTestSupport"], path: "Tests/Benchmark", swiftSettings: settings),
        .executableTarget(
            name: "CoordinationActor", dependencies: ["FileCoordination"], path: "Tests/CoordinationActor",
            swiftSettings: settings),
        .executableTarget(
            name: "shoebox", dependencies: ["FileCoordination"], path: "Examples/Shoebox", swiftSettings: settings),
        library("CrashLoad", path: "Tests/CrashLoad"),
        .executableTarget(
            name: "CrashWorker", dependencies: ["CrashLoad"], path: "Tests/CrashWorker", swiftSettings: settings),
        .executableTarget(name: "RaceWorker", path: "Tests/RaceWorker"),
        .executableTarget(name: "BlockRecorder", dependencies: ["CFuse3"], path: "Tests/BlockRecorder"),
        .target(name: "FaultShim", path: "Tests/FaultShim"),
        library("LineageWorlds", path: "Tests/LineageWorlds", ["Lineage", "VersionModel"]),
        .executableTarget(
            name: "LineageWorker", dependencies: ["LineageWorlds"], path: "Tests/LineageWorker",
            swiftSettings: settings),
        library("LineageShadow", path: "Tests/LineageShadow", ["Lineage", "Container", "VersionModel"]),
        tests("VersionModelTests", ["VersionModel"]),
        tests("LineageTests", ["LineageWorlds", "Lineage", "VersionModel"]),
        tests("QueryLanguageTests", ["QueryLanguage", "VersionModel"]),
        tests(
            "VersionStoreTests",
            ["VersionStore", "VersionModel", "Lineage", "LineageWorlds", "CLinux", grdb, logging, system]),
        tests(
            "ContainerTests",
            [
                "Container", "Coordination", "VersionStore", "VersionModel", "CLinux", "LineageShadow", "LineageWorlds",
                "Lineage", system, logging,
            ]),
        tests("CoordinationTests", ["Coordination", "VersionModel"]),
        tests(
            "ControlTests",
            [
                "ControlProtocol", "ControlService", "Coordination", "VersionsClient", "LocalState", "versionsctl",
                "QueryLanguage", "VersionModel", "CLinux", logging, argumentParser,
            ]),
        tests(
            "FileCoordinationTests",
            [
                "FileCoordination", "VersionsClient", "ControlProtocol", "Coordination", "VersionModel", "CLinux",
                "versionsfs", "versionsctl", "TestActor", "CoordinationActor",
            ]),
        // Listings of the time before Swift 6, as they stand.
        .testTarget(
            name: "ListingTests", dependencies: ["FileCoordination", "versionsfs", "versionsctl", "shoebox", "Support"],
            swiftSettings: settings + [.swiftLanguageMode(.v5)]),
        tests("FUSETests", ["FUSE", "CRing", "VersionModel"]),
        tests(
            "FuzzTests",
            [
                "versionsfs", "FUSE", "CFuse3", "Container", "VersionStore", "VersionModel", "CLinux", logging, system,
            ]),
        tests("SupportTests", ["TestActor"]),
        tests(
            "MountTests",
            [
                "versionsfs", "versionsctl", "TestActor", "FaultShim", "Coordination", "VersionModel", "VersionStore",
                "Lineage", "LineageWorlds", system,
            ]),
        tests("Stories", ["versionsfs", "versionsctl", "TestActor", "Lineage", "VersionModel"]),
        tests(
            "CrashTests",
            [
                "versionsfs", "versionsctl", "CrashLoad", "CrashWorker", "RaceWorker", "BlockRecorder", "FaultShim",
                "Container", "Lineage", "VersionStore", "VersionModel", "FUSE", "CLinux", logging, system, crypto,
            ]),
        tests("LoadTests", ["versionsfs", "versionsctl", "TestActor", "CoordinationActor"]),
        tests("SecurityTests", ["versionsfs", "versionsctl", "TestActor"]),
    ]
)
