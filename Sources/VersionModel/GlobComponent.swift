// One component of a gitignore pattern, and matching of components and of paths.

/// A pattern for a name (`*`, `?`, `[…]`, `\`), or `**` for any number of names.
struct GlobComponent: Sendable {
    private enum Token: Sendable {
        case byte(UInt8)
        case anyByte
        case anyRun
        case oneOf([ClosedRange<UInt8>], negated: Bool)
    }

    private let tokens: [Token]
    /// An invalid pattern (an open bracket, a backslash at the end) matches no name.
    private let isBroken: Bool
    private let isAnyNames: Bool

    /// - Parameter isWholePath: whether `**` stands for names; otherwise it is the same as `*`.
    init(_ text: ArraySlice<UInt8>, isWholePath: Bool) {
        isAnyNames = isWholePath && text.elementsEqual([42, 42])
        var tokens: [Token] = []
        var rest = text
        var isBroken = false
        while let byte = rest.popFirst() {
            switch byte {
            case 42: tokens.append(.anyRun)
            case 63: tokens.append(.anyByte)
            case 92:
                guard let next = rest.popFirst() else { isBroken = true; break }
                tokens.append(.byte(next))
            case 91:
                guard let set = Self.takeSet(&rest) else { isBroken = true; break }
                tokens.append(set)
            default: tokens.append(.byte(byte))
            }
            if isBroken { break }
        }
        self.tokens = tokens
        self.isBroken = isBroken
    }

    /// Splits a pattern at its slashes, except slashes in brackets.
    static func path(_ text: ArraySlice<UInt8>) -> [GlobComponent] {
        var components: [GlobComponent] = []
        var start = text.startIndex
        var index = start
        while index < text.endIndex {
            switch text[index] {
            case 92 where index + 1 < text.endIndex && text[index + 1] != 47: index += 2
            case 91:
                var rest = text[(index + 1)...]
                index = takeSet(&rest) == nil ? index + 1 : rest.startIndex
            case 47:
                components.append(GlobComponent(text[start..<index], isWholePath: true))
                index += 1
                start = index
            default: index += 1
            }
        }
        return components + [GlobComponent(text[start...], isWholePath: true)]
    }

    /// Whether a name matches.
    func matches(_ name: ArraySlice<UInt8>) -> Bool {
        guard !isBroken else { return false }
        var (token, byte) = (0, name.startIndex)
        // The point to continue from after a mismatch: the last `*` takes one more byte.
        var retry: (token: Int, byte: Int)?
        while true {
            if token < tokens.count, case .anyRun = tokens[token] {
                token += 1
                retry = (token, byte)
            } else if byte < name.endIndex, token < tokens.count, Self.matches(tokens[token], name[byte]) {
                token += 1
                byte += 1
            } else if byte == name.endIndex, token == tokens.count {
                return true
            } else if let last = retry, last.byte < name.endIndex {
                (token, byte) = (last.token, last.byte + 1)
                retry = (token, byte)
            } else {
                return false
            }
        }
    }

    /// Whether the names of a path match the components of a pattern. `**` takes any number of names; at the end of the
    /// pattern at least one.
    static func match(_ components: ArraySlice<GlobComponent>, _ names: ArraySlice<ArraySlice<UInt8>>) -> Bool {
        var (component, name) = (components.startIndex, names.startIndex)
        var retry: (component: Int, name: Int)?
        while true {
            if component < components.endIndex, components[component].isAnyNames {
                component += 1
                if component == components.endIndex { return name < names.endIndex }
                retry = (component, name)
            } else if name < names.endIndex, component < components.endIndex, components[component].matches(names[name])
            {
                component += 1
                name += 1
            } else if name == names.endIndex, component == components.endIndex {
                return true
            } else if let last = retry, last.name < names.endIndex {
                (component, name) = (last.component, last.name + 1)
                retry = (component, name)
            } else {
                return false
            }
        }
    }

    private static func matches(_ token: Token, _ byte: UInt8) -> Bool {
        switch token {
        case .byte(let other): byte == other
        case .anyByte: byte != 47
        case .anyRun: false
        case .oneOf(let ranges, let negated): byte != 47 && ranges.contains { $0.contains(byte) } != negated
        }
    }

    // MARK: Brackets

    /// Takes a set from the pattern, from after its opening bracket to its closing one; nil without a closing bracket.
    private static func takeSet(_ rest: inout ArraySlice<UInt8>) -> Token? {
        let negated = rest.first == 33 || rest.first == 94
        if negated { rest = rest.dropFirst() }
        var ranges: [ClosedRange<UInt8>] = []
        var isFirst = true
        while let byte = rest.popFirst() {
            if byte == 93, !isFirst { return .oneOf(ranges, negated: negated) }
            isFirst = false
            if byte == 91, rest.first == 58 {
                guard let named = takeClass(&rest) else { return nil }
                ranges += named
                continue
            }
            guard let low = byte == 92 ? rest.popFirst() : byte else { return nil }
            guard rest.first == 45, let after = rest.dropFirst().first, after != 93 else {
                ranges.append(low...low)
                continue
            }
            rest = rest.dropFirst(2)
            guard let high = after == 92 ? rest.popFirst() : after else { return nil }
            if low <= high { ranges.append(low...high) }
        }
        return nil
    }

    /// Takes `:alpha:]` from the pattern; nil for an unknown class.
    private static func takeClass(_ rest: inout ArraySlice<UInt8>) -> [ClosedRange<UInt8>]? {
        guard let end = rest.firstIndex(of: 93), rest[end - 1] == 58, end > rest.startIndex + 1 else { return nil }
        let name = String(decoding: rest[(rest.startIndex + 1)..<(end - 1)], as: UTF8.self)
        rest = rest[(end + 1)...]
        return classes[name]
    }

    private static let classes: [String: [ClosedRange<UInt8>]] = [
        "alnum": [48...57, 65...90, 97...122], "alpha": [65...90, 97...122], "blank": [32...32, 9...9],
        "cntrl": [0...31, 127...127], "digit": [48...57], "graph": [33...126], "lower": [97...122],
        "print": [32...126], "punct": [33...47, 58...64, 91...96, 123...126], "space": [9...13, 32...32],
        "upper": [65...90], "xdigit": [48...57, 65...70, 97...102],
    ]
}
