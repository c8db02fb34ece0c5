"""Checks what a cut of a trace must have, by what the independent decoder finds in the whole one.

    cuts.py window WHOLE NAME         start and end in ns of the longest slice of that name
    cuts.py slices WHOLE CUT [FROM TO [KEY=VALUE...]]
                                      the slices of CUT are those of WHOLE that reach into the time from FROM to TO, each as a
                                      whole, or with their name, thread or process number as given; files are of `fxtdecode.py slices`
    cuts.py blocks WHOLE CUT FROM TO  the same of what lived in a heap, from `heapdecode.py blocks`; what of it was freed
                                      later lives on

Two ticks may be one nanosecond, so what touches a border may be there or not.
"""

import sys


def rows(path):
    with open(path) as file:
        return [line.rstrip("\n").split("\t") for line in file]


def is_like(row, wanted):
    names = {"process": 0, "thread": 1, "category": 2, "name": 3}
    return all(row[names[key]] == value for key, value in (word.split("=", 1) for word in wanted))


def compare(must, may, got):
    must, may, got = set(map(tuple, must)), set(map(tuple, may)), set(map(tuple, got))
    for row in sorted(must - got)[:10]:
        print("missing:", row)
    for row in sorted(got - may)[:10]:
        print("too much:", row)
    if not must or must - got or got - may:
        sys.exit(f"{len(must)} at least, {len(may)} at most, {len(got)} there")


def slices(whole, cut, begin="0", end="0", *wanted):
    begin, end = int(begin), int(end) or 1 << 63
    chosen = [row for row in rows(whole) if is_like(row, wanted)]

    def inside(margin):
        return [row for row in chosen if int(row[4]) < end + margin and (not row[5] or int(row[5]) > begin - margin)]
    compare(inside(-2), inside(2), rows(cut))


def blocks(whole, cut, begin, end):
    begin, end, all_blocks = int(begin), int(end), rows(whole)
    pointer, size, path, start, freed = 0, 1, 3, 4, 5

    def inside(margin):
        return [(row[pointer], row[size], row[path], row[start], row[freed] if row[freed] and int(row[freed]) < end else "")
                for row in all_blocks
                if int(row[start]) < end + margin and (not row[freed] or int(row[freed]) > begin - margin)]
    compare(inside(-2), inside(2), [(row[pointer], row[size], row[path], row[start], row[freed]) for row in rows(cut)])


def window(whole, name):
    found = [(int(row[5]) - int(row[4]), row[4], row[5]) for row in rows(whole) if row[3] == name]
    print(*max(found)[1:])


{"slices": slices, "blocks": blocks, "window": window}[sys.argv[1]](*sys.argv[2:])
