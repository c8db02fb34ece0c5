#!/usr/bin/env bats
# fxt html: the page as a browser has it, with its scripts run and driven by others, beside
# what the independent decoder and the programs themselves know.

load helpers
load heap

# The ray tracer is recorded once, and decoded, which takes the longest.
setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return 1
	fxtrun "$build/examples/raytracer" >/dev/null
	decode times trace.fxt >times
}

# raytracer: its trace.fxt, and its slices by the independent decoder as times.
raytracer()
{
	ln -sf "$BATS_FILE_TMPDIR"/{trace.fxt,times} .
}

needs_chromium()
{
	command -v chromium >/dev/null || skip "chromium is not here"
}

# browse PAGE [FRAGMENT]: dom.html is the page after its scripts have run. A script on the
# standard input runs after them, as a user who presses keys: press(KEY) does that, and
# rest() awaits the update of the address. The window is $width pixels wide. Frames come by
# the clock that the browser lets run ahead, like everything that the scripts wait for: real
# frames may take longer than the time of the page.
browse()
{
	{
		echo '<!DOCTYPE html><script>window.requestAnimationFrame = callback => setTimeout(() => callback(performance.now()), 16);</script>'
		cat "$1"
		echo '<script>addEventListener("load", async () => {'
		echo 'const press = key => (document.activeElement ?? document.body).dispatchEvent('
		echo '	new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));'
		echo 'const type = (input, text) => { input.value = text; input.dispatchEvent(new Event("input", {bubbles: true})); };'
		echo 'const says = text => document.body.append(Object.assign(document.createElement("pre"), {className: "said", textContent: text}));'
		echo 'const rest = () => new Promise(resolve => { setTimeout(resolve, 500); });'
		echo 'try {'
		cat
		echo '} catch (error) { says(`error: ${error.stack}`); }});</script>'
	} >driven.html
	timeout 60 chromium --headless --no-sandbox --disable-gpu --window-size="${width:-800},600" --user-data-dir="$PWD/browser" --virtual-time-budget=5000 \
		--enable-logging=stderr --dump-dom "file://$PWD/driven.html#${2:-}" >dom.html 2>console
	! grep -E 'CONSOLE.*(Uncaught|Refused|violates)' console
}

# The script's output, a line each.
said()
{
	python3 -c 'import html, re, sys
for text in re.findall("<pre class=\"said\">(.*?)</pre>", open("dom.html", encoding="utf-8").read(), re.S):
    print(html.unescape(text))'
}

shown()
{
	python3 "$root/tests/e2e/pages.py" "$1" dom.html
}

# fact NAME: what the summary says of it.
fact()
{
	shown facts | awk -F'\t' -v name="$1" '$1 == name { print $2 }' | tr -d ,
}

# by_function: "function<tab>calls<tab>total<tab>self<tab>min<tab>max<tab>threads" of all
# threads, by the independent decoder.
by_function()
{
	decode report trace.fxt | awk -F'\t' -v OFS='\t' '$3 == "function" { calls[$4] += $5; total[$4] += $7; self[$4] += $8; rows[$4]++
		if (!($4 in least) || $9 < least[$4]) least[$4] = $9
		if ($10 > most[$4]) most[$4] = $10 }
		END { for (name in calls) print name, calls[name], total[name], self[name], least[name], most[name], rows[name] }' |
		LC_ALL=C sort -t $'\t' -k 1,1
}

@test "functions and summary of a ray tracer in four threads: the independent decoder's figures" {
	needs_chromium
	raytracer
	[ "$(fxt html trace.fxt)" = "trace.html: trace.fxt" ]
	browse trace.html </dev/null
	by_function >expected
	# A page without switches has two columns less.
	shown functions-table | awk -F'\t' -v OFS='\t' '{ print $1, $2, $3, $4, $(NF - 1), $NF }' |
		LC_ALL=C sort -t $'\t' -k 1,1 >got
	LC_ALL=C join -t $'\t' expected got >both
	awk -F'\t' '
		function near(a, b) { return a - b >= 0 && a - b <= $7 }
		$2 != $8 || !near($9, $3) || !near($10, $4) || !near($11, $5) || !near($12, $6) { print; bad = 1 }
		END { exit bad || !NR }' both
	[ "$(wc -l <both)" = "$(wc -l <expected)" ]
	[ "$(wc -l <got)" = "$(wc -l <expected)" ]
	[ "$(fact calls)" = "$(awk -F'\t' '{ n += $2 } END { print n }' expected)" ]
	[ "$(fact functions)" = "$(wc -l <expected)" ]
	[ "$(fact threads)" = 4 ]
	[ "$(fact "lost records")" = 0 ]
	# The flame graph is that of fxt flamegraph.
	fxt flamegraph trace.fxt >/dev/null
	grep -o 'data-total="[0-9]*" data-self="[0-9]*" data-calls="[0-9]*"' trace.svg >flames
	grep -o 'data-total="[0-9]*" data-self="[0-9]*" data-calls="[0-9]*"' dom.html | diff flames -
}

