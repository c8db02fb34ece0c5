#!/usr/bin/env bats
# The bindings of examples/bindings: programs of other languages write the records that they
# ask for.
# The decoder in tests/independent/saiddecode.py reads the traces. Coroutines are in
# spans.bats.

load helpers

# said COMMAND TRACE: see tests/independent/saiddecode.py.
said()
{
	python3 "$root/tests/independent/saiddecode.py" "$@"
}

@test "Python: each call of the extension is an event, and its errors are Python's" {
	local include

	include=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
	[ -e "$include/Python.h" ] || skip "Python's headers are not here"
	${CC:-cc} -Wall -Wextra -Werror -shared -fPIC -O2 -I"$include" -I"$root/include" -o fxt_trace.so \
		"$root/examples/bindings/python.c"
	cat >says.py <<-'END'
		import fxt_trace, threading
		def job(number):
		    fxt_trace.begin("job", "load")
		    fxt_trace.counter("job", f"queue {number}", number / 2)
		    fxt_trace.end("job", "load")
		threads = [threading.Thread(target=job, args=[i]) for i in range(4)]
		for thread in threads: thread.start()
		for thread in threads: thread.join()
		for wrong in ("one",), ("job", 1), ("job", "\ud800"):
		    try:
		        fxt_trace.instant(*wrong)
		        raise SystemExit("no error")
		    except (TypeError, UnicodeError):
		        pass
		for i in range(100): fxt_trace.instant("job", "löst")
	END
	python3 says.py
	fxtrun --heap=off --no-sched -o x.fxt python3 says.py 2>err
	fxt check x.fxt
	said counts x.fxt | diff - <(
		printf 'begin\tjob\tload\t4\n'
		printf 'counter\tjob\tqueue %d\t1\n' 0 1 2 3
		printf 'end\tjob\tload\t4\ninstant\tjob\tlöst\t100\n'
	)
	said events x.fxt | grep -x $'counter\tjob\tqueue 3\t0\tvalue=double:1.5'
}

@test "Rust: durations, async spans and flows of the module, from two threads" {
	rustc --version || skip "there is no Rust here"
	cp "$root/examples/bindings/trace.rs" .
	cat >main.rs <<-'END'
		mod trace;
		static SERVE: trace::Site = trace::Site::new("server\0", "serve\0");
		static REQUEST: trace::Site = trace::Site::new("server\0", "request\0");
		fn main() {
		    let threads: Vec<_> = (0..2).map(|i| std::thread::spawn(move || {
		        for j in 0..10 {
		            let _serves = SERVE.duration();
		            REQUEST.event(5, 10 * i + j);
		            REQUEST.event(8, 10 * i + j);
		            REQUEST.event(7, 10 * i + j);
		        }
		    })).collect();
		    for thread in threads { thread.join().unwrap(); }
		    SERVE.event(0, 0);
		}
	END
	rustc -O -o main main.rs
	./main
	fxtrun --heap=off --no-sched -o x.fxt ./main 2>err
	fxt check x.fxt
	said counts x.fxt | diff - <(
		cat <<-'END'
			async begin	server	request	20
			async end	server	request	20
			begin	server	serve	20
			end	server	serve	20
			flow begin	server	request	20
			instant	server	serve	1
		END
	)
}

@test "C++20: a duration without a macro says its place by std::source_location" {
	local source=$root/examples/bindings/source_location.cc line

	printf '#include <source_location>\nint main() { return (int)std::source_location::current().line() - 2; }\n' >probe.cc
	${CXX:-c++} -std=c++20 -o probe probe.cc 2>/dev/null || skip "this compiler has no std::source_location"
	${CXX:-c++} -Wall -Wextra -Werror -O2 -std=c++20 -I"$root/include" -o places "$source"
	fxtrun --heap=off --no-sched -o x.fxt ./places 2>err
	fxt check x.fxt
	said events x.fxt | grep ^begin | sort | uniq -c | sed 's/^ *//' >recorded
	line=$(grep -n 'traced here;' "$source" | cut -d: -f1)
	diff recorded - <<-END
		1 begin	places	traced	function=string:int main()	file=string:$source	line=uint32:$(tail -1 <<<"$line")
		3 begin	places	traced	function=string:void inner()	file=string:$source	line=uint32:$(head -1 <<<"$line")
	END
	[ "$(said events x.fxt | grep -c ^end)" = 4 ]
}
