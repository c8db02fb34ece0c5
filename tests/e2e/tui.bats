#!/usr/bin/env bats
# fxt tui in a terminal of tmux, by keys; what stands on its screen is what the program
# counted itself.

load helpers

setup_file()
{
	compiled_for_all tui/requests
	cd "$BATS_FILE_TMPDIR" || return 1
	fxtrun requests 500 >counts
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	ln -s "$BATS_FILE_TMPDIR"/{trace.fxt,counts} .
	unset NO_COLOR COLUMNS LINES TMUX
}

teardown()
{
	terminal kill-server 2>/dev/null || true
}

# A terminal of the test's own, the one that was opened last.
terminals=0
terminal()
{
	tmux -f /dev/null -S "terminal$terminals" "$@"
}

# opens COLUMNS LINES COMMAND: in a terminal of that size, in place of one that is open;
# behind it stands its exit status.
opens()
{
	[ $terminals = 0 ] || terminal kill-server
	terminals=$((terminals + 1))
	terminal new-session -d -x "$1" -y "$2" "TERM=tmux-256color $3; echo \"status \$?.\"; exec cat"
	terminal set-option -g status off
	terminal resize-window -x "$1" -y "$2"
}

keys()
{
	terminal send-keys "$@"
}

screen()
{
	terminal capture-pane -p
}

# comes_to COMMAND...: until it succeeds, at most for a minute; else what the screen shows.
comes_to()
{
	local end=$((SECONDS + 60))

	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "not so: $*" && screen && return 1; }
		sleep 0.05
	done
}

has_line()
{
	screen | grep -qE -e "$1"
}

# first_are FILE: calls and names of the first eight lines of a tree that is not open.
first_are()
{
	screen | sed -n 's/^.* \([0-9]*\)  [▸ ] \([a-z_]*\)$/\1 \2/p' | head -n 8 | cmp -s - "$1"
}

# shows PATTERN: until a line of the screen matches. shows_not: until none does.
shows()
{
	comes_to has_line "$1"
}

shows_not()
{
	comes_to fails has_line "$1"
}

# The program's own counts, a "function calls" each.
counted()
{
	grep -v '^slow' counts
}

# The functions that the program counted, in the order of the screen.
listed()
{
	screen | awk 'NR == FNR { is[$1]; next } $NF in is { print $NF }' <(counted) -
}

@test "functions: calls are those that the program counted; sorted, upside down, filtered, found" {
	opens 80 24 "fxt tui"
	shows ' main$'
	while read -r name calls; do
		shows "^ +$calls .* $name\$"
	done < <(counted)
	all=$(counted | awk '{ n += $2 } END { print n }')
	shows "^$all calls of 7 functions in 2 threads, "
	keys Left
	shows '^ +500 .* count_step$'
	[ "$(listed | head -n 2 | xargs)" = "count_step parse_word" ]
	keys r
	shows '^ +1 '
	[ "$(listed | tail -n 2 | xargs)" = "parse_word count_step" ]
	keys r '&' WORD
	shows_not ' count_step$'
	[ "$(listed)" = parse_word ]
	keys Enter
	shows "only what has 'WORD'"
	keys '&' Enter
	shows ' count_step$'
	keys / nothing_of_this Enter
	shows "no function has 'nothing_of_this'"
	keys q
	shows '^status 0\.$'
}

@test "tree: calls by path are those that the program counted; opened, closed, filtered, found" {
	opens 80 24 "fxt tui"
	shows ' main$'
	keys 2
	shows '^.* 1  ▾ main$'
	shows '^.* 20    ▸ serve_request$'
	shows '^.* 1  ▾ count_steps$'
	shows '^.* 500      count_step$'
	shows_not parse_word
	keys g Down Right
	shows '^.* 20    ▾ serve_request$'
	shows '^.* 140        parse_word$'
	shows '^.* 20        write_answer$'
	shows '^.* 1      ▸ stumble$'
	keys Left
	shows_not parse_word
	keys /ANSWER Enter
	shows '^.* 20        write_answer$'
	keys '&' stumb
	shows_not '(parse_word|count_step)'
	shows '^.* 20    ▾ serve_request$'
	shows '^.* 1      ▾ stumble$'
	keys Enter 3
	shows '^w s zoom'
	keys 2
	shows "only what has 'stumb'"
	keys '&' Enter
	shows '^.* 500      count_step$'
	keys q
	shows '^status 0\.$'
}