@test "a function's line is a link that an editor takes, if its path is absolute" {
	needs_chromium
	zstd -dq "$root/doc/manual/trace.fxt.zst" -o trace.fxt
	fxt html trace.fxt >/dev/null
	browse trace.html <<-'END'
		for (const link of document.querySelectorAll('#functions-table a.editor')) says(link.getAttribute('href'));
	END
	said | sort >links
	fxt report --format=gcc trace.fxt | sed -E 's,^([^:]*:[0-9]+):.*,vscode://file\1,' | sort | diff - links
	[ "$(wc -l <links)" = 11 ]
}

@test "keys and clicks: search in all parts, sort by a column, and the address brings it back" {
	needs_chromium
	raytracer
	fxt html trace.fxt
	browse trace.html <<-'END'
		press('/');
		says(`focus: ${document.activeElement.id}`);
		type(document.activeElement, 'SHA');
		press('Escape');
		says(`cleared: ${document.querySelectorAll('#functions-table tbody tr').length > 2}`);
		press('/');
		type(document.activeElement, 'SHA');
		says(`found: ${[...document.querySelectorAll('#functions-table td.name button')].map(e => e.textContent).sort()}`);
		says(`drawn: ${[...new Set([...document.querySelectorAll('#flame .found title')].map(e => e.textContent.split('\n')[0]))].sort()}`);
		await rest();
		says(`address: ${location.hash}`);
	END
	diff - <(said) <<-'END'
		focus: search
		cleared: true
		found: in_shadow(vec),shade(int, int)
		drawn: in_shadow(vec),shade(int, int)
		address: #search=SHA
	END
	browse trace.html search=in_shadow <<-'END'
		const cells = column => [...document.querySelectorAll(`#functions-table tbody td:nth-child(${column})`)];
		document.querySelector('#functions-table th[data-key=calls] button').click();
		says(document.querySelector('#functions-table th[aria-sort]').dataset.key);
		says(cells(1).map(cell => cell.textContent));
		press('Escape');
		for (const cell of cells(2)) says(`row: ${cell.dataset.value}`);
	END
	said | head -n 2 | diff - <(printf '%s\n' calls 'in_shadow(vec)')
	said | sed -n 's/^row: //p' >calls
	sort -rn calls | diff calls -
	[ "$(wc -l <calls)" -gt 5 ]
}

# timeline OPTION...: the page of trace.fxt and its times by the independent decoder agree;
# prints items, slices, records lost.
timeline()
{
	fxt html "$@" trace.fxt >/dev/null
	python3 "$root/tests/e2e/timelines.py" trace.html <times
}

@test "timeline: every slice is in it, merged or not, where the independent decoder has it" {
	fxtrun "$build/examples/threads" >/dev/null
	decode times trace.fxt >times
	timeline >few
	read -r items slices _ <few
	[ "$items" = "$slices" ]
	raytracer
	timeline >many
	read -r items slices _ <many
	[ "$slices" -gt 190000 ]
	[ "$items" -lt 40000 ]
	rm trace.fxt
	[ -x "$build/real/sqlite3" ] || skip "no source package of sqlite3 could be reached"
	fxtrun "$build/real/sqlite3" shop.db ".read $root/tests/real/shop.sql" >/dev/null 2>&1 || [ $? = 1 ]
	fxt html trace.fxt
	[ "$(stat -c %s trace.html)" -lt 2000000 ]
}

