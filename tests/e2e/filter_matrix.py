#!/usr/bin/env python3
"""filter_matrix.py PROGRAM COMMAND...: whether each filter of the program's table leaves the calls that a filter of the whole
trace yields afterwards, in their order, each inside of what it was inside of, on each thread.

The whole trace is decoded by tests/independent/fxtdecode.py. What should be left is worked out here from the options as the
manual page has them; where functions are defined, nm says of the files of the command that have symbols. Where times decide,
each run has its own: then it is compared that what is recorded is the outer part of what could be, that what is told as left
out is the rest, function by function, that times add up, and that fxt report has the sums.
"""
import collections
import csv
import fnmatch
import functools
import io
import os
import re
import subprocess
import sys

root = os.path.join(os.path.dirname(__file__), "../..")
sys.path.insert(0, os.path.join(root, "tests/independent"))
import fxtdecode  # noqa: E402

sys.setrecursionlimit(100000)

HOW = ["--heap=off", "--no-sched"]  # of all runs
TIMED = ["--categories=function"]  # waits would keep calls, and are there or not
MODES = [["--buffer-size=1M"], ["--buffering-mode=oneshot", "--buffer-size=64M"],
         ["--buffering-mode=circular", "--buffer-size=64M"], ["--no-patch"], ["--heap=objects"]]

