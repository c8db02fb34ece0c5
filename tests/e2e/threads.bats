#!/usr/bin/env bats
# Threads: every thread has its own row, its name, and exactly its own calls.

load helpers

@test "eight named threads: each thread's calls are the calls it counted itself" {
	same_as_bare "$programs/threads8"
	sound trace.fxt
	decode calls trace.fxt | cut -f2- | grep 'work::' | sort >recorded
	sort traced.out | diff - recorded
}
