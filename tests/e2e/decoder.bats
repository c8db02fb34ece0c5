#!/usr/bin/env bats
# The independent decoder finds what is wrong in traces written by hand, word by word, from
# the text of the format: only so is its silence elsewhere worth something.

load helpers

magic=0016547846040010
init="0000000000000021 000000003b9aca00"
category="0000000800010022 6e6f6974636e7566" # string 1: "function"

# trace WORD...: writes trace.fxt, each word given in hex.
trace()
{
	python3 -c 'import struct, sys
sys.stdout.buffer.write(b"".join(struct.pack("<Q", int(word, 16)) for word in sys.argv[1:]))' "$@" >trace.fxt
}

# call START END: a Duration Complete event of string 2 on thread 1.
call()
{
	printf '0002000101040034 %x %x ' "$1" "$2"
}

begun="$magic 0020000000110020 0000000000007866 $init $category 0000000200020022 000000000000696d 0000000000010033 7 9"

# found CAUSE...: the check fails, and just with these causes, once each.
found()
{
	run decode check trace.fxt
	[ "$status" = 1 ]
	diff <(printf '1\t%s\n' "$@" | sort) <(grep -v '^0' <<<"$output" | sort)
}

@test "a sound trace: nested calls and their counts" {
	trace $begun $(call 20 30) $(call 40 50) $(call 10 60)
	decode check trace.fxt
	[ "$(decode calls trace.fxt)" = $'\t\tmi\t3' ]
}

@test "a call that sticks out of its caller" {
	trace $begun $(call 10 30) $(call 20 40)
	found slice_drop_overlapping_complete_event
}

@test "a call that begins with its caller" {
	trace $begun $(call 10 40) $(call 10 20)
	found calls:start_not_increasing
}

@test "a call that ends before it begins" {
	trace $begun $(call 20 10)
	found fuchsia_timestamp_overflow
}

@test "a call that does not end, and an end of none" {
	trace $begun 0002000101020024 10
	found calls:left_open
	trace $begun 0002000101030024 10
	found format:end_without_begin
}

@test "references to nothing" {
	trace $begun 0003000101040034 10 20
	found fuchsia_invalid_string_ref
	trace $begun 0002000102040034 10 20
	found format:unknown_thread_ref
}

@test "a record cut off, of size 0, of no type, before any provider" {
	trace $begun 0002000101040034 10
	found format:truncated_tail
	trace $begun 0
	found format:record_of_size_0
	trace $begun 1e
	found format:unknown_record
	trace $magic $init
	found fuchsia_invalid_event
	trace 21 5
	found format:no_magic fuchsia_invalid_event
}

@test "records shorter than their contents, or with undefined bits" {
	trace $begun 0002000101040024 10
	found fuchsia_record_read_error
	trace $begun 8000000200030022 6869
	found format:reserved_bits
	trace $begun 0000000100030022 6869
	found format:padding_not_zero
}

@test "a loss that a provider event reports" {
	trace $begun 0000000000130010
	found calls:records_lost
}