@test "tree: bottom-up are the functions of fxt tree --bottom-up, with the callers that the program counted, and back" {
	opens 80 24 "fxt tui"
	shows ' main$'
	keys 2
	shows '^.* 20    ▸ serve_request$'
	keys Down b
	shows '^.* 500  ▸ count_step$'
	fxt tree --bottom-up --csv --fold=0 | rows bottom_up depth name calls | awk '$1 == 0 { print $3, $2 }' | head -n 8 >should
	comes_to first_are should
	keys /parse_word Enter Right
	shows '^.* 140  ▾ parse_word$'
	shows '^.* 140    ▸ serve_request$'
	keys '*'
	shows '^.* 140      ▸? *main$'
	keys b
	shows '^.* 20    ▸ serve_request$'
	shows_not parse_word
	keys b
	shows '^.* 140    ▾ serve_request$'
	keys q
	shows '^status 0\.$'
}

# Whether what is selected took as long as the program measured from inside and from outside
# of it.
is_the_slow_request()
{
	screen | tail -n 3 | head -n 1 | grep -q '^serve_request  .*requests.c:[0-9]'
	screen | tail -n 2 | head -n 1 | awk -v limits="$(grep ^slow counts)" '
		{ split(limits, limit, " "); ns = $1 * 1e6; print; exit !($2 == "ms," && ns > limit[2] - 1000 && ns < limit[3] + 1000) }'
}

@test "timeline: from a function to its slowest call, as long as by the program's clock; out and back" {
	opens 80 24 "fxt tui"
	shows ' main$'
	keys /serve_ Enter
	keys Enter
	shows '^ +> .*▏serve_request'
	is_the_slow_request
	shows '^ .*▏stumble'
	shows '^ .*▏nanosleep'
	keys Down
	shows '^stumble .*requests.c'
	keys Up
	shows '^serve_request .*requests.c'
	is_the_slow_request
	keys 0
	keys /count_steps Enter
	shows '^count_steps .*requests.c'
	shows 'in thread [0-9]+ "counting"'
	keys n
	shows 'from the beginning again'
	keys /nothing_of_this Enter
	shows "nothing has 'nothing_of_this' in its name"
	keys 2 g /stumble Enter
	shows '^.* 1      ▸ stumble$'
	keys t
	shows '^ +> .*▏stumble'
	keys q
	shows '^status 0\.$'
}

# made FILE BEGIN:END:NAME...: a trace with these calls in one thread, by their ends; times
# are ns.
made()
{
	python3 -c '
import os, struct, sys
words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 1, 1, 0x22 | 1 << 16 | 1 << 32, ord("f")]
for call in sys.argv[2:]:
    begin, end, name = os.fsencode(call).split(b":", 2)
    room = (len(name) + 7) // 8
    words += [4 | (room + 3) << 4 | 4 << 16 | 1 << 24 | 1 << 32 | (0x8000 | len(name)) << 48, int(begin)]
    words += [*struct.unpack(f"<{room}Q", name.ljust(8 * room, b"\0")), int(end)]
open(sys.argv[1], "wb").write(struct.pack(f"<{len(words)}Q", *words))' "$@"
}

@test "tree: of equal times the names are in order, and * opens what is below and nothing else" {
	made equal.fxt 2:3:inner 1:4:mid 0:5:first 12:13:deep 11:14:low 10:15:second
	opens 80 24 "fxt tui equal.fxt"
	shows ' first$'
	keys 2
	shows ' ▾ second$'
	[ "$(screen | grep -oE '(first|mid|second|low)$' | xargs)" = "first mid second low" ]
	keys Down Down '*'
	shows ' deep$'
	shows_not ' inner$'
	keys q
	shows '^status 0\.$'
}

@test "timeline: slices without length, and at the trace's start, are found and gone to" {
	made moments.fxt 100:100:zero 200:300:work 400:400:zero 600:700:tick 0:1000:main
	opens 80 24 "fxt tui moments.fxt"
	shows ' main$'
	keys 3 /zero Enter
	shows '^0 ns, 100 ns after the start'
	keys n
	shows '^0 ns, 400 ns after the start'
	keys n
	shows 'from the beginning again'
	shows '^0 ns, 100 ns after the start'
	keys 0 Right Right
	shows '^0 ns, 400 ns after the start'
	keys Right
	shows '^tick$'
	keys Left
	shows '^0 ns, 400 ns after the start'
	keys Left Left
	shows '^0 ns, 100 ns after the start'
	keys f /main Enter
	shows 'from the beginning again'
	shows '^main$'
	keys q
	shows '^status 0\.$'
}

