#!/usr/bin/env bats
# Deaths at random moments, and failures of whatever can fail: a few of what `make torture` does many of.

load helpers

@test "each death once in every mode: what is kept and told is what was made, or the file says that nobody knows" {
	"$root/tests/torture" "$build" 6 "$RANDOM"
}

@test "failures of allocations and system calls: the program comes to its end, and what is missing is told" {
	"$root/tests/failures" "$build" 100
}
