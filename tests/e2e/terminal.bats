#!/usr/bin/env bats
# Tables on terminals of several widths, through a pager, and elsewhere.

load helpers

# A trace of five calls; their names are long, longer than sixteen lines, hostile, wide, and
# plain.
odd_names()
{
	python3 -c '
import struct
names = ["outer::" * 12 + "name(int)", "endless::" * 200 + "name(int)", "\x1b[31mred\n", "\u5b57" * 20, "main"]
words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 1, 1, 0x22 | 1 << 16 | 1 << 32, ord("f")]
for number, name in enumerate(names):
    name = name.encode()
    room = (len(name) + 7) // 8
    words += [4 | (room + 3) << 4 | 4 << 16 | 1 << 24 | 1 << 32 | (0x8000 | len(name)) << 48, 10 * number + 1]
    words += [*struct.unpack(f"<{room}Q", name.ljust(8 * room, b"\0")), 10 * number + 9 - number]
open("trace.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))'
}

# on_terminal COLUMNS COMMAND: what it shows on a terminal of that width.
on_terminal()
{
	TERM=xterm script -qec "stty cols $1 rows 50; $2" /dev/null </dev/null | tr -d '\r'
}

@test "a C++ lock: who held it and who waited are the program's functions, on a terminal a line each" {
	cat >held.cc <<-'END'
		#include <atomic>
		#include <cstdio>
		#include <functional>
		#include <mutex>
		#include <string>
		#include <thread>
		#include <unistd.h>
		static std::mutex ledger;
		static std::atomic<int> taker;
		static void take_the_ledger_of(const std::string &) { taker = gettid(); std::lock_guard<std::mutex> guard(ledger); }
		static char state()
		{
			char c = 0;
			std::FILE *stat = std::fopen(("/proc/self/task/" + std::to_string(taker) + "/stat").c_str(), "r");
			return stat && std::fscanf(stat, "%*d (%*[^)]) %c", &c) == 1 && std::fclose(stat) == 0 ? c : 0;
		}
		static void keep_the_ledger_of(std::thread &t, const std::string &name)
		{
			std::lock_guard<std::mutex> guard(ledger);
			t = std::thread(std::bind(take_the_ledger_of, name));
			for (int seen = 0; seen < 100; std::this_thread::yield())
				seen = taker && state() == 'S' ? seen + 1 : 0;
		}
		int main() { std::thread t; keep_the_ledger_of(t, "x"); t.join(); }
	END
	${CXX:-g++} -O0 -finstrument-functions -o held held.cc -pthread
	fxtrun ./held
	fxt locks --json >locks.json
	python3 -c 'import json, re
bill = next(row for row in json.load(open("locks.json"))["traces"][0]["tables"][1]["rows"] if row["holder_koid"])
assert re.fullmatch(r"thread \d+ \"held\" in main > keep_the_ledger_of\(std::thread&.* const&\)", bill["holder"]), bill
assert re.fullmatch(r"thread \d+ \"held\" in take_the_ledger_of\(std::.* const&\)", bill["waiter"]), bill'
	PAGER=cat NO_COLOR=1 on_terminal 80 "fxt locks" >shown
	grep -A 1 'thread [0-9]* "held" in .*keep_the_ledger_of(…)$' shown | grep '^ *thread [0-9]* "held" in take_the_ledger_of(…)$'
	[ -z "$(awk 'length > 80' shown)" ]
}

@test "on a terminal: names have room however deep they are, columns go for it" {
	local depth
	{
		echo 'static volatile int sum; void of_the_way_30(void) { sum++; }'
		for depth in {29..0}; do
			echo "void of_the_way_$depth(void) { of_the_way_$((depth + 1))(); }"
		done
		echo 'int main(void) { of_the_way_0(); return 0; }'
	} >deep.c
	${CC:-cc} -O0 -finstrument-functions -o deep deep.c
	fxtrun ./deep
	PAGER=cat NO_COLOR=1 on_terminal 80 "fxt tree --fold=0" >shown
	for depth in {0..30}; do
		grep " of_the_way_$depth$" shown
	done
	# Moved in by two columns a level, or as far as there is room, and then with its number.
	awk '$NF == "main" { at = index($0, " main") }
		/ of_the_way_/ { moved = (index($0, " of_the_way_") - at) / 2
			if (++level != (moved < 12 || NF == 5 ? moved : $5)) exit 1 }
		END { exit level != 31 }' shown
	grep '^columns that do not fit: ' shown
	[ -z "$(awk 'length > 80' shown)" ]
}

@test "piped: whole lines without colours, no name moves the cursor" {
	odd_names
	fxt report >report
	fails grep -q "$(printf '\033')" report
	grep -q '^ *1 .*  \\x1b\[31mred\\n$' report
	grep -q 'outer::outer::outer::outer::outer::outer::outer::outer::outer::.*::name(int)$' report
	fails grep -q '…' report
}

@test "on a terminal: no line is wider, long names take several lines, and a line names the columns that do not fit" {
	odd_names
	for columns in 40 60 80 100; do
		PAGER=cat NO_COLOR=1 on_terminal $columns "fxt report" >shown
		fails grep -q "$(printf '\033')" shown
		columns=$columns python3 -c '
import os, sys, unicodedata
for line in open("shown", encoding="utf-8").read().split("\n"):
    width = sum(1 + (unicodedata.east_asian_width(c) == "W") for c in line)
    if width > int(os.environ["columns"]) and line[0] == " ":
        sys.exit(f"{width} columns: {line}")'
		# All of a name is there, but for one that would take more than sixteen lines.
		tr -d ' \n' <shown | grep -F "$(printf 'outer::%.0s' {1..12})name(" >whole
		tr -d ' \n' <shown | grep -E '(endless::)+.*….*e\(int\)' >cut
		grep -q '\\x1b\[31mred' shown
	done
	PAGER=cat NO_COLOR=1 on_terminal 100 "fxt report" >shown
	fails grep -q '^left out' shown
	PAGER=cat NO_COLOR=1 on_terminal 60 "fxt report" >shown
	grep -q '^columns that do not fit: .*min' shown
	# The names have what room the columns leave that are not there.
	[ "$(grep -o 'outer::.*$' shown | head -n 1 | wc -m)" -gt 26 ]
}

