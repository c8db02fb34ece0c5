#!/usr/bin/env python3
"""What programs said in a trace by <fxt/trace.h>: saiddecode.py events|objects|counts|lost|logs TRACE

Written from the text of the format alone, as fxtdecode.py is.

    events   each event of a category that is none of fxt's own, each blob and each log line, in the order of the file:
             type, category, name, id, and the arguments with their types
    objects  each userspace object, and each kernel object with koids below 100, with names and arguments
    counts   type, category, name and number of such events, tab-separated, sorted
    logs     each log line: process and thread, tab, text
    lost     the number of records that slices, in the category fxt, say were lost
"""
import collections
import struct
import sys

TYPES = ["instant", "counter", "begin", "end", "complete", "async begin", "async instant", "async end", "flow begin",
         "flow step", "flow end"]
OWN = {"function", "inherited", "fxt", "sync", "process", "heap", "sched", ""}


class Provider:
    def __init__(self):
        self.strings = {0: ""}
        self.threads = {}


class Record:
    def __init__(self, words, provider):
        self.words, self.provider, self.at = words, provider, 1

    def word(self):
        self.at += 1
        return self.words[self.at - 1]

    def stream(self, size):
        count = -(-size // 8)
        data = struct.pack(f"<{count}Q", *self.words[self.at:self.at + count])
        assert not any(data[size:]), "padding"
        self.at += count
        return data[:size]

    def string(self, ref):
        if ref & 0x8000:
            assert ref & 0x7fff, "an inline string of no bytes"
            return self.stream(ref & 0x7fff).decode()
        return self.provider.strings[ref]

    def thread(self, ref):
        return self.provider.threads[ref] if ref else (self.word(), self.word())

    def arguments(self, count):
        found = []
        for _ in range(count):
            start, header = self.at, self.word()
            kind, size = header & 15, header >> 4 & 0xfff
            name = self.string(header >> 16 & 0xffff)
            half = header >> 32
            if kind == 0:
                value = "null"
            elif kind == 1:
                value = f"int32:{half - (half >> 31 << 32)}"
            elif kind == 2:
                value = f"uint32:{half}"
            elif kind == 3:
                value = f"int64:{struct.unpack('<q', struct.pack('<Q', self.word()))[0]}"
            elif kind == 4:
                value = f"uint64:{self.word()}"
            elif kind == 5:
                value = f"double:{struct.unpack('<d', struct.pack('<Q', self.word()))[0]!r}"
            elif kind == 6:
                value = f"string:{self.string(half & 0xffff)}"
            elif kind == 7:
                value = f"pointer:{self.word():#x}"
            elif kind == 8:
                value = f"koid:{self.word()}"
            elif kind == 9:
                value = f"bool:{half & 1}"
            elif kind == 10:
                value = f"blob:{self.stream(half).hex()}"
            else:
                raise AssertionError(f"argument type {kind}")
            assert self.at - start == size, "an argument's size"
            found.append((name, value))
        return found

    def end(self):
        assert self.at == len(self.words), f"{len(self.words) - self.at} words more than its contents"


def records_of(path):
    data = open(path, "rb").read()
    at, provider, providers = 0, Provider(), {}
    while at < len(data):
        header = struct.unpack_from("<Q", data, at)[0]
        size = header >> 4 & (0xffffffff if header & 15 == 15 else 0xfff)
        words = struct.unpack_from(f"<{size}Q", data, at)
        at += size * 8
        kind = header & 15
        if kind == 0 and header >> 16 & 15 in (1, 2):
            provider = providers.setdefault(header >> 20 & 0xffffffff, Provider())
        record = Record(words, provider)
        if kind == 2:
            provider.strings[header >> 16 & 0x7fff] = record.stream(header >> 32 & 0x7fff).decode()
        elif kind == 3:
            provider.threads[header >> 16 & 0xff] = words[1:3]
        else:
            yield kind, header, record


def shown(arguments):
    return "".join(f"\t{name}={value}" for name, value in arguments)


def log_of(header, r):
    r.word()
    thread = r.thread(header >> 32 & 0xff)
    text = r.stream(header >> 16 & 0x7fff).decode()
    r.end()
    return thread, text


def events_of(path):
    """Type, category, name, id and arguments of each."""
    for kind, header, r in records_of(path):
        if kind == 4:
            r.word()
            r.thread(header >> 24 & 0xff)
            category, name = r.string(header >> 32 & 0xffff), r.string(header >> 48)
            arguments = r.arguments(header >> 20 & 15)
            type_ = TYPES[header >> 16 & 15]
            extra = r.word() if type_ in ("counter", "complete") or " " in type_ else None
            r.end()
            yield type_, category, name, extra if type_ != "complete" else None, arguments
        elif kind == 9:
            _, text = log_of(header, r)
            if not text.startswith("{{{"):
                yield "log", "log", text, None, []
        elif kind == 15:
            has_metadata = (header >> 40 & 15) == 0
            head = r.word()
            category, name = r.string(head & 0xffff), r.string(head >> 16 & 0xffff)
            arguments = []
            if has_metadata:
                r.word()
                r.thread(head >> 36 & 0xff)
                arguments = r.arguments(head >> 32 & 15)
            data = r.stream(r.word())
            r.end()
            yield "blob event" if has_metadata else "blob", category, name, data.hex(), arguments


def main():
    command, path = sys.argv[1:]
    said = [e for e in events_of(path) if e[1] not in OWN]
    if command == "events":
        for type_, category, name, extra, arguments in said:
            identity = "" if extra is None else f"\t{extra}"
            print(f"{type_}\t{category}\t{name}{identity}" + shown(arguments))
    elif command == "counts":
        for key, number in sorted(collections.Counter(e[:3] for e in said).items()):
            print("\t".join(key) + f"\t{number}")
    elif command == "logs":
        for kind, header, r in records_of(path):
            if kind == 9:
                (process, thread), text = log_of(header, r)
                if not text.startswith("{{{"):
                    print(f"{process} {thread}\t{text}")
    elif command == "lost":
        print(sum(int(value.split(":")[1]) for _, category, _, _, arguments in events_of(path) if category == "fxt"
                  for name, value in arguments if name == "records"))
    elif command == "objects":
        for kind, header, r in records_of(path):
            if kind not in (6, 7):
                continue
            identity = r.word()
            if kind == 6:
                if not header >> 16 & 0xff:
                    r.word()
                name = r.string(header >> 24 & 0xffff)
                print(f"userspace\t{name}" + shown(r.arguments(header >> 40 & 15)))
            elif identity < 100:
                name = r.string(header >> 24 & 0xffff)
                print(f"kernel\t{identity}\t{header >> 16 & 0xff}\t{name}" + shown(r.arguments(header >> 40 & 15)))
            else:
                continue
            r.end()


if __name__ == "__main__":
    main()
