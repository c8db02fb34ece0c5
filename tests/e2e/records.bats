#!/usr/bin/env bats
# Kinds of records: one that fxt does not know has the same fate everywhere, and a new one
# takes two files.

load helpers

setup_file()
{
	cd "$BATS_FILE_TMPDIR"
	compiled launcher/counted.c
	fxtrun -o whole.fxt ./program 3 >out 2>&1
	fxtrun -o other.fxt ./program 3 >out 2>&1
}

# spliced FROM TO WORD...: the trace FROM with these words, in hex, in front of its last
# record.
spliced()
{
	python3 - "$@" <<-'END'
		import struct, sys
		data, at, last = open(sys.argv[1], "rb").read(), 0, 0
		while at < len(data):
		    header, last = struct.unpack_from("<Q", data, at)[0], at
		    at += 8 * (header >> 4 & (0xffffffff if header & 15 == 15 else 0xfff))
		words = b"".join(struct.pack("<Q", int(word, 16)) for word in sys.argv[3:])
		open(sys.argv[2], "wb").write(data[:last] + words + data[last:])
	END
}

# has FILE WORD...: the file has these words, in hex, in a row, as often as $times says.
has()
{
	python3 -c 'import struct, sys
words = b"".join(struct.pack("<Q", int(word, 16)) for word in sys.argv[3:])
found = open(sys.argv[1], "rb").read().count(words)
sys.exit(f"{sys.argv[1]} has it {found} times" if found != int(sys.argv[2]) else 0)' "$1" "$times" "${@:2}"
}

@test "records of unknown kinds: commands that copy a trace keep them as they are, and each command says once that they are there" {
	local times=1 record says="has 4 records of a kind that this fxt does not know; see fxt check"
	# A type, a kind of metadata, of scheduling and of large records that the format
	# does not have.
	local records=("000000000000003a feedface00000001 1" "0000000000090020 feedface00000002"
		"3000000000000038 feedface00000003 2" "000001100000003f feedface00000004 3")

	spliced "$BATS_FILE_TMPDIR/whole.fxt" new.fxt ${records[*]}
	fxt cut --time=0s..1ns -o cut.fxt new.fxt 2>cut.says
	fxt merge -o merged.fxt new.fxt "$BATS_FILE_TMPDIR/whole.fxt" 2>merge.says
	fxt symbolize -o named.fxt new.fxt 2>symbolize.says
	for record in "${records[@]}"; do
		has cut.fxt $record
		has merged.fxt $record
		has named.fxt $record
	done
	fxt report new.fxt 2>report.says
	for record in *.says; do
		[ "$(grep -c "new.fxt: $says" "$record")" = 1 ]
	done
	for record in new cut merged named; do
		fxt check $record.fxt >checked
		[ "$(grep -c 'warning: unknown type of record' checked)" = 4 ]
		grep -q "^$record.fxt: ok, .*, 4 warnings$" checked
	done
}

# An fxt of this build, of which the format's header has one more type of record, and the
# table of fields its row. It is linked with the objects of all other files as they are.
fxt_with_another_record()
{
	local cc flags

	read -r cc flags <"$build/flags"
	mkdir tree
	cp -r "$root/writer" "$root/reader" tree
	cd tree
	sed -i 's/^\tFXT_RECORD_LOG = 9,$/&\n\tFXT_RECORD_SAMPLE = 10,/' writer/format/format.h
	sed -i 's/^\tKIND("log", LOG, .*\\$/&\n\tKIND("sample", SAMPLE, ANY, AGAIN, sample) \\/' reader/trace/fields.c
	sed -i '/^#define LARGE_BLOB_FIELDS/{
		i FIELDS(sample) = {
		i FIELD(TICKS, WORD, "time", 1, NO_VIEW),
		i FIELD(CPU, BITS(40, 8), "cpu", 1, NO_VIEW),
		i FIELD(THREAD, BITS(16, 8), "thread", 0, NO_VIEW),
		i FIELD(STRING, BITS(24, 16), "name", 2, NO_VIEW),
		i FIELD(ARGUMENTS, BITS(48, 4), NULL, 0, VIEW(arguments)),
		i };
	}' reader/trace/fields.c
	$cc -std=gnu11 -D_GNU_SOURCE -I. -Wall -Wextra -Werror $flags -c -o ../fields.o reader/trace/fields.c
	cd ..
	$cc $flags -o another "$build/obj/fxt/fxt.o" fields.o -Wl,--start-group "$build"/{fxt,perfetto,symbolizer,reader,writer}.a \
		-Wl,--end-group -ldw -lelf -liberty -lz -lzstd -lm -lpthread -lsqlite3 -ledit -lncursesw
}

