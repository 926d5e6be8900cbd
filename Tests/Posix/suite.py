# The frame of the POSIX suite: cases by name, each in a directory of its own, recorded step by step as text.

import errno
import gc
import hashlib
import json
import os
import shutil
import signal
import stat
import sys
import traceback

CASES = {}
USERS = {"root": (0, 0, []), "alice": (1001, 1001, [2000]), "bob": (1002, 1002, [2000]), "carol": (1003, 1003, [])}


def case(name, needs_root=False):
    """Registers a case; with arguments bound by the caller's closure."""
    def register(body):
        assert name not in CASES, name
        CASES[name] = (body, needs_root)
        return body
    return register


class Case:
    """What a case's body is given: `do` runs a step and records its result or errno."""

    def __init__(self):
        self.lines = []

    def say(self, text):
        self.lines.append(str(text))

    def do(self, label, body, *arguments, **options):
        """Runs one step; returns its value, or the OSError that it raised."""
        try:
            value = body(*arguments, **options)
        except OSError as error:
            self.say(f"{label}: {errno.errorcode.get(error.errno, error.errno)}")
            return error
        self.say(f"{label}: {shown(value)}")
        return value

    def as_user(self, user, body):
        """Runs steps as somebody else, in a child process."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            inner = Case()
            try:
                if os.getuid() == 0:
                    uid, gid, groups = USERS[user]
                    os.setgroups(groups)
                    os.setresgid(gid, gid, gid)
                    os.setresuid(uid, uid, uid)
                body(inner)
            except BaseException:
                inner.say("FAILED " + traceback.format_exc().splitlines()[-1])
            with os.fdopen(writing, "w") as pipe:
                json.dump(inner.lines, pipe)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
        self.lines += [f"{user} {line}" for line in (json.loads(text) if text else ["died"])]

    def touches(self, label, paths, body, *arguments):
        """Which of the three times of each path a step changes."""
        here = os.getcwd()
        paths = {path: os.path.join(here, path) for path in paths}
        before = {path: times(place) for path, place in paths.items()}
        self.do(label, body, *arguments)
        for path, place in paths.items():
            after = times(place)
            if before[path] is None or after is None or before[path][3] != after[3]:
                self.say(f"  {path}: {'gone' if after is None else 'new' if before[path] is None else 'another'}")
                continue
            changed = [n for n, a, b in zip(("atime", "mtime", "ctime"), before[path], after) if a != b]
            self.say(f"  {path}: {','.join(changed) or 'unchanged'}")


def times(path):
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def shown(value):
    if isinstance(value, os.stat_result):
        return described(value)
    if isinstance(value, bytes):
        return value.hex() if len(value) <= 64 else f"{len(value)} bytes {hashlib.sha256(value).hexdigest()[:16]}"
    return repr(value) if not isinstance(value, int) or isinstance(value, bool) else value


def described(found):
    """What two file systems must agree on."""
    kind = stat.S_IFMT(found.st_mode)
    size = found.st_size
    device = found.st_rdev if kind in (stat.S_IFCHR, stat.S_IFBLK) else 0
    return (f"type={kind:o} mode={stat.S_IMODE(found.st_mode):o} nlink={found.st_nlink} uid={found.st_uid} "
            f"gid={found.st_gid} size={size} rdev={device}")


def attributes(path):
    result = []
    try:
        names = sorted(os.listxattr(path, follow_symlinks=False))
    except OSError as error:
        return [errno.errorcode[error.errno]]
    for name in names:
        try:
            result.append(f"{name}={os.getxattr(path, name, follow_symlinks=False).hex()[:80]}")
        except OSError as error:
            result.append(f"{name}:{errno.errorcode[error.errno]}")
    return result


def snapshot(case, path=".", depth=0):
    """The tree as it is at the end of a case."""
    for name in sorted(os.listdir(os.fsencode(path))):
        inner = os.path.join(os.fsencode(path), name)
        found = os.lstat(inner)
        label = ("%s" % name)[2:-1] if len(name) < 60 else f"{len(name)} bytes {hashlib.sha256(name).hexdigest()[:8]}"
        line = f"{'  ' * depth}{label} {described(found)}"
        if stat.S_ISLNK(found.st_mode):
            line += f" -> {os.readlink(inner)[:50]!r}"
        if stat.S_ISREG(found.st_mode) and found.st_size < 1 << 20:
            try:
                with open(inner, "rb") as file:
                    line += f" {shown(file.read())}"
            except OSError as error:
                line += f" {errno.errorcode[error.errno]}"
        if not stat.S_ISLNK(found.st_mode):
            line += "".join(f" {attribute}" for attribute in attributes(inner))
        case.say(line)
        if stat.S_ISDIR(found.st_mode) and depth < 6 and os.access(inner, os.R_OK | os.X_OK):
            snapshot(case, inner, depth + 1)


def descriptors():
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            os.fstat(int(name))
            found.add(int(name))
        except OSError:
            pass
    return found


def expired(*_):
    raise TimeoutError("the case took over 120 s")


def run(root, selected):
    os.umask(0o022)
    privileged = os.getuid() == 0
    mode = stat.S_IMODE(os.stat(root).st_mode)
    signal.signal(signal.SIGALRM, expired)
    for number, (name, (body, needs_root)) in enumerate(CASES.items()):
        if selected and not any(part in name for part in selected) or needs_root and not privileged:
            continue
        place = os.path.join(root, f"case{number}")
        os.mkdir(place)
        os.chdir(place)
        here = Case()
        ours = descriptors()
        signal.alarm(120)
        try:
            body(here)
            # What a case leaves open is closed before its tree is looked at: a case is a program's whole life.
            gc.collect()
            for file in descriptors() - ours:
                os.close(file)
            os.chdir(place)
            here.say("--")
            snapshot(here)
        except BaseException as error:
            here.say(f"FAILED {type(error).__name__} {getattr(error, 'errno', '')} {traceback.format_exc().splitlines()[-3:-1]}")
        signal.alarm(0)
        os.umask(0o022)
        # A case about `..` changes the directory above it.
        os.chmod(root, mode)
        os.chdir(root)
        print(json.dumps({"case": name, "lines": here.lines}), flush=True)
        shutil.rmtree(place, ignore_errors=True)
