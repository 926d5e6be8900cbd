// Settings as text.

import ControlProtocol

/// What `config` prints for people.
struct SettingsText {
    var style: Style

    /// A line for each setting; on a terminal a long value or note goes on in further lines, split at words.
    func list(_ settings: [Setting]) -> String {
        let width = settings.map { WrappedText.width($0.key) }.max() ?? 0
        return settings.map { setting in
            let isSet = setting.value != setting.standard
            let label = setting.key.padded(to: width) + "  = "
            let columns = style.width ?? .max
            let value = WrappedText.lines(Style.printable(setting.value), label: label, columns: columns)
            let painted = label.dropLast(2) + style.paint(String(value.dropFirst(label.count - 2)), isSet ? .bold : nil)
            guard let note = note(setting, isSet) else { return painted + "\n" }
            let last = value.split(separator: "\n").last.map { WrappedText.width(String($0)) } ?? 0
            let beside = "  # " + note.text
            if last + WrappedText.width(beside) <= columns {
                return painted + "  " + style.paint(String(beside.dropFirst(2)), note.color) + "\n"
            }
            let below = WrappedText.lines(note.text, label: "    # ", columns: columns)
            return painted + "\n" + style.paint(below, note.color) + "\n"
        }.joined()
    }

    private func note(_ setting: Setting, _ isSet: Bool) -> (text: String, color: Style.Color)? {
        if let problem = setting.problem { return ("wrong: \(Style.printable(problem))", .red) }
        if let note = setting.note { return (Style.printable(note), .yellow) }
        return isSet ? ("default: \(setting.standard)", .dim) : nil
    }
}
