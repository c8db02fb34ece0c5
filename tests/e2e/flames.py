#!/usr/bin/env python3
"""Whether a flame graph is that of a trace, by what the independent decoder knows: flames.py COST SVG PATHS [BEFORE]

PATHS has what `fxtdecode.py paths` printed of the trace, BEFORE of the one that it is compared with; of a cost of the heap
they have lines of a call path, bytes and blocks, separated by tabs. COST is time, self, calls or bytes; with self the graph
is a bottom-up one. What a box is inside of is taken from where it is drawn. Every path that a thousandth of all is spent on
must be there, and every box must be right. What is not drawn must be told: of each box what is missing inside of it, and
of all how many paths these are.
"""
import collections
import re
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
LEAST = 1 / 1000
ROUNDED = 0.01  # percent


def true_costs(cost, path):
    """{path: [cost with all inside, cost of its own, calls, slices added up]}"""
    own = collections.defaultdict(lambda: [0, 0, 0])
    for line in open(path, encoding="utf-8"):
        fields = line.rstrip("\n").split("\t")
        if cost == "bytes":
            name, value, calls = fields[0], int(fields[1]), int(fields[2])
        else:
            is_call, name, calls = fields[2] == "function", fields[3], int(fields[4])
            value = (calls if is_call else 0) if cost == "calls" else int(fields[7])
        names = name.split(";")
        if names[-1] == "fxt: waited":  # no time of the program's
            continue
        sums = own[";".join(reversed(names)) if cost == "self" else name]
        sums[0] += value
        sums[1] += calls
        sums[2] += 1
    costs = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, (value, calls, rows) in own.items():
        if cost == "self" and value == 0:
            continue
        outer = name
        while True:
            costs[outer][0] += value
            costs[outer][3] += rows
            if cost == "self":
                costs[outer][2] += calls
            if ";" not in outer:
                break
            outer = outer.rpartition(";")[0]
        costs[name][1] += value
        if cost != "self":
            costs[name][2] += calls
    return costs


def drawn_boxes(path):
    """Paths, widths and boxes: a box as its attributes; the root; and how many are told to be missing."""
    rows = collections.defaultdict(list)
    picture = xml.etree.ElementTree.parse(path).getroot()
    notes = [note.text for note in picture.iter(f"{SVG}tspan") if note.get("class") == "note"]
    missing = sum(int(re.search(r"(\d+) box", note)[1]) for note in notes)
    for box in picture.iter(f"{SVG}svg"):
        if box.get("class").split()[0] != "b":
            continue
        left, width = (float(box.get(name).rstrip("%")) for name in ("x", "width"))
        name = box.find(f"{SVG}title").text.split("\n")[0]
        assert name == box.find(f"{SVG}text").text
        rows[float(box.get("y"))].append([left, left + width, name, box])
    (_, _, _, root), = rows.pop(min(rows))
    above = [[0, 100, None]]
    boxes = []
    for _, row in sorted(rows.items()):
        row.sort(key=lambda entry: entry[0])
        for entry in row:
            left, right, name, box = entry
            outer, = (outer for outer in above if outer[0] - ROUNDED <= left and right <= outer[1] + ROUNDED and
                      outer[0] <= (left + right) / 2 <= outer[1])
            entry[2] = name if outer[2] is None else f"{outer[2]};{name}"
            boxes.append((entry[2], right - left, box))
        for one, next_ in zip(row, row[1:]):
            assert one[1] <= next_[0] + ROUNDED, f"{one[2]} and {next_[2]} overlap"
        above = row
    return root, boxes, missing


def main():
    cost, svg, truth = sys.argv[1:4]
    costs = true_costs(cost, truth)
    before = true_costs(cost, sys.argv[4]) if len(sys.argv) > 4 else None
    root, boxes, missing = drawn_boxes(svg)
    wrong = []

    def compare(name, what, got, expected, rows):
        # Times are rounded down in each row.
        if not 0 <= got - expected <= (rows if cost in ("time", "self") else 0):
            wrong.append(f"{name}: {what} {got}, not {expected}")

    whole = sum(value[0] for name, value in costs.items() if ";" not in name)
    rows = sum(value[3] for value in costs.values())
    compare("all", "total", int(root.get("data-total")), whole, rows)
    drawn = {name for name, _, _ in boxes}
    inside = collections.defaultdict(lambda: [0, 0])
    for name, value in costs.items():
        if name not in drawn:
            inside[name.rpartition(";")[0]][0] += value[0]
            inside[name.rpartition(";")[0]][1] += value[3]
    for name, box in [("", root)] + [(name, box) for name, _, box in boxes]:
        compare(name or "all", "too narrow", int(box.get("data-narrow", 0)), *inside[name])
    left_out = sum(value[0] > 0 for value in costs.values()) - len(boxes)
    if missing != left_out:
        wrong.append(f"{missing} boxes are told to be missing, not {left_out}")
    for name, width, box in boxes:
        total, own, calls, rows = costs.pop(name, [0, 0, 0, 0])
        got = int(box.get("data-total"))
        compare(name, "total", got, total, rows)
        compare(name, "self", int(box.get("data-self")), own, rows)
        compare(name, "calls", int(box.get("data-calls")), calls, 0)
        if abs(width - 100 * got / int(root.get("data-total"))) > ROUNDED:
            wrong.append(f"{name}: {width} % wide")
        if before:
            compare(name, "before", int(box.get("data-before")), before[name][0], before[name][3])
    wrong += [f"missing: {name}" for name, value in costs.items() if value[0] > LEAST * whole]
    print(*wrong[:20], sep="\n")
    print(f"{len(boxes)} boxes, {missing} too narrow, {len(wrong)} wrong")
    return bool(wrong) or not boxes


sys.exit(main())