@test "timeline: a search goes on, deeper than there are lines" {
	made deep.fxt {299..290}:500:deep $(for i in {289..0}; do echo "$i:1000:n$i"; done)
	opens 80 24 "fxt tui deep.fxt"
	shows ' n0$'
	keys 3 /deep Enter
	shows '^n255$'
	keys n n n n n n n n n n
	shows 'from the beginning again'
	keys q
	shows '^status 0\.$'
}

@test "timeline: zoomed and panned, wide and narrow" {
	made fixed.fxt 10000000:30000000:work 32000000:32000400:short 35000000:35000010:tick \
		35000020:35000030:tick 0:40000000:main
	opens 80 24 "fxt tui fixed.fxt"
	shows ' main$'
	keys 3
	shows '^0\.000000000 s +╷\+0 ns +╷\+10\.000 ms +╷\+20\.000 ms'
	shows '^ +> ▏main$'
	shows '^ {32}▏work {11,}▏ +░'
	keys w
	shows '^0\.010000000 s +╷\+0 ns +╷\+5\.000 ms'
	keys d
	shows '^0\.015000000 s'
	keys a a
	shows '^0\.005000000 s'
	keys a a a a
	shows '^0\.000000000 s'
	keys s
	shows '╷\+0 ns +╷\+10\.000 ms'
	keys Down
	shows '^work$'
	shows '^20\.000 ms, 10\.000 ms after the start, in thread 1$'
	keys f
	shows '^0\.007999999 s'
	keys Right
	shows '^short$'
	shows '^400 ns, 32\.000 ms after the start'
	keys f
	shows '^0\.031999959 s +╷\+0 ns +╷\+200 ns'
	shows '^ +> +▏short'
	terminal resize-window -x 200 -y 50
	shows '╷\+50 ns .*╷\+400 ns'
	terminal resize-window -x 40 -y 10
	shows_not '╷\+400 ns'
	shows '^ +> +▏short'
	keys q
	shows '^status 0\.$'
}

@test "many calls: merged at first, in full detail where one looks; a search finds the first and the next" {
	fxtrun -o many.fxt requests 300000 >/dev/null
	opens 80 24 "fxt tui many.fxt"
	shows '^ *300000 .* count_step$'
	keys 3 /count_step Enter
	shows '^count_steps'
	keys n
	shows '^count_step '
	fails grep -q slices <(screen)
	first=$(screen | tail -n 2)
	keys n
	shows '^count_step '
	keys N
	shows '^count_step '
	[ "$(screen | tail -n 2)" = "$first" ]
	keys q
	shows '^status 0\.$'
}

@test "losses are drawn where they were: shown + lost = made" {
	fxtrun --buffering-mode=oneshot --buffer-size=64K -o lost.fxt requests 30000 >made
	made=$(grep -v ^slow made | awk '{ n += $2 } END { print n }')
	opens 80 24 "fxt tui lost.fxt"
	shows ' records lost$'
	shown=$(screen | sed -n '2s/^\([0-9]*\) calls of .*, \([0-9]*\) records lost$/\1 + \2/p')
	[ $((shown)) = "$made" ]
	keys 3
	shows '^counting +.*╳╳╳╳'
	keys '/records lost' Enter
	shows '^[0-9]+ records? lost in '
	keys q
	shows '^status 0\.$'
}

@test "sizes: a resized terminal shows more, and less, and says when it is too small" {
	opens 80 24 "fxt tui"
	shows ' main$'
	shows_not ' p90 '
	terminal resize-window -x 200 -y 50
	shows ' p90 .* p99 '
	shows '^ +140 .* parse_word$'
	terminal resize-window -x 60 -y 9
	shows_not ' p90 '
	shows 'q quit|Func'
	terminal resize-window -x 20 -y 5
	shows 'too small'
	terminal resize-window -x 80 -y 24
	shows '^ +140 .* parse_word$'
	keys '?'
	shows 'any key: back'
	shows_not '…'
	keys x
	shows '^ +140 .* parse_word$'
	keys q
	shows '^status 0\.$'
}