# Lists of options; each makes a row of a program. FILE stands for a file of the lines that
# follow it.
LUA = [
    ["--include=luaH_*"], ["--include=/^lua[VD]_/", "--include=main"], ["--exclude=luaV_execute"], ["--exclude=lua[!H]_*"],
    ["--include=luaH_*", "--exclude=/get/"], ["--include=file:lgc.c"], ["--exclude=file:/\\/l(vm|do)\\.c$/"],
    ["--exclude=file:*/src/ltable.c", "--exclude=luaM_*"], ["--include=module:/lua$/", "--exclude=luaS_*"],
    ["FILE", "# calls", "", "include lua?_*", "  exclude luaC_*", "exclude\tfile:lapi.c"], ["FILE", "only-under luaD_call*", "not-under luaV_*"],
    ["-F", "luaD_call*"], ["-F", "luaV_execute", "-D", "3"], ["-F", "luaH_*", "-F", "luaM_*", "-N", "/realloc/"],
    ["-N", "luaV_execute"], ["--not-under=file:lgc.c"], ["-D", "1"], ["-D", "4"], ["-D4", "-N", "luaL_*"],
    ["--include=luaH_*", "-F", "luaV_execute"], ["--include=/^lua[HM]/", "-N", "luaV_execute"],
    ["--exclude=luaV_execute", "-F", "luaV_execute"], ["--exclude=luaD_*", "-N", "luaD_rawrunprotected"],
    ["--exclude=luaD_*", "-F", "luaD_precall", "-D", "2"], ["--include=lua[MS]_*", "-D", "2"],
    ["--max-calls=5"], ["--max-calls=luaH_*:3"], ["--max-calls=4", "--max-calls=lua[HM]_*:1", "--exclude=luaV_*"],
    ["--max-calls=10", "-F", "luaV_execute", "-D", "3"], ["--max-calls=3", "-N", "luaD_throw"],
    ["-t", "2us"], ["-t", "1h"], ["-t", "0us"], ["-t", "luaH_*:1h"], ["-t", "5us", "-F", "luaV_execute"], ["-t", "2us", "--exclude=luaV_*"],
    ["-t", "1us", "-t", "/^lua[MH]/:0us", "--max-calls=50"], ["-t", "2us", "-D", "6"],
]
SQLITE = [
    ["--include=sqlite3Btree*"], ["--include=/^(sqlite3Vdbe|vdbe)/"], ["--exclude=sqlite3*"], ["--exclude=/[Mm]alloc|Mem/"],
    ["--include=sqlite3V*", "--exclude=/Exec|Mem/"], ["--include=file:shell.c"], ["--exclude=file:shell.c", "--exclude=pager*"],
    ["--include=file:/sqlite3?\\.c$/", "--exclude=/[a-f]$/"], ["--include=module:sqlite3", "--exclude=[a-o]*"],
    ["FILE", "include *pager*", "include *Pager*", "exclude /Get|get/"], ["FILE", "not-under sqlite3Run*", "exclude sqlite3_*"],
    ["-F", "sqlite3VdbeExec"], ["-F", "sqlite3RunParser", "-D", "4"], ["-F", "sqlite3BtreeInsert", "-N", "/[Mm]alloc/"],
    ["-N", "sqlite3Parser"], ["-N", "sqlite3VdbeExec", "-N", "sqlite3RunParser"], ["-D", "2"], ["-D", "9"], ["-D12", "-N", "sqlite3Prepare*"],
    ["--include=/Malloc$/", "-F", "sqlite3VdbeExec"], ["--include=sqlite3Expr*", "-N", "sqlite3Select"],
    ["--exclude=sqlite3Parser", "-F", "sqlite3Parser"], ["--exclude=/VdbeExec/", "-N", "sqlite3VdbeExec"],
    ["--max-calls=2"], ["--max-calls=sqlite3*:1"], ["--max-calls=7", "-F", "sqlite3VdbeExec"], ["--max-calls=1", "--include=sqlite3Expr*"],
    ["-t", "5us"], ["-t", "1h"], ["-t", "/alloc/:1h"], ["-t", "10us", "-N", "sqlite3RunParser"], ["-t", "3us", "--max-calls=20"],
]
KINDS = [
    ["--include=step"], ["--include=kinds::*"], ["--include=operator*"], ["--include=operator[[]]"], ["--include=/operator\\*=?\\(/"],
    ["--include=push_back", "--include=begin", "--include=run"], ["--include=kinds::Cooperator::run"],
    ["--include=kinds::(anonymous namespace)::*", "--exclude=~Guard"], ["--exclude=std::*"], ["--exclude=/lambda/"],
    ["--exclude=inlined", "--exclude=apply", "--exclude=count"], ["--include=file:kinds_other.cc"],
    ["--exclude=file:kinds.cc"], ["--include=step", "--exclude=file:/_other|_plugin/"], ["--exclude=file:/usr/*"],
    ["--include=module:kinds_plugin.so"], ["--exclude=module:/plugin/"], ["--include=module:kinds", "--exclude=std::*"],
    ["--include=file:kinds_plugin.cc"], ["FILE", "include walk", "include step(int)", "include main", "exclude module:*.so"],
    ["FILE", "only-under one_round", "exclude std::*", "exclude __gnu_cxx::*"],
    ["-F", "walk"], ["-F", "walk", "-D", "3"], ["-F", "fails"], ["-N", "fails"], ["-F", "plugin_work"], ["-N", "module:*.so"],
    ["-F", "file:kinds_other.cc", "-D", "2"], ["-F", "one_round", "-N", "catches", "-N", "walk"], ["-D", "1"], ["-D", "3"],
    ["-D", "4", "-N", "std::*"], ["--include=step", "-F", "plugin_work"], ["--include=plain", "--include=step", "-N", "walk"],
    ["--exclude=walk", "-F", "walk"], ["--exclude=walk", "-F", "walk", "-D", "1"], ["--exclude=catches", "-N", "catches"],
    ["--exclude=std::*", "-D", "3"], ["--exclude=inlined", "--exclude=fails"],
    ["--max-calls=3"], ["--max-calls=step:2", "--max-calls=walk:0"], ["--max-calls=4", "-F", "walk", "--exclude=inlined"],
    ["-t", "2us"], ["-t", "1h"], ["-t", "walk:1h", "-t", "step:0us"], ["-t", "3us", "-D", "5"], ["-t", "3us", "-N", "walk"],
    ["-t", "2us", "--max-calls=9", "--exclude=std::*"],
]
FORKS = [
    ["--include=plain", "--include=main"], ["--exclude=forks"], ["-F", "forks"], ["-F", "forks", "-D", "2"], ["-F", "one_round", "-D", "2"],
    ["-N", "forks"], ["-D", "2"], ["-D", "6"], ["--exclude=forks", "-D", "3"], ["--exclude=forks", "-F", "forks"],
    ["--exclude=main", "-N", "forks"], ["--max-calls=3"], ["-t", "2us"], ["-t", "1h"],
]
PROGRAMS = {"lua": LUA, "sqlite3": SQLITE, "kinds": KINDS, "forks": FORKS}


# ---- names ----