@test "on a terminal a sentence takes several lines, and elsewhere one" {
	odd_names
	PAGER=cat NO_COLOR=1 on_terminal 60 "fxt threads" >shown
	grep -x 'no context switches in the trace: when threads ran and' shown
	grep -x '    waited is not known' shown
	fxt threads | grep -x 'no context switches in the trace: when threads ran and waited is not known'
}

@test "on a terminal: where numbers alone take more than a line, names are still there" {
	odd_names
	PAGER=cat NO_COLOR=1 on_terminal 40 "fxt sql 'select start, \"end\", duration, self, depth, tid, pid, id, function from calls'" >shown
	grep ' main$' shown
	tr -d ' \n' <shown | grep -F "$(printf 'outer::%.0s' {1..12})name(int)"
}

@test "colours and the pager are for terminals alone, and can be had otherwise" {
	odd_names
	PAGER=cat on_terminal 100 "fxt report" >shown
	grep -q "$(printf '\033\[1m')" shown
	PAGER='sed s/^/paged:/' on_terminal 100 "fxt report" >shown
	grep -q '^paged:.*main$' shown
	PAGER='sed s/^/paged:/' fxt report >report
	fails grep -q paged report
	# Leaving the pager before the end ends fxt.
	PAGER='head -n 1' on_terminal 100 "fxt report; echo status \$?" >shown
	[ "$(grep -c main shown)" = 0 ]
	grep -q '^status ' shown
}

@test "JSON and CSV are valid, whatever the names, and hold the contents of the table" {
	odd_names
	fxt report --json >report.json
	fxt report --csv >report.csv
	python3 -c '
import csv, json
document = json.load(open("report.json", encoding="utf-8"))
assert document["schema"] == "fxt.report/1"
trace, = document["traces"]
assert trace["file"] == "trace.fxt" and trace["facts"]["calls"] == 5 and trace["notes"] == []
rows = trace["tables"][0]["rows"]
assert {row["name"]: row["total_ns"] for row in rows} == {
    "outer::" * 12 + "name(int)": 8, "endless::" * 200 + "name(int)": 7, "\x1b[31mred\n": 6, "\u5b57" * 20: 5,
    "main": 4}
keys = [column["key"] for column in trace["tables"][0]["columns"]]
assert all(list(row) == keys for row in rows)
lines = list(csv.DictReader(open("report.csv", encoding="utf-8")))
assert [(line["total_ns"], line["file"]) for line in lines if line["table"] == "functions"] == [
    (str(row["total_ns"]), "") for row in rows]
assert rows[0]["file"] is None'
}

# Who holds the lock, and in which function, is at the end of what a slow call waited for.
@test "on a terminal of 80 columns: slow and why say all of what a call waited for, to the holder's innermost function" {
	cat >held.cc <<-'END'
		#include <map>
		#include <mutex>
		#include <string>
		#include <thread>
		#include <vector>
		#include <semaphore.h>
		#include <unistd.h>
		namespace company::product::storage_engine {
		template <class Key, class Value> struct replicated_index_of_documents {
		    std::mutex mutex;
		    std::map<Key, Value> documents;
		    __attribute__((noinline)) void rebuild_from_write_ahead_log(sem_t *held, const std::vector<Value> &) {
		        std::lock_guard<std::mutex> guard(mutex);
		        sem_post(held);
		        usleep(50000);
		    }
		    __attribute__((noinline)) void rebuild_all_secondary_indexes(sem_t *held) { rebuild_from_write_ahead_log(held, {}); }
		    __attribute__((noinline)) bool look_up(const Key &key) {
		        std::lock_guard<std::mutex> guard(mutex);
		        return documents.count(key);
		    }
		};
		}
		company::product::storage_engine::replicated_index_of_documents<std::string, std::map<std::string, int>> documents;
		static sem_t held;
		__attribute__((noinline)) static bool handle_request(const std::string &customer) { return documents.look_up(customer); }
		int main() {
		    sem_init(&held, 0, 0);
		    std::thread keeper([] { documents.rebuild_all_secondary_indexes(&held); });
		    sem_wait(&held);
		    handle_request("someone");
		    keeper.join();
		}
	END
	g++ -std=c++17 -O1 -g -finstrument-functions -pthread -o held held.cc
	fxtrun -o trace.fxt ./held
	for command in slow why; do
		PAGER=cat NO_COLOR=1 on_terminal 80 "fxt $command 'handle_request*'" >shown
		cat shown
		fails grep '……' shown
		# Below the titles, the last column alone, without its breaks.
		awk '/mostly$|spent its time on$/ { at = match($0, /mostly$|what it spent/); next } at { printf "%s", substr($0, at) }' shown |
			tr -d ' ' | tee whole
		grep -F 'waitingfordocuments' whole
		grep -E 'heldbythread[0-9]+"held"in.*rebuild_all_secondary_indexes.*>.*rebuild_from_write_ahead_log\(' whole
	done
}