@test "timeline: W, A, S and D, a search that Enter goes through, a click, and F" {
	needs_chromium
	raytracer
	fxt html trace.fxt
	browse trace.html <<-'END'
		const section = document.getElementById('timeline'), selection = document.getElementById('selection').dataset;
		const length = () => section.dataset.to - section.dataset.from;
		const whole = length();
		press('w');
		press('W');
		says(`zoomed: ${(whole / length()).toFixed(2)}`);
		const from = Number(section.dataset.from), part = length();
		press('d');
		says(`moved: ${Math.abs(section.dataset.from - from - 0.15 * part) < 3}`);
		press('a');
		says(`back: ${Math.abs(section.dataset.from - from) < 3}`);
		for (let i = 0; i < 3; i++) press('s');
		await rest();
		says(`whole: ${length() === whole} ${['', '#'].includes(location.hash)}`);
		for (let i = 0; i < 200; i++) press('w');
		says(`nanoseconds: ${length()}`);
		press('/');
		type(document.activeElement, 'draw_rows(');
		for (let i = 0; i < 4; i++) {
			press('Enter');
			says(`found: ${selection.start} ${selection.length}`);
		}
		document.activeElement.blur();
		press('f');
		says(`shown: ${section.dataset.from <= Number(selection.start)} ${length()} ${whole}`);
		// The row below the axis and the head of the first track is main's.
		section.querySelector('.scroller').scrollTop = 0;
		const canvas = section.querySelector('canvas'), box = canvas.getBoundingClientRect();
		[...section.querySelectorAll('.tools button')].find(button => button.textContent === 'all').click();
		const y = document.querySelector('i.running') ? 65 : 57;
		for (const kind of ['pointerdown', 'pointerup'])
			canvas.dispatchEvent(new PointerEvent(kind, {clientX: box.left + box.width / 2, clientY: box.top + y, pointerId: 1}));
		says(`clicked: ${document.querySelector('#selection dd').textContent} ${selection.length}`);
	END
	said | tee got
	awk -F'\t' '$4 == "draw_rows(painting&, int)" { print $5, $6 }' times | sort -n >rows
	main=$(awk -F'\t' '$4 == "main" { print $6 }' times)
	[ "$(wc -l <rows)" = 3 ]
	grep -x 'zoomed: 1.69' got
	grep -x 'moved: true' got
	grep -x 'back: true' got
	grep -x 'whole: true true' got
	grep -x 'nanoseconds: 10' got
	# All three in the order of time, and the first again.
	awk '{ start = NR == 1 ? $1 : start; print $1 - start, $2 }' rows >expected
	head -n 1 expected >>expected
	awk '/^found: / { start = n++ ? start : $2; print $2 - start, $3 }' got | diff expected -
	# With something around it, where the trace has that.
	awk 'FNR == NR { call = FNR == 1 ? $2 : call; next }
		/^shown: / { wanted = 1.2 * call < $4 ? 1.2 * call : $4; exit !($2 == "true" && $3 > 0.97 * wanted && $3 < 1.03 * wanted) }' rows got
	grep -x "clicked: main $main" got
}

