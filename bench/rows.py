"""The measurements: the rows of the table, in groups, as data.

A row has one of these relations between the figures of its program and of its baseline:
  ratio     how many times the baseline's
  overhead  how many times the baseline's, of what each adds to the bare program
  added     what it adds to the baseline's
  alone     there is no baseline
A target is the most that the result may be.
"""
from dataclasses import dataclass, replace
import os

NAMES = ["calls", "patterns", "marks", "work", "programs", "start", "reading", "growth", "memory", "page", "heap"]

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True)
class Program:
    """How something is run: in an empty directory, where its trace stays if it leaves one as trace.fxt."""
    name: str
    command: tuple
    environment: tuple = ()
    input: str = ""
    tool: str = ""  # that has to be there
    is_weighed: bool = False  # for the most memory it has, and for nothing else

    def inside(self, directory):
        """The same, with PREPARED in its command replaced by what the group's preparations left."""
        return replace(self, command=tuple(word.replace("PREPARED", directory) for word in self.command))


@dataclass(frozen=True)
class Row:
    name: str
    program: Program
    baseline: Program | None = None
    target: float = 0  # 0 = none
    relation: str = "ratio"
    bare: Program | None = None
    # Printed by the program; or wall, cpu (seconds), trace, written, peak (bytes: of the
    # file; that all its processes handed to the system; the most memory it had).
    figure: str = "printed"
    scale: float = 1  # figures are divided by it
    baseline_figure: str = ""  # where it is another one of the baseline's,
    baseline_scale: float = 1  # divided by this
    unit: str = "ns"
    digits: int = 2

    def programs(self):
        return [program for program in (self.program, self.baseline, self.bare) if program]

    def tools(self):
        return [program.tool for program in self.programs() if program.tool]


@dataclass(frozen=True)
class Group:
    name: str
    title: str
    rows: list
    prepare: tuple = ()  # shell commands, once, in a directory of the group's own
    warms_up: bool = True  # with a round that does not count
    note: str = ""  # what stands below the rows


class Ways:
    """The ways to run a program: bare, and under each tracer."""

    def __init__(self, build):
        self.build = build
        self.bench = os.path.join(build, "bench")

    def bare(self, *command, name="not instrumented"):
        return Program(name, command)

    def hooks(self, kind, name, *command):
        return Program(name, command, (("LD_PRELOAD", f"{self.bench}/hooks_{kind}.so"),))

    def empty(self, *command):
        return self.hooks("empty", "empty hooks", *command)

    def floor(self, *command):
        return self.hooks("floor", "floor", *command)

    def fxt(self, *command, options=(), name="fxtrun"):
        return Program(name, (f"{self.build}/fxtrun", *options, "--", *command))

    def mode(self, mode, mib, *command, populate=False):
        options = (f"--buffering-mode={mode}", f"--buffer-size={mib}") + ("--populate",) * populate
        return self.fxt(*command, options=options, name=mode)

    def uftrace(self, *command):
        return Program("uftrace", ("uftrace", "record", "--no-libcall", "--force", *command), tool="uftrace")

    def lttng(self, what, *command):
        return Program("LTTng", (f"{ROOT}/bench/lttng.sh", what, *command), tool="lttng-sessiond")


