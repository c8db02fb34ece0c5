#!/usr/bin/env bats
# Threads: every thread has its own row, its name, and exactly its own calls.

load helpers

# The calls of each thread, by the trace and by the thread itself.
calls_of_each_thread()
{
	same_as_bare "$programs/threads8"
	sound trace.fxt
	decode calls trace.fxt | cut -f2- | grep 'work::' | sort >recorded
	sort traced.out | diff - recorded
}

@test "eight named threads: each thread's calls are the calls it counted itself" {
	calls_of_each_thread
}

@test "the same when the buffer fills and is saved again and again" {
	options=--buffer-size=64K
	for run in 1 2 3 4 5; do
		calls_of_each_thread
	done
}
