# One file, many operations at random, compared with a model in memory: fsx.py FILE SEED COUNT. After fsx of Apple and SGI in idea.

import ctypes
import mmap
import os
import random
import sys

import linux

MOST = 256 << 10
PAGE = 4096


class Difference(Exception):
    pass


class Tester:
    def __init__(self, path, seed):
        self.path = path
        self.random = random.Random(seed)
        self.model = bytearray()
        self.log = []
        self.files = [os.open(path, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o644)]
        self.mapping = None
        self.stamp = 0

    # Descriptors: several may be open at a time, one is used.

    def file(self):
        return self.random.choice(self.files)

    def reopen(self):
        if len(self.files) > 2:
            os.close(self.files.pop(self.random.randrange(len(self.files))))
        self.files.append(os.open(self.path, os.O_RDWR))

    def close_all(self):
        for file in self.files:
            os.close(file)
        self.files = [os.open(self.path, os.O_RDWR)]

    # Random places and bytes.

    def place(self, within=MOST):
        offset = self.random.randrange(within + 1)
        if self.random.random() < 0.2:
            offset -= offset % PAGE
        length = int(self.random.random() ** 3 * min(within - offset, 65536)) if within > offset else 0
        return offset, length

    def bytes(self, length):
        self.stamp = (self.stamp + 1) & 0xffff
        return (b"%05d-" % self.stamp * (length // 6 + 1))[:length]

    def grow(self, size):
        if size > len(self.model):
            self.model.extend(bytes(size - len(self.model)))

    def check(self, what, got, expected):
        if got != expected:
            at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
            raise Difference(f"{what}: at {at}: {bytes(got[at:at + 24])} for {bytes(expected[at:at + 24])}, {len(got)} for {len(expected)} bytes")

    # Operations.

    def write(self):
        offset, length = self.place()
        data = self.bytes(length)
        done = os.pwrite(self.file(), data, offset)
        if done != length:
            raise Difference(f"write of {length} gave {done}")
        if length:
            self.grow(offset + length)
            self.model[offset:offset + length] = data
        return offset, length

    def append(self):
        length = self.random.randrange(min(2000, MOST - len(self.model)) + 1)
        data = self.bytes(length)
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        os.write(file, data)
        os.close(file)
        self.model += data
        return length

    def read(self):
        offset, length = self.place()
        self.check("read", os.pread(self.file(), length, offset), bytes(self.model[offset:offset + length]))
        return offset, length

    def truncate(self):
        size = self.random.randrange(MOST + 1) if self.random.random() < 0.8 else 0
        if self.random.random() < 0.5: os.ftruncate(self.file(), size)
        else: os.truncate(self.path, size)
        self.grow(size)
        del self.model[size:]
        return size

    def open_truncating(self):
        os.close(os.open(self.path, os.O_WRONLY | os.O_TRUNC))
        self.model = bytearray()

    def allocate(self):
        offset, length = self.place()
        offset, length = min(offset, MOST - 1), max(1, length)
        mode = self.random.choice([0, 1, 3, 3, 0x10, 0x11])
        linux.fallocate(self.file(), mode, offset, length)
        end = offset + length
        if mode in (0, 0x10): self.grow(end)
        if mode in (3, 0x10, 0x11):
            stop = min(end, len(self.model))
            if stop > offset: self.model[offset:stop] = bytes(stop - offset)
        return mode, offset, length

    def map_read(self):
        if not self.model: return None
        offset, length = self.place(len(self.model))
        with mmap.mmap(self.file(), len(self.model), prot=mmap.PROT_READ) as mapped:
            self.check("mapped", mapped[offset:offset + length], bytes(self.model[offset:offset + length]))
        return offset, length

    def map_write(self):
        if not self.model: return None
        offset, length = self.place(len(self.model))
        data = self.bytes(length)
        with mmap.mmap(self.file(), len(self.model)) as mapped:
            mapped[offset:offset + length] = data
            if self.random.random() < 0.3: mapped.flush()
        self.model[offset:offset + length] = data
        return offset, length

    def copy(self):
        offset, length = self.place(len(self.model))
        target = self.random.randrange(MOST - length + 1)
        if abs(target - offset) < length: return None
        done = os.copy_file_range(self.file(), self.file(), length, offset, target)
        if length and done == 0: raise Difference("copied nothing")
        if done:
            self.grow(target + done)
            self.model[target:target + done] = self.model[offset:offset + done]
        return offset, target, done

    def size(self):
        for found in (os.fstat(self.file()).st_size, os.stat(self.path).st_size):
            if found != len(self.model): raise Difference(f"the size is {found} for {len(self.model)}")

    def sync(self):
        (os.fsync if self.random.random() < 0.1 else os.fdatasync)(self.file())

    def replace(self):
        data = self.bytes(self.random.randrange(20000))
        with open(self.path + ".tmp", "wb") as file: file.write(data)
        for file in self.files: os.close(file)
        os.rename(self.path + ".tmp", self.path)
        self.model = bytearray(data)
        self.files = [os.open(self.path, os.O_RDWR)]

    def whole(self):
        with open(self.path, "rb") as file:
            self.check("whole", file.read(), bytes(self.model))

    def run(self, count):
        steps = [(self.write, 24), (self.read, 24), (self.truncate, 5), (self.allocate, 8), (self.map_read, 12), (self.map_write, 12), (self.copy, 6),
                 (self.append, 3), (self.size, 4), (self.whole, 0.5), (self.reopen, 2), (self.close_all, 0.5), (self.open_truncating, 0.3),
                 (self.sync, 0.05), (self.replace, 0.2)]
        chosen = self.random.choices([s for s, _ in steps], [w for _, w in steps], k=count)
        for number, step in enumerate(chosen):
            try:
                self.log.append((number, step.__name__, step()))
                del self.log[:-12]
            except (Difference, OSError) as error:
                for entry in self.log: print(*entry)
                print(f"operation {number}, {step.__name__}: {error}")
                return 1
        self.whole()
        print(f"{count} operations agree")
        return 0


sys.exit(Tester(sys.argv[1], int(sys.argv[2])).run(int(sys.argv[3])))
