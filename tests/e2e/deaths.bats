#!/usr/bin/env bats
# Deaths at random moments, and failures of whatever can fail: a few of what `make torture`
# does many of.

load helpers

@test "each death once in every mode: kept and lost calls add up to those made, or the file says that the number is unknown" {
	"$root/tests/torture" "$build" 6 "$RANDOM"
}

@test "failures of allocations and system calls: the program runs to its end, and missing records are reported" {
	"$root/tests/failures" "$build" 400
}