@test "a new type of record is two files, the format's header and the table: fxt then prints, checks, cuts and merges it" {
	local whole=$BATS_FILE_TMPDIR/whole.fxt time line again sample

	fxt_with_another_record
	time=$(fxt dump "$whole" | sed -n 's/.* duration-complete .* time=\([0-9]*\) .*/\1/p' | head -1)
	# String 77 "probe", thread 200 as 4242/4243, and a sample with both, of CPU 3, with
	# an argument probe = koid 4243.
	sample=(00000005004d0022 00000065626f7270 0000000000c80033 1092 1093
		000103004dc8004a "$(printf %x "$time")" 00000000004d0028 1093)
	spliced "$whole" new.fxt "${sample[@]}"
	line="sample thread=4242/4243 time=$time cpu=3 name=\"probe\" {probe=koid:4243}"

	# Programs built without it warn; those that have it do not.
	fxt check new.fxt | grep -q 'warning: unknown type of record (type 10)'
	./another check new.fxt | grep -q '^new.fxt: ok, [0-9]* records$'
	./another report new.fxt 2>says >/dev/null
	[ ! -s says ]

	./another dump new.fxt | grep -q " $line\$"
	./another info new.fxt | grep -q '^ *1  sample$'

	# A reference to nothing, and a bit that no field has.
	spliced "$whole" bad.fxt 000003004dc8003a "$(printf %x "$time")" 0
	run ./another check bad.fxt
	[[ "$output" = *"reference to a string never registered (string 77)"* ]]
	[[ "$output" = *"reference to a thread never registered (thread 200)"* ]]
	spliced "$whole" bad.fxt 800003000000004a "$(printf %x "$time")" 1 2
	run ./another check bad.fxt
	[[ "$output" = *"reserved bits are not zero (0x8000000000000000)"* ]]

	# It goes with its thread and its time, and takes along what it refers to.
	./another cut --thread=4243 -o thread.fxt new.fxt
	./another dump thread.fxt >thread
	grep -q " $line\$" thread
	grep -q ' string index=77 text="probe"$' thread
	grep -q ' thread index=200 thread=4242/4243$' thread
	./another check thread.fxt
	./another cut --process=program -o process.fxt new.fxt
	! ./another dump process.fxt | grep -q ' sample \|"probe"'
	./another cut --time=0s..1ns -o early.fxt new.fxt
	! ./another dump early.fxt | grep -q ' sample '

	# In a merged trace the second has koids of its own, in the record and in its
	# argument.
	spliced "$BATS_FILE_TMPDIR/other.fxt" again.fxt "${sample[@]}"
	./another merge -o merged.fxt new.fxt again.fxt
	./another check merged.fxt
	./another dump merged.fxt | grep ' sample ' >samples
	[ "$(wc -l <samples)" = 2 ]
	head -1 samples | grep -q " $line\$"
	again=$(tail -1 samples | sed "s/.* thread=[0-9]*\/\([0-9]*\) time=$time cpu=3 name=\"probe\" {probe=koid:\1}\$/\1/")
	[ "$again" -gt 4243 ]
}
