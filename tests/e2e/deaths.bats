#!/usr/bin/env bats
# Deaths at random moments: a few of what `make torture` does many of.

load helpers

@test "each death once in every mode: what is kept and told is what was made, or the file says that nobody knows" {
	"$root/tests/torture" "$build" 6 "$RANDOM"
}
