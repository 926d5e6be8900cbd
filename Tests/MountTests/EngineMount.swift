// A container whose mounts the engine serves, for its tests.

import Support

/// Runs a test in a mounted container of the engine's.
func withEngine(
    _ files: [String: String] = [:], level: ContainerLevel = .mounted, _ body: (TestContainer) throws -> [String]
) throws {
    try withContainer(
        named: "engine", files: files, environment: ["VERSIONSFS_ENGINE": "1"], level: level, body: body)
}

/// The problem of a script whose output is not the expected one.
func expect(_ script: String, _ output: String, in container: TestContainer) throws -> [String] {
    let found = try shell(script, in: container.path)
    return found.text == output ? [] : ["\(script): \(found.text) \(found.errors)"]
}
