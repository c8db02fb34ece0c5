#!/usr/bin/env python3
"""Measures what tracing costs here, beside other tracers, and prints the result as one table.

The rows are in rows.py. What is compared is the ratio of two figures of the same round: each round runs every program
once, so that what slows the machine down for a while slows down both sides. A figure alone says little about another
machine; the ratios hardly differ between machines.
"""
import argparse
import datetime
import mmap
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import rows

PRINTED_MAX = 65536  # characters that are looked at for a figure


class Failed(Exception):
    pass


def weigh(program, directory):
    """Runs a program for the most memory it has, but at least what this one has; what it prints, which may be as large as
    a trace, is dropped."""
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(program.command, cwd=directory, stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if child.returncode not in (0, 4):  # 4: the limit of a rule was exceeded
            raise Failed(f"{' '.join(program.command)}: status {child.returncode}: {said.read().strip()[-300:]}")
    return {"peak": usage.ru_maxrss * 1024}


def written_bytes():
    """The bytes that this process, and those that it has waited for, and so on, handed to write(2)."""
    with open("/proc/self/io", encoding="utf-8") as io:
        return int(next(line for line in io if line.startswith("wchar")).split()[1])


def run(program, build):
    """Runs a program in a directory of its own and returns its figures."""
    directory = tempfile.mkdtemp(dir=os.path.join(build, "bench"))
    environment = dict(os.environ, **dict(program.environment))
    before, written = resource.getrusage(resource.RUSAGE_CHILDREN), written_bytes()
    start = time.monotonic()
    try:
        if program.is_weighed:
            return weigh(program, directory)
        with tempfile.TemporaryFile("w+") as said:
            done = subprocess.run(
                program.command, env=environment, cwd=directory, input=program.input, timeout=600, text=True,
                stdout=said, stderr=subprocess.PIPE, check=False)
            wall = time.monotonic() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            said.seek(0)
            # Reads only the beginning of a long text: a process counts as having had the
            # memory of the one that started it.
            lines = said.read(PRINTED_MAX).splitlines()
        if done.returncode < 0 or done.returncode >= 125:
            raise Failed(f"{' '.join(program.command)}: status {done.returncode}: {done.stderr.strip()[-300:]}")
        trace = os.path.join(directory, "trace.fxt")
        figures = {
            "wall": wall,
            "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "trace": os.path.getsize(trace) if os.path.exists(trace) else None,
            "written": written_bytes() - written,
            "printed": None,
        }
        for line in lines:
            try:
                figures["printed"] = float(line)
            except ValueError:
                pass
        return figures
    finally:
        shutil.rmtree(directory)


def value_of(row, figures):
    """The figures that a row compares, of one round: its own, that of its baseline, and the result."""
    def figure(program):
        return figures[program][row.figure] / row.scale

    def base_figure(program):
        return figures[program][row.baseline_figure] / row.baseline_scale if row.baseline_figure else figure(program)

    value = figure(row.program)
    if row.relation == "alone":
        return value, None, value
    base = base_figure(row.baseline)
    if row.relation == "added":
        return value, base, value - base
    if row.relation == "overhead":
        bare = figure(row.bare)
        return value, base, (value - bare) / (base - bare)
    return value, base, value / base


def format_row(row, rounds):
    values = [value_of(row, figures) for figures in rounds]
    results = [result for _, _, result in values]
    middle = statistics.median(results)
    digits = 2 if row.relation in ("ratio", "overhead") else row.digits
    unit = "" if row.relation in ("ratio", "overhead") else f" {row.unit}"
    base = f"{statistics.median(b for _, b, _ in values):.{row.digits}f} {row.unit}" if row.baseline else ""
    cells = [
        row.name, f"{statistics.median(v for v, _, _ in values):.{row.digits}f} {row.unit}",
        row.baseline.name if row.baseline else "", base,
        f"{middle:.{digits}f}{unit}", f"{min(results):.{digits}f} – {max(results):.{digits}f}",
        f"≤ {row.target:.3g}{unit}" if row.target else "",
        "" if not row.target else "met" if middle <= row.target else "**missed**"]
    return cells


def table(lines):
    """Markdown that also reads well as text."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


HEADER = ["", "median", "against", "median", "result", "spread", "target", ""]


def measure(group, build, rounds):
    """Runs the programs of a group in turn, round by round; returns its part of the report."""
    missing = sorted({tool for row in group.rows for tool in row.tools() if not shutil.which(tool)})
    chosen = [row for row in group.rows if not set(row.tools()) & set(missing)]
    programs = dict.fromkeys(program for row in chosen for program in row.programs())
    figures = []

    with tempfile.TemporaryDirectory(dir=os.path.join(build, "bench")) as prepared:
        for command in group.prepare:
            subprocess.run(command, shell=True, cwd=prepared, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        for round_number in range(0 if group.warms_up else 1, rounds + 1):
            figures.append({})
            for program in programs:
                progress(f"{group.name}: round {round_number} of {rounds}: {program.name}")
                figures[-1][program] = run(program.inside(prepared), build)
    progress("")
    # Round 0 warms up.
    counted = figures[1:] if group.warms_up else figures
    text = f"\n### {group.title}\n\n" + table([HEADER] + [format_row(row, counted) for row in chosen]) + "\n"
    text += f"\n{group.note}\n" if group.note else ""
    return text + "".join(f"\nLeft out, for want of {tool}.\n" for tool in missing)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        models = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    compiler = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True, check=True)
    return (f"{os.cpu_count()} × {models[0] if models else platform.machine()}, Linux {platform.release()}, "
            f"{compiler.stdout.splitlines()[0]}, load {os.getloadavg()[0]:.1f} at the beginning")


def touch_memory():
    """A virtual machine may have given its free pages back to its host: the first to touch them would pay for it. In a
    process of its own, for who is started by one that had much memory counts as having had it."""
    child = os.fork()
    if child > 0:
        os.waitpid(child, 0)
        return
    for line in open("/proc/meminfo", encoding="utf-8"):
        if line.startswith("MemAvailable"):
            with mmap.mmap(-1, min(1 << 30, int(line.split()[1]) * 512)) as memory:
                for page in range(0, len(memory), 4096):
                    memory[page] = 1
    os._exit(0)


def put(path, text):
    """Puts a part into a file of results, in the place of one with its heading, whatever stands behind a comma there."""
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"(?m)^(?=### )", file.read())
    heading = re.match("[^,\n]*", text).group()
    places = [i for i, old in enumerate(parts) if i > 0 and re.match("[^,\n]*", old).group() == heading]
    if not places:
        places = [len(parts)]
        parts.append("")
    parts[places[0]] = text.strip() + "\n\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(parts).rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the build directory")
    parser.add_argument("--rounds", type=int, default=5,
                        help="how often each program runs (default 5), after once to warm up")
    parser.add_argument("--calls", type=int, default=10_000_000, help="calls of a program's run (default 10 million)")
    parser.add_argument("--rows", default="", help="only these groups, separated by commas: " + ", ".join(rows.NAMES))
    parser.add_argument("--results", help="also write the table to this file; with --rows only these groups, into it")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    wanted = [name for name in arguments.rows.split(",") if name] or rows.NAMES
    unknown = set(wanted) - set(rows.NAMES)
    if unknown:
        parser.error(f"no group of rows is named {', '.join(unknown)}")

    command = (f"make bench ROUNDS={arguments.rounds} CALLS={arguments.calls}"
               + (f" ROWS={arguments.rows}" if arguments.rows else ""))
    when = f"{datetime.date.today()}: {machine()}.\n`{command}`\n"
    report = when
    print(report, end="", flush=True)
    try:
        for group in rows.groups(build, arguments.calls):
            if group.name in wanted:
                touch_memory()
                part = measure(group, build, arguments.rounds)
                print(part, end="", flush=True)
                report += part
                if arguments.results and arguments.rows:
                    heading, rest = part.strip().split("\n", 1)
                    put(arguments.results, f"{heading}\n\n{when}\n{rest.lstrip()}\n")
    except Failed as failure:
        sys.exit(f"bench: {failure}")
    if arguments.results and not arguments.rows:
        with open(arguments.results, "w", encoding="utf-8") as file:
            file.write("# What tracing costs\n\nA table with a date of its own was measured then.\n\n" + report)


if __name__ == "__main__":
    main()
