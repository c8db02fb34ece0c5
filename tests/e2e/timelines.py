#!/usr/bin/env python3
"""Whether the timeline of a page of fxt html is that of a trace: fxtdecode.py times TRACE | timelines.py PAGE

The page's items are decoded as its format says. Slices that were merged must be as many as the independent decoder knows,
and take as long all together; what was not merged must be one of them, and lie inside of one that is above it. Lanes are in
the order of time. Prints how many items and slices there are, how
many records were lost, and how many windows have no merged items.
"""
import collections
import json
import re
import sys


def items_of(lane):
    """start, end, name, flags, count, sum of each item"""
    numbers, at, time, items = lane[2], 0, 0, []
    while at < len(numbers):
        start = time + numbers[at]
        time = start + numbers[at + 1]
        code = numbers[at + 2]
        merged = numbers[at + 3:at + 6] if code & 1 else [1, time - start, time - start]
        items.append((start, time, code >> 3, code & 7, merged[0], merged[1]))
        at += 6 if code & 1 else 3
    return items


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.loads(re.search('<script type="application/json" id="data">(.*?)</script>', file.read(), re.S).group(1))
    slices = [line.rstrip("\n").split("\t") for line in sys.stdin]
    truth, sums, lost = collections.Counter(), collections.Counter(), collections.Counter()
    page_sums, page_lost = collections.Counter(), collections.Counter()
    for _, thread, category, name, start, length in slices:
        lost[int(thread)] += category == "fxt" and name.startswith("fxt: records ")
        truth[int(thread), name, int(start), int(start) + int(length)] += 1
        sums[int(thread), "count"] += 1
        sums[int(thread), "time"] += int(length)
    koids = {number: thread[2] for number, thread in data["threads"].items()}
    lanes = {(str(lane[0]), lane[1]): items_of(lane) for lane in data["timeline"]["calls"]["lanes"]}
    origin = min(int(start) for *_, start, _ in slices) - min(items[0][0] for items in lanes.values())
    wrong, records = [], 0
    for (thread, row), items in lanes.items():
        above = lanes.get((thread, row - 1), [])
        outer = 0
        for before, item in zip([None] + items, items):
            start, end, name, _, count, time = item
            if before and before[1] > start:
                wrong.append(f"{thread}/{row}: {before} and {item} overlap")
            page_sums[koids[thread], "count"] += count
            page_sums[koids[thread], "time"] += time
            key = koids[thread], data["names"][name], start + origin, end + origin
            if count == 1 and truth[key] == 0:
                wrong.append(f"{thread}/{row}: {key} is no slice")
            while row > 0 and count == 1 and outer < len(above) and above[outer][1] + 1 < end:
                outer += 1
            if row > 0 and count == 1 and not (outer < len(above) and above[outer][0] <= start):
                wrong.append(f"{thread}/{row}: {key} is in nothing")
    for lane in data["timeline"]["losses"]["lanes"]:
        page_lost[koids[str(lane[0])]] += sum(item[4] for item in items_of(lane))
        records += sum(item[5] for item in items_of(lane))
    # A long call may have too many calls inside it even for a window.
    exact = [window for window in data["timeline"]["windows"] if window["calls"]["width"] == 0]
    for window in exact:
        items = {(koids[str(lane[0])], data["names"][item[2]], item[0] + origin, item[1] + origin): item[4]
                 for lane in window["calls"]["lanes"] for item in items_of(lane)}
        start, end = window["from"] + origin, window["to"] + origin
        wrong += [f"{window['text']}: merged: {key}" for key, count in items.items() if count > 1]
        wrong += [f"{window['text']}: {key} is no slice" for key in items if not truth[key]]
        wrong += [f"{window['text']}: {key} is missing" for key in truth if key[2] < end and key[3] > start and key not in items]
        wrong += [f"{window['text']}: {key} is elsewhere" for key in items if key[2] > end + 1 or key[3] < start - 1]
        if not items:
            wrong.append(f"{window['text']}: nothing in it")
    wrong += [f"{key}: {page_sums[key]}, not {sums[key]}" for key in sums | page_sums if page_sums[key] != sums[key]]
    wrong += [f"gaps of {key}: {page_lost[key]}, not {lost[key]}" for key in lost | page_lost if page_lost[key] != lost[key]]
    print(*wrong[:20], sep="\n", end="\n" if wrong else "")
    print(sum(map(len, lanes.values())), len(slices), records, len(exact))
    return bool(wrong)


sys.exit(main())