@test "colours are there, and with NO_COLOR they are not" {
	opens 80 24 "fxt tui"
	shows ' main$'
	terminal capture-pane -e -p | grep -q "$(printf '\033')\[[0-9;]*[34]8;5;"
	keys q
	shows '^status 0\.$'
	opens 80 24 "NO_COLOR=1 fxt tui"
	shows ' main$'
	fails grep -E "$(printf '\033')\[([0-9;]*;)?[349][0-7][;m]|[34]8;" <(terminal capture-pane -e -p)
	keys q
	shows '^status 0\.$'
}

@test "no terminal, an unknown terminal, a file that is not a trace, an empty part: a line each" {
	says 2 "fxt: tui needs a terminal, and there is none; fxt report and fxt tree print" fxt tui
	opens 80 24 "TERM=nosuch fxt tui"
	shows "^fxt: tui cannot draw on a terminal of the kind 'nosuch'; set TERM to its name"
	shows '^status 2\.$'
	opens 80 24 "fxt tui nosuch.fxt"
	shows '^fxt: nosuch.fxt: .*No such file'
	shows '^status 2\.$'
	opens 80 24 "fxt tui --function=nosuch"
	shows "'nosuch'"
	shows '^status 2\.$'
}

@test "a trace from a pipe: the keys are the terminal's" {
	opens 80 24 "cat trace.fxt | fxt tui -"
	shows '^ +140 .* parse_word$'
	keys q
	shows '^status 0\.$'
}

@test "names of any bytes are text on one line, in their columns" {
	made odd.fxt 1:9:"$(printf 'outer::%.0s' {1..40})name(int)" 11:18:$'\e[31mred\n' \
		21:27:"$(printf '字%.0s' {1..60})" 31:36:café 41:45:$'a\u202eb\xff'
	opens 80 24 "fxt tui odd.fxt"
	shows 'café'
	shows '  \\x1b\[31mred\\n$'
	shows '  a\\u202eb\\xff$'
	shows 'outer::outer.*….*me\(int\)$'
	shows '字字字.*…字字'
	screen >shown
	python3 -c '
import sys, unicodedata
for line in open("shown", encoding="utf-8").read().split("\n"):
    width = sum(1 + (unicodedata.east_asian_width(c) == "W") for c in line)
    if width > 80:
        sys.exit(f"{width} columns: {line}")'
	keys q
	shows '^status 0\.$'
}

@test "timeline: async spans above the threads, and counters below them with their values" {
	${CC:-cc} -O2 -pthread -I"$root/include" -o spans "$root/tests/programs/trace_h/spans.c"
	fxtrun -o spans.fxt ./spans >printed
	read -r spans _ others least most _ last <printed
	opens 100 40 "fxt tui spans.fxt"
	shows 'async|sleeps'
	keys 3
	shows '^request \[db\]'
	shows '^request \[http\]'
	# All of these overlap.
	shows "^$spans async spans"
	shows "^$((spans - 6)) more rows"
	shows '^long  '
	shows '^cache 0 double .*█'
	keys G
	shows '^cache 0 level +> .*█'
	shows '^cache 0 level \[db\] of process [0-9]+$'
	shows "^$spans samples, from $least to $most, $last at the right edge\$"
	keys g
	shows '^request .http.> '
	shows '(, async|together)'
	keys q
	shows '^status 0\.$'
}

# A key pressed during that time is there before the reading begins.
@test "Esc stops reading: the previous view is shown again and works" {
	${CC:-cc} -shared -fPIC -o clock.so "$root/tests/programs/terminal/fast_clock.c"
	opens 100 24 "LD_PRELOAD=$PWD/clock.so fxt tui"
	shows ' main$'
	for view in 2:tree 3:timeline; do
		keys "${view%:*}" Escape
		shows "reading the .*${view#*:} was stopped"
		shows ' main$'
		shows_not '▾ main$'
	done
	keys 2
	shows '▾ main$'
	keys 3
	shows '^w s zoom'
	keys w w w w w w w w Escape
	shows 'reading the timeline was stopped|^w s zoom'
	keys 0 / parse_word Enter Escape
	shows '(searching|reading the timeline) was stopped'
	keys 1
	shows ' main$'
	keys Enter Escape
	shows 'looking for the slowest call was stopped'
	keys q
	shows '^status 0\.$'
}