def plural(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


LONG = 10  # so many times as many calls where what is asked begins after a while
FULL = ("--buffering-mode=oneshot", "--buffer-size=1", "--heap=off")


def calls_group(ways, calls):
    # (threads, target of oneshot and circular, of streaming, of calls for which there is no
    # room)
    targets = [(1, 1.10, 1.15, 1), (2, 1.10, 1.5, 1), (8, 0, 0, 0)]
    # All of them, with what threads leave of their last chunks.
    oneshot = calls * 24 * 5 // 4 // 2**20 + 64
    rows = []

    for threads, bounded, streaming, dropped in targets:
        arguments = ("leaf", str(threads), str(calls // threads))
        instrumented = (f"{ways.bench}/calls", *arguments)
        bare = ways.bare(f"{ways.bench}/calls_bare", *arguments)
        prepared = (f"{ways.bench}/calls_prepared", *arguments)
        empty, floor = ways.empty(*instrumented), ways.floor(*instrumented)
        fxt = ways.fxt(*instrumented)
        at = plural(threads, "thread")
        longer = (*instrumented[:-1], str(LONG * calls // threads))
        rows += [
            Row(f"{at}: not instrumented", bare, floor),
            Row(f"{at}: empty hooks", empty, floor),
            Row(f"{at}: oneshot", ways.mode("oneshot", oneshot, *instrumented), floor),
            Row(f"{at}: oneshot, populated", ways.mode("oneshot", oneshot, *instrumented, populate=True), floor, bounded),
            Row(f"{at}: circular, populated", ways.mode("circular", 16, *instrumented, populate=True), floor, bounded),
            Row(f"{at}: streaming", fxt, floor, streaming),
            Row(f"{at}: prepared entries, circular, populated", ways.mode("circular", 16, *prepared, populate=True), floor, 1.15),
            Row(f"{at}: prepared entries, not recorded", ways.bare(*prepared, name="prepared entries"), bare, 1.05),
            Row(f"{at}: prepared entries, stopped", ways.fxt(*prepared, options=("--start=paused",), name="stopped"), bare, 1.05),
            Row(f"{at}: stopped", ways.fxt(*instrumented, options=("--start=paused",), name="stopped"), empty, 1.25),
            *(Row(f"{at}: {what}, what is left of a call", ways.fxt(*longer, options=(option,), name=what), bare,
                  0.5 if threads == 1 else 0, "added")
              for what, option in (("stopped", "--start=paused"), ("without the category", "--categories=process"),
                                   ("left out", "--exclude=leaf"))),
            Row(f"{at}: dropped, oneshot", ways.fxt(*instrumented, options=FULL, name="dropped"), floor, dropped),
            Row(f"{at}: dropped, manager stopped",
                ways.fxt(*instrumented, "stop", options=("--on-full=drop", "--buffer-size=1"), name="dropped"), floor, dropped),
            Row(f"{at}: streaming, overhead", fxt, ways.uftrace(*instrumented), 0.25, "overhead", bare),
            Row(f"{at}: streaming, overhead", fxt, ways.lttng("calls", *instrumented), 0, "overhead", bare),
        ]
        if threads == 1:
            rows.append(Row("bytes a call in the file", fxt, None, 24.2, "alone", figure="trace",
                            scale=calls + 100_000, unit="bytes"))
    return Group("calls", "A call of a function that does next to nothing", rows)


def patterns_group(ways, calls):
    # (pattern, what it is, targets against the floor and uftrace)
    patterns = [("deep", "recursion, 500 deep", 0, 0.25), ("many", "10,000 functions in random order", 1.3, 0.25),
                ("mixed", "a leaf and 1 µs, in turn", 0, 0)]
    rows = []

    for pattern, what, floor, uftrace in patterns:
        arguments = (pattern, "1", str(calls // 10 if pattern == "mixed" else calls))
        instrumented = (f"{ways.bench}/calls", *arguments)
        bare, fxt = ways.bare(f"{ways.bench}/calls_bare", *arguments), ways.fxt(*instrumented)
        rows += [
            Row(f"{what}: not instrumented", bare, ways.floor(*instrumented)),
            Row(f"{what}: streaming", fxt, ways.floor(*instrumented), floor),
            Row(f"{what}: streaming, overhead", fxt, ways.uftrace(*instrumented), uftrace, "overhead", bare),
        ]
    return Group("patterns", "Calls of other patterns", rows)


def marks_group(ways, calls):
    rows = []

    for kind in ("instant", "duration"):
        command = (f"{ways.bench}/marks", kind, str(calls))
        off = ways.fxt(*command, options=("--categories=none", "--heap=off"), name="fxtrun, category off")
        rows += [
            Row(f"{kind}: without fxt", ways.bare(*command), None, 0.4, "alone"),
            Row(f"{kind}: category off", off, None, 0.4, "alone"),
            Row(f"{kind}: recorded, circular", ways.mode("circular", 16, *command, populate=True), ways.floor(*command), 1.3),
            Row(f"{kind}: recorded, streaming", ways.fxt(*command), ways.floor(*command)),
        ]
    # The section "Performance impact", which says: 37.7 ms more for 16,777,216 zones on 12 threads.
    tracy = ("Published, and not measured here: Tracy's manual gives 2.25 ns of elapsed time for a zone, its begin and "
             "end, with 12 threads at work. That is 27 ns of a thread's time if all of them were busy.")
    return Group("marks", "A macro of <fxt/trace.h>, less an empty loop", rows, note=tracy)


def work_group(ways, calls):
    rows = []

    for ns in (10, 100, 1000, 10_000):
        arguments = (str(ns), "1", str(max(calls // max(ns // 10, 1), 1000)))
        bare = ways.bare(f"{ways.bench}/calls_bare", *arguments)
        instrumented = (f"{ways.bench}/calls", *arguments)
        rows += [Row(f"about {ns} ns of work a call: {program.name}", program, bare)
                 for program in (ways.empty(*instrumented), ways.fxt(*instrumented), ways.uftrace(*instrumented))]
    return Group("work", "A program's slowdown, by how much its functions do", rows)


def programs_group(ways, calls):
    times = max(calls // 1_000_000, 1)
    many = 8 * calls
    real = f"{ROOT}/tests/real"
    rows = []

    def script(name, times):
        """A program's arguments and its input."""
        if name == "lua":
            return ("-e", f"for i = 1, {times} do dofile('{real}/strings.lua') dofile('{real}/garbage.lua') end"), ""
        return (), f".open :memory:\n.read {real}/shop.sql\n" * times

    for name in ("lua", "sqlite3"):
        arguments, text = script(name, times)
        instrumented = (f"{ways.build}/real/{name}", *arguments)
        path = f"{ways.build}/real/{name}_bare"
        bare = replace(ways.bare(path, *arguments), input=text, tool=path)
        fxt = replace(ways.fxt(*instrumented, options=("--heap=off",), name="fxtrun, calls alone"), input=text)
        default = replace(ways.fxt(*instrumented), input=text)
        untraced = replace(ways.bare(*instrumented, name="instrumented, untraced"), input=text)
        uftrace = replace(ways.uftrace(*instrumented), input=text)
        # Calls of hooks in excluded functions are taken out of the code after the first
        # call, within some tenths of a second: this is of programs that run for longer.
        arguments, text = script(name, LONG * LONG * times)
        longer = replace(ways.bare(path, *arguments), input=text, tool=path)
        left_out = replace(ways.fxt(f"{ways.build}/real/{name}", *arguments, name="fxtrun, all but main left out",
                                    options=("--heap=off", "--no-sched", "--include=main")), input=text)
        rows.append(Row(f"{name}, cpu: {left_out.name}", left_out, longer, {"lua": 1.25, "sqlite3": 1.1}[name],
                        figure="cpu", unit="s", digits=3))
        for figure in ("wall", "cpu"):
            seconds = {"figure": figure, "unit": "s", "digits": 3}
            rows += [Row(f"{name}, {figure}: {program.name}", program, bare, **seconds)
                     for program in (untraced, uftrace, fxt, default)]
            rows += [Row(f"{name}, {figure}: {program.name}", program, uftrace, 0.4 * (figure == "wall"), **seconds)
                     for program in (fxt, default)]

    leaf = (f"{ways.bench}/calls", "leaf", "1", str(many))
    alone = replace(ways.fxt(*leaf, options=("--heap=off",)), name="its program's own time")
    uftrace = ways.uftrace(*leaf)
    for program, target in ((alone, 1.15), (replace(ways.fxt(*leaf), name=alone.name), 0)):
        what = f"{many} calls, wall: fxtrun" + ", calls alone" * (program == alone)
        rows.append(Row(what, program, program, target, figure="wall", unit="s", baseline_figure="printed",
                        baseline_scale=1e9 / many))
    rows += [
        Row(f"{many} calls, wall: fxtrun, calls alone", alone, uftrace, 1 / 2.5, figure="wall", unit="s"),
        Row(f"{many} calls: handed to write(2) a call", alone, None, 24.5, "alone", figure="written", scale=many + 100_000,
            unit="bytes"),
    ]
    return Group("programs", "Whole runs: agent, manager and symbolizing included", rows)


def start_group(ways, _):
    milliseconds = {"figure": "wall", "scale": 1e-3, "unit": "ms", "relation": "added"}
    bare = ways.bare("/bin/true", name="untraced")
    return Group("start", "Starting /bin/true", [
        Row("fxtrun", ways.fxt("/bin/true"), bare, 10, **milliseconds),
        Row("uftrace", ways.uftrace("/bin/true"), bare, **milliseconds),
    ])


def reading_group(ways, calls):
    calls //= 2
    seconds = {"figure": "wall", "unit": "s", "digits": 3}
    fxt, program = f"{ways.build}/fxt", f"{ways.bench}/calls"
    report = Program("fxt report", (fxt, "report", "PREPARED/calls.fxt"))
    theirs = Program("uftrace report", ("uftrace", "report", "--no-pager", "-d", "PREPARED/calls.uftrace"),
                     tool="uftrace")
    symbolize = Program("fxt symbolize", (fxt, "symbolize", "-o", "named.fxt", "PREPARED/raw.fxt"))
    alone = Program("fxt report", ("taskset", "-c", "0", *report.command))
    rows = [Row(f"fxt report of {calls} calls, 1 CPU", alone, theirs, 0.1, **seconds),
            Row(f"fxt report of {calls} calls", report, theirs, 1 / 16, **seconds)]
    # The target is for 5 GB. What it reads is in memory: the rows before have read it too.
    rows.append(Row(f"first screen of fxt replay of {calls} calls",
                    Program("fxt replay", (fxt, "replay", "-n", "50", "PREPARED/calls.fxt")), None,
                    1.5 * 24 * calls / 5e9, "alone", **seconds))
    rows += [Row(f"fxt {command} of {calls} calls", Program(command, (fxt, command, "PREPARED/calls.fxt")),
                 relation="alone", **seconds) for command in ("info", "check", "dump")]
    rows.append(Row("symbolizing 100,000 functions", symbolize, None, 1, "alone", **seconds))
    # Beside no fxt, the agent leaves its trace without names.
    return Group("reading", "Reading a trace", rows, (
        f"{ways.build}/fxtrun -o calls.fxt {program} leaf 1 {calls}",
        f"! command -v uftrace || uftrace record --no-libcall -d calls.uftrace {program} leaf 1 {calls}",
        f"mkdir alone && cp {ways.build}/libfxtagent.so alone/",
        f"FXT_OUTPUT=raw.fxt LD_PRELOAD=$PWD/alone/libfxtagent.so {ways.bench}/calls_100000 many 1 200000",
    ))


def growth_group(ways, _):
    """Traces of a shape that a program seldom has, from a generator, so that their size does not depend on the calls."""
    fxt, generator = f"{ways.build}/fxt", f"{ROOT}/tests/independent/growth.py"
    exports = [("export", f"--to={kind}", "-o", "out") for kind in ("folded", "callgrind", "pprof")]
    shapes = [
        ("processes", 8000, "8,000 processes, 50 functions each", [
            ("html", "-o", "page.html"), ("flamegraph", "-o", "/dev/null"), *exports,
            ("sql", "select sum(threads) from processes"), ("sql", "select count(*), sum(duration) from calls")]),
        ("threads", 100_000, "100,000 threads, 50 functions each", [
            ("report",), ("threads",), ("html", "-o", "page.html"), *exports]),
        ("deep", 1_000_000, "a recursion 1,000,000 deep", [
            ("slow", "f0"), ("tree",), ("replay",), *exports, ("flamegraph", "-o", "/dev/null"), ("html", "-o", "page.html")]),
    ]
    rows = []

    for shape, count, what, asked in shapes:
        for words in asked:
            program = Program(words[0], (fxt, *words, f"PREPARED/{shape}.fxt"))
            rows.append(Row(f"{what}: fxt {' '.join(words)}", program, None, 0, "alone", figure="wall", unit="s", digits=3))
    return Group("growth", "Many processes, many threads, deep recursion", rows, tuple(
        f"python3 {generator} {shape} {count} >{shape}.fxt" for shape, count, *_ in shapes), warms_up=False)


def memory_group(ways, calls):
    """The target is for 10^8 calls, as for any number; what is written goes nowhere but where it has to be a file. What
    takes minutes then is asked of a tenth of them, and a replay, whose lines are as long as calls are deep, of the first
    million."""
    fxt, program = f"{ways.build}/fxt", f"{ways.bench}/calls"
    trace, tenth, heap, waits = (f"PREPARED/{name}.fxt" for name in ("calls", "tenth", "heap", "waits"))
    asked = [(command, *options, trace) for command, *options in (
        ("info",), ("check",), ("check", "--fail-if=deep.p99 > 1s"), ("report",), ("report", "--threads", "--histogram"),
        ("report", "--callers=deep"), ("tree",), ("tree", "--bottom-up"), ("slow", "deep"), ("why", "deep"), ("last",),
        ("replay", "-n", "1000000"), ("locks",), ("threads",), ("threads", "--critical=deep"), ("suggest",), ("diff", trace),
        ("sql", "select count(*), sum(duration) from calls"), ("flamegraph", "-o", "/dev/null"), ("html", "-o", "page.html"),
        ("cut", "-o", "-", "--time=0s..100ms"), ("cut", "-o", "-", "--time=0s.."), ("merge", "-o", "-", tenth),
        ("symbolize", "-o", "named.fxt"))]
    asked += [("export", f"--to={kind}", "-o", "-", trace) for kind in (
        "chrome-json", "perfetto", "folded", "callgrind", "pprof")]
    asked += [(*words, tenth) for words in (
        ("dump",), ("sql", "select max(duration) from calls group by depth"),
        *(("export", f"--to={kind}", "-o", f"calls.{kind}") for kind in ("speedscope", "firefox", "sqlite", "csv")))]
    asked += [("heap", *options, heap) for options in ((), ("--timeline",), ("--pointers",))]
    asked += [(*words, waits) for words in (
        ("info",), ("check",), ("report",), ("tree",), ("slow", "take_turn"), ("slow", "play"), ("why", "play"), ("last",),
        ("replay", "-n", "1000000"), ("locks",), ("threads",), ("threads", "--critical=play"), ("diff", waits),
        ("sql", "select count(*), sum(duration) from waits"), ("sql", "select count(*) from flows"), ("html", "-o", "page.html"),
        ("cut", "-o", "-", "--time=0s.."), *(("export", f"--to={kind}", "-o", f"waits.{kind}") for kind in (
            "chrome-json", "perfetto", "speedscope", "firefox", "sqlite", "csv")))]

    def row(words):
        name = " ".join(word for word in words if "PREPARED" not in word)
        of = {tenth: f", of {calls // 10} calls", waits: f", of {calls // 100} rounds of waits"}.get(words[-1], "")
        return Row(f"fxt {name}{of}", Program(name, (fxt, *words), is_weighed=True), None, 32, "alone", figure="peak",
                   scale=2**20, unit="MiB", digits=1)

    return Group("memory", f"The most memory of each command, of {calls} calls", [row(words) for words in asked], (
        f"{ways.build}/fxtrun -o calls.fxt {program} deep 1 {calls}",
        f"{ways.build}/fxtrun -o tenth.fxt {program} deep 1 {calls // 10}",
        f"{ways.build}/fxtrun --heap=objects -o heap.fxt {ways.bench}/heap 1 {calls // 20}",
        f"{ways.build}/fxtrun -o waits.fxt taskset -c 0 {ways.bench}/waits {max(calls // 100, 1)}",
    ), warms_up=False)


def page_group(ways, calls):
    """The targets are those for 10^8 calls, which take 2.4 GB; they are 500 deep, so that a picture is full."""
    fxt, page = f"{ways.build}/fxt", "PREPARED/page.html"
    write = Program("fxt html", (fxt, "html", "-o", "page.html", "PREPARED/calls.fxt"))

    def browse(what):
        return Program("Chromium", (f"{ROOT}/bench/page.py", what, page), tool="chromium")

    return Group("page", "The page of fxt html, in headless Chromium", [
        Row(f"fxt html of {calls} calls", write, None, 0, "alone", figure="wall", unit="s", digits=3),
        Row("the page", Program("size", ("stat", "-c", "%s", page)), None, 20, "alone", scale=1e6, unit="MB"),
        Row("opened", browse("open"), None, 3, "alone", scale=1e3, unit="s"),
        Row("a frame while the timeline moves", browse("pan"), None, 1000 / 30, "alone", unit="ms"),
        Row("a frame while it is zoomed", browse("zoom"), None, 1000 / 30, "alone", unit="ms"),
    ], (f"{ways.build}/fxtrun -o calls.fxt {ways.bench}/calls deep 1 {calls}", f"{fxt} html -o page.html calls.fxt"))


def heap_group(ways, calls):
    pairs = calls // 5
    rows = []

    def recorded(program, arguments, *options):
        return ways.fxt(f"{ways.bench}/{program}", *arguments, options=("--no-perfetto-heap", *options))

    for threads in (1, 2):
        arguments = (str(threads), str(pairs))
        bare = ways.bare(f"{ways.bench}/heap_bare", *arguments, name="untraced")
        floor = replace(bare, name="floor", environment=(("LD_PRELOAD", f"{ways.bench}/heap_floor.so"),))
        heaptrack = Program("heaptrack", ("heaptrack", *bare.command), tool="heaptrack")
        at = plural(threads, "thread")
        rows += [
            Row(f"{at}: heap off", recorded("heap_bare", arguments, "--heap=off"), bare),
            Row(f"{at}: counters", recorded("heap_bare", arguments, "--heap=counters"), bare),
            Row(f"{at}: sampled:512K", recorded("heap_bare", arguments, "--heap=sampled:512K"), bare),
            Row(f"{at}: objects, shadow stack, overhead", recorded("heap", arguments),
                floor, 1.5, "overhead", bare),
            Row(f"{at}: objects, shadow stack, overhead", recorded("heap", arguments),
                heaptrack, 1 / 8, "overhead", bare),
            Row(f"{at}: objects, walked stacks, overhead", recorded("heap_bare", arguments, "--heap=objects"),
                heaptrack, 1 / 3.5, "overhead", bare),
            Row(f"{at}: objects, walked stacks, overhead", recorded("heap_bare", arguments, "--heap=objects"),
                ways.lttng("heap", *bare.command), 0, "overhead", bare),  # which has no call paths
        ]
    return Group("heap", "A pair of malloc and free, three calls deep", rows)


def groups(build, calls):
    ways = Ways(build)
    return [globals()[f"{name}_group"](ways, calls) for name in NAMES]
