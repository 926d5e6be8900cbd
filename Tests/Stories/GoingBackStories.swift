// Going back without an id: the promise that no hexadecimal digits have to be copied.

import Foundation
import Support
import Testing

@Suite struct GoingBackStories {
    @Test("Somebody goes back one version, to yesterday, and to before a program ran, and types no id")
    func withoutAnID() throws {
        try noConflict { container in
            // A text from the day before yesterday, and a day's work on it.
            try container.unmount()
            try shell("touch -d '2 days ago' X", in: container.path)
            try container.mount()
            let person = try Terminal.shell(in: container.path)
            try person.command("mkdir d; echo note > d/n; cat X d/n")
            let editor = try ActorProcess("editor", in: container.path)
            let text = try editor.load("X")
            try editor.save(text + "today\n", to: "X")
            try editor.save("spoilt\n", to: "X")

            try person.command("versionsctl=\(Workplace.control); $versionsctl restore X")
            try require(container, holds: text + "today\n")
            try person.command("$versionsctl restore X")
            try require(container, holds: "spoilt\n")
            try person.command("$versionsctl restore X --at yesterday")
            try require(container, holds: text)

            // An agent goes through the tree, and somebody works on.
            let agent = try ActorProcess("agent", in: container.path)
            _ = try (agent.load("X"), agent.load("d/n"))
            try agent.save("by the agent\n", to: "X")
            try agent.save("by the agent\n", to: "d/n")
            try agent.save("by the agent\n", to: "d/more")
            try agent.save("by the agent once more\n", to: "X")
            try person.command("$versionsctl restore X --before agent")
            try require(container, holds: text)
            try person.command("$versionsctl restore d --before agent")
            #expect(container.text(of: "d/n") == "note\n" && container.text(of: "d/more") == nil)
        }
    }
}

private func require(_ container: TestContainer, holds text: String) throws {
    guard container.text(of: "X") == text else { throw Failure("X holds \(container.text(of: "X") ?? "nothing")") }
}
