#!/usr/bin/env bats
# The lessons in examples/ show what they say they show.

load helpers

@test "hello: three greetings, one of them shouted" {
	same_as_bare "$build/examples/hello"
	sound trace.fxt
	# clang instruments inline functions of libc's headers too.
	diff - <(decode calls trace.fxt | cut -f3- | grep -v putchar) <<-END
		greet	3
		main	1
		shout	1
	END
}

@test "recursion: as many calls as Ackermann's function is known to need" {
	same_as_bare "$build/examples/recursion"
	sound trace.fxt
	# (128 * 4^n - 120 * 2^n + 9n + 37) / 3 calls for n = 0 to 4.
	[ "$(calls_of trace.fxt ackermann)" = $((15 + 106 + 541 + 2432 + 10307)) ]
}

@test "threads: each cook's dishes under the cook's name" {
	same_as_bare "$build/examples/threads"
	sound trace.fxt
	diff - <(decode calls trace.fxt | grep prepare_dish | cut -f2-) <<-END
		sauce cook	prepare_dish(int)	5
		soup cook	prepare_dish(int)	5
	END
}

@test "raytracer: one call of shade for every letter of the picture" {
	same_as_bare "$build/examples/raytracer"
	sound trace.fxt
	[ "$(calls_of trace.fxt 'shade(int, int)')" = "$(tr -d '\n' <traced.out | wc -c)" ]
}

@test "server: requests, queues and connections as it counts them itself" {
	local requests changes

	fxtrun -o trace.fxt "$build/examples/server" >printed
	requests=$(awk '$1 == "requests" { print $2 }' printed)
	changes=$(awk '$1 == "changes" { print $2 }' printed)
	fxt check trace.fxt
	decode check trace.fxt
	diff <(python3 "$root/tests/independent/saiddecode.py" counts trace.fxt | cut -f1,3-) <<-END -
		async begin	request	$requests
		async end	request	$requests
		complete	answer	$requests
		complete	handle	$requests
		complete	receive	$requests
		counter	queue	$changes
		flow begin	request	$requests
		flow end	request	$requests
		flow step	request	$requests
	END
	[ "$(python3 "$root/tests/independent/saiddecode.py" objects trace.fxt | grep -c 'connection [0-3]')" = 4 ]
}