@test "timeline: while it moves the canvas stays, and the address is written once it rests" {
	needs_chromium
	raytracer
	fxt html trace.fxt
	browse trace.html <<-'END'
		const section = document.getElementById('timeline'), canvas = section.querySelector('canvas'), write = history.replaceState;
		const anew = new MutationObserver(() => {});
		let written = 0, due = [], drawn = 0;
		// The page's own first pictures are over then; those that follow are drawn here.
		await rest();
		window.requestAnimationFrame = callback => due.push(callback);
		anew.observe(canvas, {attributes: true, attributeFilter: ['width', 'height']});
		history.replaceState = (...state) => { written++; write.apply(history, state); };
		for (const key of 'wwwwwddddddddddaaaaasss') {
			press(key);
			for (const callback of due.splice(0)) callback(drawn++);
		}
		says(`moving: ${drawn} ${anew.takeRecords().length} ${written}`);
		await rest();
		says(`resting: ${written} ${location.hash === `#time=${section.dataset.from}..${section.dataset.to}`}`);
	END
	said | tee got
	grep -x 'moving: 23 0 0' got
	grep -x 'resting: 1 true' got
}

@test "what the program says: async spans and counters as rows, flows as arrows, as many as it counted itself" {
	needs_chromium
	fxtrun --heap=off "$build/examples/server" >printed
	fxt html trace.fxt
	read -r requests changes < <(awk '/^requests/ { n = $2 } /^changes/ { print n, $2 }' printed)
	width=1280 browse trace.html <<-'END'
		const {tracks, scale, view, canvas, scroller, AXIS, HEAD} = timeline;
		says(`tracks: ${tracks.map(track => track.title.replace(/ \d{2,}$/, ''))}`);
		const [spans, ...others] = tracks, of = lane => lane.count.reduce((a, b) => a + b, 0);
		says(`spans: ${spans.rows.map(of).reduce((a, b) => a + b)} ${spans.remark.split(',')[0]}`);
		const apart = lane => lane.start.every((start, i) => i === 0 || start >= lane.end[i - 1]);
		says(`apart: ${spans.rows.every(apart)}`);
		const counters = others.filter(track => track.curve);
		says(`samples: ${counters.reduce((sum, {curve}) => sum + curve.value.length, 0)} ${counters.map(({curve}) => curve.value.at(-1))}`);
		says(`arrows: ${page.data.timeline.arrows.length}`);
		const to = Number(document.getElementById('timeline').dataset.arrows);
		says(`drawn: ${to > 0 && to <= page.data.timeline.arrows.length}`);
		const click = (moment, y) => {
			const box = canvas.getBoundingClientRect();
			for (const kind of ['pointerdown', 'pointerup'])
				canvas.dispatchEvent(new PointerEvent(kind, {clientX: box.left + (moment - view.from) * scale(), clientY: box.top + y + AXIS - scroller.scrollTop, pointerId: 1}));
			return [...document.querySelectorAll('#selection div')].map(div => [...div.children].map(e => e.textContent).join('='))[0];
		};
		const last = spans.rows.length - 1, span = spans.rows[last];
		says(`click: ${click((span.start[0] + span.end[0]) / 2, spans.rowsY + (last + 0.5) * spans.rowHeight)}`);
		const {curve, rowsY, rowHeight} = counters[0], at = curve.end.findIndex((end, i) => (end - curve.start[i]) * scale() > 4);
		says(`value: ${click((curve.start[at] + curve.end[at]) / 2, rowsY + rowHeight / 2) === `${counters[0].title}=${curve.value[at]}`}`);
	END
	said | tee got
	diff got - <<-END
		tracks: request,server,handler,answerer,queue 0 waiting,queue 1 waiting
		spans: $requests $requests async spans
		apart: true
		samples: $changes 0,0
		arrows: $((2 * requests))
		drawn: true
		click: async span=request
		value: true
	END
	# The values of each queue, in the order of time, are those that the program has said.
	python3 "$root/tests/independent/saiddecode.py" events trace.fxt | grep -c '	queue	' | grep -x "$changes"
}

@test "windows: around a call that is asked for every slice is in the page, and a button goes there" {
	needs_chromium
	raytracer
	# Not the slowest ones, which may have been preempted for as long as all others
	# took.
	timeline --around=in_shadow:2000 --around=slow:1 --around=sky:2000 >items
	[ "$(cut -d ' ' -f 4 items)" -ge 2 ]
	awk -F'\t' '$4 == "in_shadow(vec)" { print $6 }' times | sort -rn | sed -n 2000p >call
	browse trace.html <<-'END'
		const section = document.getElementById('timeline');
		[...section.querySelectorAll('.tools button')].find(button => button.textContent === 'in_shadow:2000').click();
		says(`shown: ${section.dataset.to - section.dataset.from}`);
	END
	said | tee got
	# A tenth of the call to each side is the window, and a tenth of that is what is
	# shown around it.
	awk 'FNR == NR { call = $1; next } /^shown: / { wanted = 1.2 * 1.2 * call; exit !($2 > wanted - 8 && $2 < wanted + 8) }' call got
	says 2 "fxt: trace.fxt: no function is named 'in_shadw'; did you mean 'in_shadow'?" fxt html --around=in_shadw:3 trace.fxt
	says 2 "fxt: trace.fxt: 'main' has no more than 1 call" fxt html --around=main:2 trace.fxt
	says 2 "fxt html: the number of a call is from 1, the slowest, to 1000000; see fxt html --help" fxt html --around=main:0 trace.fxt
	says 2 "fxt html: more than 8 calls to be around; see fxt html --help" fxt html $(printf -- '--around=main %.0s' 1 2 3 4 5 6 7 8 9) trace.fxt
	fxt html --around=slow:11 trace.fxt 2>&1 | grep 'the page has no more than [0-9]* slow call'
}

# The timeline has levels of detail; single calls are in windows that are asked for.
@test "ten times the calls make no larger page, except for a window of them" {
	cat >grow.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		static void leaf(void) { __asm__ volatile(""); }
		static void branch(int n) { leaf(); if (n % 3 == 0) leaf(); }
		static void *work(void *turns) { for (long i = 0; i < (long)turns; i++) branch(i); return 0; }
		int main(int argc, char **argv)
		{
			pthread_t id;
			void *turns = (void *)atol(argv[argc - 1]);
			pthread_create(&id, 0, work, turns);
			work(turns);
			pthread_join(id, 0);
			return 0;
		}
	END
	${CC:-cc} -O1 -g -finstrument-functions -pthread -o grow grow.c
	for turns in 20000 200000; do
		fxtrun --heap=off -o $turns.fxt ./grow $turns
		fxt html -o $turns.html $turns.fxt
	done
	[ "$(stat -c %s 200000.fxt)" -gt $((9 * $(stat -c %s 20000.fxt))) ]
	less=$(stat -c %s 20000.html) more=$(stat -c %s 200000.html)
	[ "$more" -lt 2000000 ]
	[ "$more" -lt $((2 * less)) ]
	for calls in 20000 40000; do
		fxt html --time=..$(fxt sql "select start from calls order by start limit 1 offset $calls" 200000.fxt | tail -1 | tr -d ' ')ns \
			-o first_$calls.html 200000.fxt
	done
	[ "$(stat -c %s first_40000.html)" -lt 20000000 ]
	[ "$(stat -c %s first_20000.html)" -lt "$(stat -c %s first_40000.html)" ]
}

@test "tables fit into windows of 1024, 1280 and 1920 pixels, and names in them are whole" {
	needs_chromium
	cat >names.cc <<-'END'
		#include <map>
		#include <string>
		#include <vector>
		int main() { std::map<std::string, std::vector<std::string>> m; m["a"].push_back("b"); return m.size() != 1; }
	END
	${CXX:-g++} -O0 -g -finstrument-functions -o names names.cc
	fxtrun ./names
	fxt html --library --full-names trace.fxt
	for width in 1024 1280 1920; do
		width=$width browse trace.html <<-'END'
			for (const box of document.querySelectorAll('.wide'))
				if (box.scrollWidth > box.clientWidth) says(`wider than its box: ${box.firstChild.id} ${box.scrollWidth} ${box.clientWidth}`);
			const names = [...document.querySelectorAll('#functions-table td.name button')];
			for (const button of names)
				if (button.scrollWidth > button.clientWidth + 1 || button.scrollWidth > button.closest('td').clientWidth) says(`cut: ${button.textContent}`);
			says(`${names.length > 40 && names.some(button => button.textContent.length > 150)} ${innerWidth}`);
		END
		said >answers
		cat answers
		[ "$(cat answers)" = "true $width" ]
	done
}

@test "slow calls: the slowest of their functions, their parts sum to them; locks as long as was waited; the heap's sums" {
	needs_chromium
	${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -o causes "$root/tests/programs/moments/causes.c"
	fxtrun --heap=objects ./causes >/dev/null
	fxt html trace.fxt
	width=500 browse trace.html <<-'END'
		const right = Math.max(...[...document.querySelectorAll('nav a')].map(link => link.getBoundingClientRect().right));
		says(`links ${document.querySelectorAll('nav a').length} ${innerWidth === 500} ${right <= 500}`);
		for (const call of document.querySelectorAll('details.call')) {
			const sum = [...call.querySelectorAll('tr[data-level="0"] td:first-child')].reduce((sum, cell) => sum + Number(cell.dataset.value), 0);
			says(`slow ${call.dataset.name} ${call.dataset.ns} ${sum}`);
		}
		const cells = column => [...document.querySelectorAll(`#locks-table tr.lock td:nth-child(${column})`)].map(cell => Number(cell.dataset.value));
		says(`locks ${cells(2).reduce((a, b) => a + b)} ${cells(3).reduce((a, b) => a + b)}`);
		says(`bills ${[...document.querySelectorAll('#locks-table tr.bill td:nth-child(3)')].reduce((sum, cell) => sum + Number(cell.dataset.value), 0)}`);
		const heap = cost => document.querySelector(`#heap [data-cost=${cost}]`).dataset;
		says(`heap ${heap('allocated').blocks} ${heap('allocated').bytes} ${heap('peak').bytes} ` +
			`${Number(heap('leaked').blocks) + Number(heap('kept').blocks)} ${Number(heap('leaked').bytes) + Number(heap('kept').bytes)}`);
		says(`leaked ${heap('leaked').blocks} ${heap('leaked').bytes}`);
		const of = (table, column) => [...document.querySelectorAll(`.${table} tbody td:nth-child(${column})`)].reduce((sum, cell) => sum + Number(cell.dataset.value), 0);
		says(`paths ${of('heap-peak', 1)} ${of('heap-leaked', 2)} ${of('heap-leaked', 1)}`);
	END
	said >got
	cat got
	decode times trace.fxt >times
	grep '^slow handle ' got
	# Each part has a link that is to be seen in a narrow window.
	grep -x 'links 7 true true' got
	awk -F'\t' 'FNR == NR { if ($6 > most[$4]) most[$4] = $6; next }
		{ split($0, word, " ") } word[1] == "slow" && (word[3] != most[word[2]] || word[4] != word[3]) { print; wrong = 1 }
		END { exit wrong }' times got
	# Begin and end of a wait are rounded down, each. Each nanosecond is on somebody's
	# bill.
	read -r waits ns < <(awk -F'\t' '$3 == "sync" && $4 == "pthread_mutex_lock" { n++; sum += $6 } END { print n, sum }' times)
	awk '/^locks / { exit !($2 == waits && $3 >= ns && $3 <= ns + waits) }' waits="$waits" ns="$ns" got
	grep -x "bills $(sed -n 's/^locks .* //p' got)" got
	heapdecode peak trace.fxt >sums
	grep -x "heap $(cat sums)" got
	grep -x "paths $(cut -d ' ' -f 3 sums) $(sed -n 's/^leaked //p' got)" got
}

@test "the heaps of many processes: the largest first and unfolded, the others folded, the smallest counted" {
	needs_chromium
	cat >many.c <<-'END'
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static void *volatile kept;
		static void keep(int bytes) { kept = malloc(bytes); }
		int main(void)
		{
			for (int i = 1; i <= 50; i++) {
				if (fork() == 0) {
					keep(1000 * i);
					return 0;
				}
				wait(NULL);
			}
			return 0;
		}
	END
	${CC:-cc} -O1 -finstrument-functions -o many many.c
	fxtrun ./many
	fxt html trace.fxt
	browse trace.html <<-'END'
		const heaps = [...document.querySelectorAll('#heap details')];
		says(heaps.map(heap => `${heap.open} ${heap.querySelector('[data-cost=leaked]').dataset.bytes}`).join('\n'));
		says(document.querySelector('#heap > .note').textContent);
	END
	said >got
	diff got - < <(for i in {50..11}; do echo "$([ $i = 50 ] && echo true || echo false) ${i}000"; done
		echo 'And 10 more with smaller heaps, which leaked 53.7 KiB in all: fxt heap has them.')
}

@test "the page says what is missing: made = recorded + lost" {
	needs_chromium
	${CC:-cc} -O2 -g -finstrument-functions -pthread -o full "$root/tests/programs/engine/full.c"
	fxtrun --buffering-mode=oneshot --buffer-size=64K ./full 4 20000 >made
	fxt html trace.fxt
	browse trace.html </dev/null
	[ "$(($(fact calls) + $(fact "lost records")))" = "$(cat made)" ]
	grep -q 'class="bad"' dom.html
	# Each loss is on the row that had it, with its number.
	decode times trace.fxt | python3 "$root/tests/e2e/timelines.py" trace.html >items
	[ "$(cut -d ' ' -f 3 items)" = "$(fact "lost records")" ]
	grep -q '<p class="warning">[0-9,]* records found no room' dom.html
	# Records that made room for later ones are reported as that.
	fxtrun --buffering-mode=circular --buffer-size=64K ./full 4 20000 >made
	fxt html trace.fxt
	browse trace.html </dev/null
	[ "$(fact "lost records")" = 0 ]
	[ "$(fact "overwritten records")" -gt 0 ]
	[ "$(($(fact calls) + $(fact "overwritten records")))" = "$(cat made)" ]
	grep -q '<p class="warning">[0-9,]* records made room for later ones' dom.html
}

@test "the summary counts processes that did nothing to be drawn" {
	needs_chromium
	fxtrun sh -c "/bin/true; '$build/examples/hello'; exit" >/dev/null
	fxt html trace.fxt
	browse trace.html </dev/null
	[ "$(fact processes)" = 3 ]
	[ "$(fact threads)" = "$({ decode slices trace.fxt | cut -f2; decode cpu trace.fxt | cut -f1; } | sort -u | wc -l)" ]
	fxt html --process=hello trace.fxt
	browse trace.html </dev/null
	[ "$(fact threads)" = 1 ]
}

@test "a crash is reported first: signal, address and thread" {
	needs_chromium
	printf '%s\n' 'static void fail(void) { *(volatile int *)16 = 1; }' 'int main(void) { fail(); }' >crash.c
	${CC:-cc} -O0 -g -finstrument-functions -o crash crash.c
	fxtrun ./crash || [ $? = 139 ]
	fxt html trace.fxt
	browse trace.html </dev/null
	death=$(fxt info trace.fxt | sed -n 's/^killed by/Killed by/p')
	[[ $death = *SIGSEGV*0x10* ]]
	grep -F "<p class=\"warning\">${death//\"/&quot;}.</p>" dom.html || grep -F "<p class=\"warning\">$death.</p>" dom.html
}

@test "names of any bytes are text: no element, no script, no attribute of theirs" {
	needs_chromium
	python3 - <<-'END'
		import struct
		pack = lambda *words: struct.pack(f"<{len(words)}Q", *words)
		def string(index, text):
		    words = (len(text) + 7) // 8
		    return pack(2 | 1 + words << 4 | index << 16 | len(text) << 32) + text.ljust(8 * words, b"\0")
		evil = [b"</script><script>document.body.id='owned'</script>", b"<img src=x onerror=\"document.body.id='owned'\">",
		        b"<!--<script>", b"]]></style></svg><h4>", b"${document.body.id='owned'}", b"\\u003c/script>\\", b"'\"`;//<h4>&lt;h4>"]
		with open("<h4>&amp;.fxt", "wb") as file:
		    file.write(pack(0x0016547846040010, 1 | 2 << 4, 10**9) + string(1, b"function"))
		    file.write(pack(3 | 3 << 4 | 1 << 16, 77, 78))
		    for i in range(256 + len(evil)):
		        name = evil[i - 256] if i >= 256 else bytes([i]) + b"]]><&amp;\"'\xef\xbf\xbf\xed\xa0\x80\xe2\x80\xae" + bytes([i])
		        file.write(string(2 + i, name))
		        file.write(pack(4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | 2 + i << 48, 100 * i + 1, 100 * i + 99))
		with open("evil", "wb") as file:
		    file.write(b"".join(sorted(name + b"\n" for name in evil)))
	END
	fxt html -o page.html '<h4>&amp;.fxt'
	browse page.html <<-'END'
		document.querySelector('#functions .more').click();
		says(document.querySelectorAll('#functions-table tbody tr').length);
		says(document.querySelectorAll('h4, img').length);
		says(document.body.id);
		says(document.title);
		says(document.querySelector('h1').textContent);
		for (const cell of document.querySelectorAll('#functions-table td.name button'))
		  if (/owned|script|h4/.test(cell.textContent)) says(cell.textContent);
	END
	{ printf '%s\n' 263 0 '' '<h4>&amp;.fxt' '<h4>&amp;.fxt'; LC_ALL=C sort evil; } >expected
	diff expected <(said | head -n 5; said | tail -n +6 | LC_ALL=C sort)
}

@test "outputs: compressed by name, the standard output, one that cannot be written, and a trace without calls" {
	fxtrun "$build/examples/hello" >/dev/null
	fxt html trace.fxt
	fxt html -o - trace.fxt | cmp - trace.html
	fxt html --output=page.html.zst trace.fxt
	zstd -dc page.html.zst | cmp - trace.html
	fxt html -o - - <trace.fxt | grep -q '^<title>-</title>'
	cp trace.fxt kept.fxt
	says 2 "fxt: ./trace.fxt: cannot be written: it is the trace itself; choose another file" fxt html -o ./trace.fxt trace.fxt
	cmp trace.fxt kept.fxt
	says 2 "fxt: /dev/full: cannot be written: No space left on device" fxt html -o /dev/full trace.fxt
	printf '\x10\x00\x04\x46\x78\x54\x16\x00\x21\x00\x00\x00\x00\x00\x00\x00\x00\xca\x9a\x3b\x00\x00\x00\x00' >tiny.fxt
	fxt html tiny.fxt
	# Nothing is fetched: no address but those of XML's name spaces.
	! grep -oE '(https?:)?//[a-z]+\.[a-z.]+[^ "]*' trace.html | grep -v 'www.w3.org'
}

@test "a newcomer's page: when, what and where at the top, short threads in one row, waits for requests and for work behind what is slow" {
	needs_chromium
	mkdir -p server_of_many && cd server_of_many
	cat >server.c <<-'END'
		#define _GNU_SOURCE
		#include <poll.h>
		#include <pthread.h>
		#include <sys/socket.h>
		#include <unistd.h>
		static int fds[2];
		static void *short_lived(void *nothing) { return nothing; }
		static void answer(int request) { if (request == 7) usleep(20000); }
		static int wait_for_request(void) { struct pollfd it = {fds[0], POLLIN, 0}; char byte; poll(&it, 1, -1); return (int)read(fds[0], &byte, 1) ? byte : 0; }
		static void *serve(void *nothing) { for (int i = 0; i < 12; i++) answer(wait_for_request()); return nothing; }
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
		static int jobs;
		static void put_job(void) { pthread_mutex_lock(&lock); jobs++; pthread_cond_signal(&filled); pthread_mutex_unlock(&lock); }
		static void take_job(void) { pthread_mutex_lock(&lock); while (!jobs) pthread_cond_wait(&filled, &lock); jobs--; pthread_mutex_unlock(&lock); }
		static void *work(void *nothing) { for (int i = 0; i < 12; i++) take_job(); return nothing; }
		int main(void)
		{
			pthread_t server, worker, one;
			socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
			pthread_create(&server, 0, serve, 0);
			pthread_create(&worker, 0, work, 0);
			for (int i = 0; i < 30; i++) { pthread_create(&one, 0, short_lived, 0); pthread_join(one, 0); }
			for (char i = 0; i < 12; i++) { usleep(i == 10 ? 1000000 : 1000); write(fds[1], &i, 1); put_job(); }
			return pthread_join(server, 0) | pthread_join(worker, 0);
		}
	END
	${CC:-cc} -O1 -g -finstrument-functions -pthread -o server server.c
	before=$(date +%s)
	fxtrun ./server 'an argument' second
	after=$(date +%s)
	fxt html trace.fxt
	browse trace.html <<-'END'
		says(document.querySelector('.command').textContent);
		says(Math.floor(page.data.began_ms / 1000));
		says(document.querySelector('.recorded').textContent);
		const group = timeline.tracks.find(track => track.members);
		// A thread may live for long on a busy machine.
		const shown = () => timeline.tracks.filter(track => track.height > 0 && !track.curve).length;
		says(`${group.members.length > 15} ${shown() === 34 - group.members.length} ${group.title}`);
		group.isFolded = false;
		timeline.layOut();
		says(shown());
		const calls = [...document.querySelectorAll('#slow details')].map(call => call.dataset.name);
		says(calls.indexOf('answer') >= 0 && calls.indexOf('answer') < calls.length - 2);
		says(calls.slice(-2).sort().join());
		const idle = document.querySelector('#slow .idle').nextSibling;
		says([idle, idle.nextSibling].map(call => call.dataset.name).sort().join());
	END
	said >answers
	cat answers
	sed -n 1p answers | grep -E '^Command: .*server an argument second$'
	[ "$(sed -n 2p answers)" -ge "$before" ]
	[ "$(sed -n 2p answers)" -le "$after" ]
	sed -n 3p answers | grep -F "$(uname -s -r)"
	sed -n 4p answers | grep -E '^true true [0-9]+ short-lived threads$'
	[ "$(sed -n 5p answers)" = 34 ]
	[ "$(sed -n 6p answers)" = true ]
	[ "$(sed -n 7p answers)" = take_job,wait_for_request ]
	[ "$(sed -n 8p answers)" = take_job,wait_for_request ]
}