def without_parameters(name):
    end = re.search(r"\)((?: const| volatile| ?&&?| noexcept)*|(?: \[clone [^]]*\])+)$", name)
    depth = 0
    for at in range(end.start() if end else -1, 0, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if depth == 0:
            return name[:at]
    return name


OPERATOR = re.compile(r"operator(\(\)|\[\]|->\*?|<=>|<<=?|>>=?|&&|\|\||\+\+|--|[-+*/%^&|=!<>]=|[-+*/%^&|~!=<>,]|(?= ))")


def member(name, has_parameters):
    """The name without the names around the function and the type that it returns."""
    begin = at = depth = 0
    in_operator = False
    while at < len(name):
        symbol = OPERATOR.match(name, at) if at == begin and depth == 0 else None
        if symbol:
            in_operator = True
            at = symbol.end()
            continue
        depth += (name[at] in "<({") - (name[at] in ">)}")
        if depth == 0 and name.startswith("::", at):
            begin, in_operator = at + 2, False
            at += 1
        elif depth == 0 and has_parameters and not in_operator and name[at] in " *&":
            begin = at + 1
        at += 1
    return name[begin:]


def scoped(name):
    """The name without the type that it returns."""
    begin = at = depth = 0
    while at < len(name):
        if depth == 0 and re.compile(r"(?<!\w)operator(?!\w)").match(name, at):
            break
        if name.startswith("(anonymous namespace)", at):
            at += len("(anonymous namespace)")
            continue
        if depth == 0 and name.startswith(" const::", at):
            at += len(" const")
            continue
        depth += (name[at] in "<({") - (name[at] in ">)}")
        if depth == 0 and name[at] in " *&":
            begin = at + 1
        at += 1
    return name[begin:]


@functools.lru_cache(None)
def forms(name):
    """A function's name in full, and what may be given in place of it."""
    bare = without_parameters(name)
    last = member(bare, bare != name)
    own = scoped(bare) if bare != name else bare
    short = last if last.startswith("operator") else last.split("<")[0]
    return {name, bare, last, short, own, own[:len(own) - len(last)] + short}


def matches_text(pattern, texts, whole):
    if pattern[0] == pattern[-1] == "/" and len(pattern) > 2:
        return any(re.search(pattern[1:-1], text) for text in whole)
    return any(fnmatch.fnmatchcase(text, pattern) or text == pattern for text in texts)


@functools.lru_cache(None)
def matches(pattern, name, place):
    """Whether a function of that name, from that (module, source file), is one of the pattern."""
    subject = re.match(r"(file|module):(?!:)(.*)", pattern)
    if not subject:
        return matches_text(pattern, forms(name), {name})
    path = place[subject[1] == "file"]
    parts = path.split("/")
    tails = {"/".join(parts[i:]) for i in range(len(parts))}
    return matches_text(subject[2], tails, tails)


@functools.lru_cache(None)
def functions_of(file):
    """{address: (name, source file)} of a program or library."""
    functions = {}
    for kind in ["-D"], []:
        symbols = subprocess.run(["nm", "-C", "-l", "--defined-only", "--without-symbol-versions", *kind, file],
                                 capture_output=True, text=True).stdout
        for symbol in re.finditer(r"^(\w+) [tTwWui] ([^\t\n]+)(?:\t(.*):[0-9?]+)?$", symbols, re.M):
            functions[int(symbol[1], 16)] = symbol[2], os.path.normpath(symbol[3]) if symbol[3] else ""
    return functions


# ---- traces ----

# `outer` is the place in the list of the call around it; kind: "function", "inherited", or
# of the tracer.
Call = collections.namedtuple("Call", "process thread kind name outer start end")
OPEN = 1 << 64  # the end of what lasts until its process ends


class Trace(fxtdecode.Ticks):
    """With what a trace without names has in place of them."""

    def __init__(self, path):
        self.modules, self.maps = {}, collections.defaultdict(list)
        super().__init__(path)

    def log(self, header, cursor, provider):
        cursor.word()
        process, _ = cursor.thread(header >> 32 & 0xFF, provider)
        kind, *fields = cursor.text(header >> 16 & 0x7FFF).strip("{}").split(":")
        if kind == "module":
            self.modules[process, fields[0]] = fields[1]
        elif kind == "mmap":
            self.maps[process, fields[3]].append((int(fields[0], 16), int(fields[1], 16), int(fields[5], 16)))

    def function(self, process, text):
        """Resolves the text of a name: (module, its number, address in it)."""
        _, address, module = text.strip("{}").split(":")
        for start, size, offset in self.maps[process, module]:
            if start <= int(address, 16) < start + size:
                return self.modules[process, module], module, int(address, 16) - start + offset
        raise LookupError(text)


class Recording:
    """A run of the command under fxtrun: its calls, each before those inside of it, thread by thread."""

    def __init__(self, options, command):
        self.errors = subprocess.run(["fxtrun", "-o", "matrix.fxt", *HOW, *options, *command], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
        self.trace = Trace("matrix.fxt")
        threads = collections.defaultdict(list)
        for process, thread, category, name, start, end in self.trace.slices():
            threads[process, thread].append((start, -(OPEN if end == "" else end), category, name))
        self.calls = []
        for thread in sorted(threads, key=lambda thread: min(threads[thread])):
            open_ = []
            for start, end, category, name in sorted(threads[thread]):
                while open_ and self.calls[open_[-1]].end <= start:
                    open_.pop()
                self.calls.append(Call(*thread, category, name, open_[-1] if open_ else None, start, -end))
                open_.append(len(self.calls) - 1)

    def functions(self):
        return [n for n, call in enumerate(self.calls) if call.kind == "function"]

    def tree(self, chosen):
        """(depth, name) of each of these calls, which are in the order of the list, and (0, "") before each thread's first."""
        depths, rows, thread = {}, [], None
        for n in chosen:
            call = self.calls[n]
            if call[:2] != thread:
                thread = call[:2]
                rows.append((0, ""))
            outer = call.outer
            while outer is not None and outer not in depths:
                outer = self.calls[outer].outer
            depths[n] = depths.get(outer, 0) + 1
            rows.append((depths[n], call.name))
        return rows

    def made(self):
        """How often each function was called, by what is recorded and what is told as left out."""
        made = self.counts(self.functions())
        for left in self.trace.left_out:
            made[left["function"]] += left["calls"]
        return +made

    def counts(self, chosen):
        return collections.Counter(self.calls[n].name for n in chosen)

    def faults(self):
        """The rules of a trace that it breaks, whatever it has."""
        yield from (cause for cause, count in self.trace.check().items() if count and cause != "calls:left_open")
        checked = subprocess.run(["fxt", "check", "matrix.fxt"], capture_output=True, text=True)
        if checked.returncode:
            yield checked.stdout
        if not re.search(" 0 lost[, ]", self.errors) or re.search("overwritten|matches no function", self.errors):
            yield self.errors


# ---- what should be left ----

class Options:
    def __init__(self, words):
        self.include, self.exclude, self.only, self.not_under = [], [], [], []
        self.depth, self.most, self.least = OPEN, [], []  # of the last two: (pattern or None, number or time)
        words = collections.deque(word for word in words)
        while words:
            word = words.popleft()
            if word == "FILE":
                for line in words:
                    if line and line[0] != "#":
                        self.take_pattern(*line.split(None, 1))
                return
            option, value = re.fullmatch(r"(-[A-Za-z]|--[a-z-]+)=?(.*)", word).groups()
            if len(option) == 2 and not value:
                value = words.popleft()
            self.take(option, value)

    def take_pattern(self, word, pattern):
        {"include": self.include, "exclude": self.exclude, "only-under": self.only, "not-under": self.not_under}[word].append(pattern)

    def take(self, option, value):
        long = {"-F": "only-under", "-N": "not-under", "-D": "depth", "-t": "min-duration"}.get(option, option[2:])
        pattern, _, limit = value.rpartition(":")
        if long in ("include", "exclude", "only-under", "not-under"):
            self.take_pattern(long, value)
        elif long == "depth":
            self.depth = int(value)
        elif long == "max-calls":
            self.most.append((pattern or None, int(limit)))
        elif long == "min-duration":
            number, unit = re.fullmatch(r"(\d+)(\w+)", limit).groups()
            self.least.append((pattern or None, int(number) * {"us": 1000, "ms": 10**6, "h": 3600 * 10**9}[unit]))


def limit(limits, name, place, none):
    """The last limit with a pattern that matches, else the general one."""
    own = [number for pattern, number in limits if pattern and matches(pattern, name, place)]
    general = [number for pattern, number in limits if not pattern]
    return (own or general or [none])[-1]


class Oracle:
    """The part that filters leave of a whole recording, which has addresses in place of names."""

    def __init__(self, whole):
        self.whole = whole
        self.functions, self.places = [None] * len(whole.calls), [None] * len(whole.calls)  # places: (module, source file)
        for n, call in enumerate(whole.calls):
            if call.kind in ("function", "inherited"):
                self.functions[n] = module, _, address = whole.trace.function(call.process, call.name)
                name, file = functions_of(module)[address]
                self.places[n] = os.path.realpath(module), file
                whole.calls[n] = call._replace(name=name)

    def by_name(self, options):
        """The calls that are recorded whatever they take and however many they are."""
        inside, left = [], []  # of each call: whether it is in what is wanted, in what is not, how many deep it may go on
        is_any = lambda patterns, n, name: any(matches(pattern, name, self.places[n]) for pattern in patterns)
        known = {}  # of a function: whether it is recorded itself, is one of --only-under, and of --not-under
        for n, call in enumerate(self.whole.calls):
            is_in, is_out, depth = (not options.only, False, options.depth) if call.outer is None else inside[call.outer]
            function = self.functions[n]
            if function and function not in known:
                known[function] = ((not options.include or is_any(options.include, n, call.name)) and
                                   not is_any(options.exclude, n, call.name),
                                   is_any(options.only, n, call.name), is_any(options.not_under, n, call.name))
            if function:
                is_chosen, is_only, is_not_under = known[function]
                is_out = is_out or is_not_under
                if not is_out and is_only:
                    is_in, depth = True, options.depth
                if is_chosen and is_in and not is_out and depth > 0:
                    depth -= 1
                    if call.kind == "function":
                        left.append(n)
            inside.append((is_in, is_out, depth))
        return left

    def first_calls(self, options, chosen):
        """The calls among these that --max-calls leaves."""
        begun, kept = collections.Counter(), set()
        for n in sorted(chosen, key=lambda n: self.whole.calls[n].start):
            call = self.whole.calls[n]
            begun[call.process, self.functions[n]] += 1
            if begun[call.process, self.functions[n]] <= limit(options.most, call.name, self.places[n], OPEN) or call.end == OPEN:
                while n is not None and n not in kept:
                    kept.add(n)
                    n = self.whole.calls[n].outer
        return [n for n in chosen if n in kept]


# ---- what is left ----

def forest(rows):
    """The rows of a tree as nested tuples of (name, what is inside)."""
    outermost = []
    stack = [outermost]
    for depth, name in rows:
        del stack[depth + 1:]
        inside = []
        stack[-1].append((name, inside))
        stack.append(inside)
    freeze = lambda inside: tuple((name, freeze(deeper)) for name, deeper in inside)
    return freeze(outermost)


@functools.lru_cache(None)
def is_outer_part(some, whole):
    """Whether a forest is another one without some of its calls and all that is inside of these."""
    rest = iter(whole)
    return all(any(name == other and is_outer_part(inside, others) for other, others in rest) for name, inside in some)


def difference(expected, got):
    for n, (one, other) in enumerate(zip(expected, got)):
        if one != other:
            return f"row {n}: {other} for {one}, after {expected[max(n - 5, 0):n]}"
    return f"{len(got)} rows for {len(expected)}"


def sums_of(trace):
    """{function: [calls, total, self]}, recorded and told, in ticks; and the self time of slices that are no calls."""
    sums, others = collections.defaultdict(lambda: [0, 0, 0]), 0
    add = lambda name, *more: sums.update({name: [a + b for a, b in zip(sums[name], more)]})
    for (_, _, is_call, name), (calls, _, total, own, *_) in trace.report(False).items():
        if is_call:
            add(name, calls, total, own)
        elif name != "fxt: waited":  # which is in no total
            others += own
    for left in trace.left_out:
        add(left["function"], left["calls"], left["total_ticks"], left["self_ticks"])
    return sums, others


def reported():
    """The same of fxt report, in ns, and the number of its rows: functions of a name are one here."""
    rows, head = collections.defaultdict(lambda: [0, 0, 0, 0]), []
    for row in csv.reader(io.StringIO(subprocess.run(["fxt", "report", "--library", "--csv", "matrix.fxt"], capture_output=True, text=True).stdout)):
        if row[0] == "table":
            head = row
        elif row[0] == "functions":
            row = dict(zip(head, row))
            name = re.sub(r" \[(?!clone )[^]]*\]$", "", row["name"])
            more = [int(row[key]) for key in ("calls", "total_ns", "self_ns")] + [1]
            rows[name] = [a + b for a, b in zip(rows[name], more)]
    return rows


def is_sum(row, expected):
    """Each of a function's times is rounded down once."""
    calls, *times, rows = row
    return calls == expected[0] and all(0 <= whole - time < rows for whole, time in zip(expected[1:], times))


def faults_of_sums(some, oracle, options, made):
    sums, others = sums_of(some.trace)
    in_ns = {name: [calls, some.trace.to_ns(total), some.trace.to_ns(own)] for name, (calls, total, own) in sums.items()}
    if some.made() != made:
        yield f"made and told: {made - some.made()} less, {some.made() - made} more"
    rows = reported()
    wrong = [name for name in rows.keys() | in_ns.keys()
             if name not in rows or name not in in_ns or not is_sum(rows[name], in_ns[name])]
    if wrong:
        yield f"fxt report: {[(name, rows.get(name), in_ns.get(name)) for name in wrong]}"
    calls = [oracle.whole.calls[n] for n in oracle.by_name(options)]
    outermost = {row[1] for row in oracle.whole.tree(oracle.by_name(options)) if row[0] == 1}
    within = {row[1] for row in oracle.whole.tree(oracle.by_name(options)) if row[0] > 1}
    if not outermost & within and all(call.end != OPEN for call in calls):
        missing = sum(sums[name][1] for name in outermost) - sum(own for _, _, own in sums.values()) - others
        if missing:
            yield f"{missing} ticks are nobody's own"
    yield from (f"{name}: {row}" for name, row in sums.items() if not 0 <= row[2] or not (row[2] <= row[1] or name in within))


def faults_of_times(some, oracle, options):
    """Calls that are short and have nothing inside, or that were only summed up and cannot be short."""
    ticks = lambda name: limit(options.least, name, places[name], 0) * some.trace.rate / 1e9
    places = {call.name: place for call, place in zip(oracle.whole.calls, oracle.places)}
    outer = {call.outer for call in some.calls}
    for n in some.functions():
        call = some.calls[n]
        if n not in outer and call.end - call.start < 0.99 * ticks(call.name):  # the rate is known better at the end
            yield f"{call.name} was recorded: {call.end - call.start} ticks"
    for left in some.trace.left_out:
        if not options.most and left["total_ticks"] > 1.01 * left["calls"] * ticks(left["function"]):
            yield f"{left['function']} was left out: {left}"


def faults(words, how, oracle, command):
    """The faults of a recording by these options; and how many calls were recorded, and how many there were."""
    options = Options(words)
    if "FILE" in words:
        with open("patterns", "w") as file:
            file.write("\n".join(words[words.index("FILE") + 1:]) + "\n")
        words = [*words[:words.index("FILE")], "--filter-file=patterns"]
    is_timed = any(least for _, least in options.least)
    counts_calls = bool(options.most or options.least)
    some = Recording([*how, *words, *(TIMED if counts_calls else [])], command)
    chosen = oracle.by_name(options)
    found = list(some.faults())
    expected, got = oracle.whole.tree(oracle.first_calls(options, chosen)), some.tree(some.functions())
    if is_timed and not is_outer_part(forest(got), forest(oracle.whole.tree(chosen))):
        found.append("what is recorded is no outer part of what could be")
    if not is_timed and expected != got:
        found.append(difference(expected, got))
    if not is_timed and not 0 < len(got) < len(oracle.whole.tree(oracle.whole.functions())) and words != ["-t", "0us"]:
        found.append("the filter chooses nothing")
    if counts_calls:
        found += faults_of_sums(some, oracle, options, oracle.whole.counts(chosen))
        found += faults_of_times(some, oracle, options)
    elif some.trace.left_out:
        found.append("calls are told as left out")
    return found, len(some.functions()), len(oracle.whole.functions())


def main():
    filters, command = PROGRAMS[sys.argv[1]], sys.argv[2:]
    oracle = Oracle(Recording(["--raw"], command))
    wrong = list(oracle.whole.faults())
    for n, words in enumerate(filters):
        how = ([[]] + MODES)[n % (len(MODES) + 1)]
        found, recorded, made = faults(words, how, oracle, command)
        print(f"{recorded} of {made}: {' '.join([*how, *words])}", *(fault[:400] for fault in found[:4]), sep="\n\t", flush=True)
        wrong += found
    sys.exit(bool(wrong))


main()
