#!/usr/bin/env bats
# Jobs of many processes: their names and facts, MPI's calls as spans, and one clock.

load helpers

setup_file()
{
	compiled_for_all launcher/counted
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_mpi_yield_when_idle=1
	export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
	export OMPI_MCA_hwloc_base_binding_policy=none
}

# needs_mpi: a machine on which a job of four ranks runs without fxt; mpicc and mpirun may be
# there, and the name of the host unknown or shared memory too small.
needs_mpi()
{
	local bare=$BATS_FILE_TMPDIR/bare

	command -v mpicc >which && command -v mpirun >>which || skip "no Open MPI: tools/deps.sh viewer"
	if [ ! -e "$bare.said" ]; then
		mpicc -o "$bare" "$root/tests/programs/mpi/bare.c"
		timeout 300 mpirun --oversubscribe -n 4 "$bare" >"$bare.said" 2>&1 || echo "status $?" >>"$bare.said"
	fi
	grep -qx 'the other rank is there' "$bare.said" && fails grep -q '^status' "$bare.said" ||
		skip "mpirun does not work here: $(tail -n 3 "$bare.said")"
}

# job N PROGRAM...: a job of N ranks, each recorded into trace.RANK.fxt
job()
{
	local ranks=$1

	shift
	timeout 300 mpirun --oversubscribe -n "$ranks" fxtrun "$@" 2>err || { cat err && return 1; }
}

# rank N SIZE VARIABLES...: records as a launcher with such variables would.
as_rank()
{
	local rank=$1

	shift
	env "$@" fxtrun counted "1$rank" 2>"$rank.err"
	fxt info "trace.$rank.fxt" >"$rank.info"
}

# facts TRACE: rank, size, host and job of each of its processes
facts()
{
	fxt info --json "$1" |
		jq -c '.traces[].tables[] | select(.name == "ranks").rows[] | [.rank, .size, .host, .job]'
}

@test "processes of a job have their rank in their name, and rank, size, host and job as facts" {
	local host rank

	host=$(uname -n)
	as_rank 0 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=0 PMIX_NAMESPACE=7.1
	as_rank 1 PMI_RANK=1 PMI_SIZE=4 PMI_JOBID=kvs_7
	as_rank 2 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 SLURM_JOB_ID=77
	as_rank 3 PMIX_RANK=3 PMIX_NAMESPACE=7.1
	grep -E "^process [0-9]+ \"counted rank 0\", rank 0 of 4 on \"$host\", job \"7.1\"$" 0.info
	grep -E "^process [0-9]+ \"counted rank 1\", rank 1 of 4 on \"$host\", job \"kvs_7\"$" 1.info
	grep -E "^process [0-9]+ \"counted rank 2\", rank 2 of 4 on \"$host\", job \"77\"$" 2.info
	grep -E "^process [0-9]+ \"counted rank 3\", rank 3 on \"$host\", job \"7.1\"$" 3.info
	for rank in 0 1 2 3; do
		sound trace.$rank.fxt
	done
	# They stay in a merged trace, in parts of it, and whatever reads it.
	fxt merge trace.?.fxt
	sound merged.fxt
	fxt cut --process 'counted rank 2' -o part.fxt merged.fxt
	facts merged.fxt | sort >facts
	printf '%s\n' "[0,4,\"$host\",\"7.1\"]" "[1,4,\"$host\",\"kvs_7\"]" "[2,4,\"$host\",\"77\"]" \
		"[3,null,\"$host\",\"7.1\"]" | diff - facts
	facts part.fxt | grep -Fx "[2,4,\"$host\",\"77\"]"
	[ "$(fxt sql --csv "select process, rank, size, host, job, calls from processes where rank = 1" \
		merged.fxt | tail -1)" = \
		"rows,\"counted rank 1\",1,4,\"$host\",\"kvs_7\",12" ]
}

@test "a process without a launcher has no rank, and neither has a batch script of Slurm" {
	fxtrun counted 3 2>err
	SLURM_PROCID=0 SLURM_JOB_ID=77 fxtrun -o batch.fxt counted 3 2>err
	OMPI_COMM_WORLD_RANK=x OMPI_COMM_WORLD_SIZE=4 fxtrun -o odd.fxt counted 3 2>err
	for trace in trace batch odd; do
		fxt info $trace.fxt >info
		grep -E '^process [0-9]+ "counted"$' info
		[ -z "$(facts $trace.fxt)" ]
	done
}

@test "mpirun fxtrun: each rank has a trace of its own, with the calls that it made" {
	needs_mpi
	job 4 counted 5
	for rank in 0 1 2 3; do
		sound trace.$rank.fxt
		[ "$(calls_of trace.$rank.fxt leaf)" = 5 ]
		facts trace.$rank.fxt | grep "^\[$rank,4,"
	done
	[ "$(ls ./*.fxt | wc -l)" = 4 ]
	# Advice comes from rank 0 alone.
	[ "$(grep -c '^fxtrun: fxt merge puts the traces of all ranks on one timeline$' err)" = 1 ]
	job 4 true
	[ "$(grep -c 'calls are recorded of programs that are built so' err)" = 1 ]
	rm ./*.fxt
	# One recorder around the launcher has all ranks, too.
	timeout 300 fxtrun -o all.fxt mpirun --oversubscribe -n 2 counted 5 2>err
	facts all.fxt | cut -d, -f1,2 | sort | paste -sd ' ' | grep -Fx '[0,2 [1,2'
}

# needs_wrappers: libfxtmpi.so of this tree beside the agent, in a directory that comes first
needs_wrappers()
{
	local here=$BATS_FILE_TMPDIR/wrapped name

	needs_mpi
	if [ ! -d "$here" ]; then
		mkdir "$here.new"
		for name in "$build"/{libfxtagent.so,fxtrun,fxt}; do
			cp "$name" "$here.new"
		done
		make -s -C "$root" mpi CC=gcc WERROR=1 O="$here.new"
		mv "$here.new" "$here"
	fi
	PATH=$here:$PATH
}

@test "MPI calls are spans, and messages are flows between ranks: as many as the program made, to the byte" {
	needs_wrappers
	mpicc -g -O2 -finstrument-functions -o every "$root/tests/programs/mpi/every.c"
	job 4 ./every >out
	for rank in 0 1 2 3; do
		fxt check trace.$rank.fxt | grep -E ': ok, [0-9]+ records$'
		fxt info trace.$rank.fxt | grep '^lost: 0 records'
	done
	fxt merge trace.?.fxt
	fxt check merged.fxt | grep -E ': ok, [0-9]+ records$'
	python3 "$BATS_TEST_DIRNAME/mpi.py" said merged.fxt | sort | diff <(sort out) -
	# What is left of a program without MPI is not touched.
	fxtrun -o plain.fxt counted 3 2>err
	fxt dump plain.fxt | fails grep libmpi
}

@test "a job with ranks that are not recorded does as it does bare; the messages and clocks of the others are recorded" {
	local recorded

	needs_wrappers
	mpicc -g -O2 -o every "$root/tests/programs/mpi/every.c"
	fxtrun -o other.fxt counted 3 2>err
	timeout 300 mpirun --oversubscribe -n 4 ./every | sort >bare
	for recorded in '0 1' '2 3' '1'; do
		case $recorded in
		'0 1') set -- -n 2 fxtrun ./every : -n 2 ./every ;;
		'2 3') set -- -n 2 ./every : -n 2 fxtrun ./every ;;
		1) set -- -n 1 ./every : -n 1 fxtrun ./every : -n 2 ./every ;;
		esac
		rm -f trace.*
		timeout 300 mpirun --oversubscribe "$@" 2>err | sort >out || { cat err && return 1; }
		diff <(grep -v Testall bare) <(grep -v Testall out)
		for trace in trace.?.fxt; do
			[ "${#recorded}" = 1 ] || fxt dump "$trace" | grep -q 'name="clock"'
		done
		fxt merge -o merged.fxt trace.?.fxt other.fxt >said
		grep -E '^(calls|message) ' out | awk -v recorded=" $recorded " '
			index(recorded, " " $2 " ") && ($1 == "calls" || index(recorded, " " $3 " "))' >expected
		python3 "$BATS_TEST_DIRNAME/mpi.py" said merged.fxt | sort | diff expected -
	done
}

# job_with_wrong_clocks: of four ranks, each with a CLOCK_MONOTONIC of its own
job_with_wrong_clocks()
{
	mpicc -g -O2 -o every "$root/tests/programs/mpi/every.c"
	job_in_time_namespaces 4 ./every
}

# job_in_time_namespaces N PROGRAM: of N ranks, each with a CLOCK_MONOTONIC of its own
job_in_time_namespaces()
{
	cat >late <<-'END'
		#!/bin/sh
		exec unshare --time --monotonic $((86400 * (OMPI_COMM_WORLD_RANK + 1))) --fork "$@"
	END
	chmod +x late
	unshare --time --monotonic 86400 --fork true 2>why || skip "no time namespaces here: $(cat why)"
	timeout 300 mpirun --oversubscribe -n "$1" ./late fxtrun --no-sched "$2" >out 2>err || { cat err && return 1; }
}

@test "ranks whose clocks are days apart are put on one clock, as exactly as fxt merge says of each" {
	local rate

	needs_wrappers
	job_with_wrong_clocks
	fxt merge trace.?.fxt | tee said
	head -1 said | grep 'by round trips of MPI between the ranks, to .* messages between ranks'
	[ "$(grep -c '^trace\..\.fxt: to ' said)" = 4 ]
	fxt info merged.fxt | grep 'by round trips of MPI'
	fxt check merged.fxt | grep -E ': ok, [0-9]+ records$'
	python3 "$BATS_TEST_DIRNAME/mpi.py" said merged.fxt | sort | diff <(sort out) -
	rate=$(fxt dump trace.0.fxt | sed -n '/ initialization /{s/.*=//p;q}')
	python3 "$BATS_TEST_DIRNAME/mpi.py" residual merged.fxt said "$rate" trace.?.fxt
}

@test "a clock that drifts: comparisons during the run make the merged times more exact" {
	needs_wrappers
	mpicc -g -O2 -finstrument-functions -rdynamic -o drift "$root/tests/programs/mpi/drift.c" -ldl
	job_in_time_namespaces 2 ./drift
	fxt merge trace.?.fxt | tee said
	grep 'by round trips of MPI between the ranks, to ' said
	fxt check merged.fxt | grep -E ': ok, [0-9]+ records$'
	for trace in trace.?.fxt; do
		python3 "$BATS_TEST_DIRNAME/mpi.py" between "$trace"
	done
	fxt merge -o without.fxt trace.?.fxt
	python3 "$BATS_TEST_DIRNAME/mpi.py" drift merged.fxt without.fxt out
}

@test "messages that seem to be received before they were sent: the traces are moved until none is, and that is said" {
	needs_wrappers
	job_with_wrong_clocks
	# One rank is two seconds ahead of what its round trips said, and another one behind.
	python3 "$BATS_TEST_DIRNAME/mpi.py" spoil trace.1.fxt -2000000000
	python3 "$BATS_TEST_DIRNAME/mpi.py" spoil trace.2.fxt 1000000000
	fxt merge trace.?.fxt | tee said
	grep -E '[0-9]+ of [0-9]+ messages between ranks seemed to be received before they were sent, by up to [12]\.[0-9]+ s: . traces? w.* moved, by up to .*, and none is now$' said
	grep -E '^trace\.1\.fxt: to .*, moved by ' said
	fxt info merged.fxt | grep 'moved, by up to'
	python3 "$BATS_TEST_DIRNAME/mpi.py" said merged.fxt | sort | diff <(sort out) -
	python3 "$BATS_TEST_DIRNAME/mpi.py" order merged.fxt
}

@test "fxt report --mpi names a planted late sender, late receiver, slow rank of a collective call, and imbalance" {
	needs_wrappers
	mpicc -g -O2 -finstrument-functions -o planted "$root/tests/programs/mpi/planted.c"
	job 4 ./planted
	fxt merge trace.?.fxt >said
	fxt report --mpi merged.fxt
	fxt report --mpi --json merged.fxt >answer
	jq -c '.traces[0].tables[] | select(.name == "waits").rows[] | select(.longest_ns > 500000000) |
		[.wait, .rank, .function, .late_rank]' answer | sort >waits
	for wait in '["late sender",1,"MPI_Recv",2]' '["late receiver",3,"MPI_Ssend",1]' \
		'["all ranks",1,"MPI_Allreduce",0]' '["all ranks",2,"MPI_Allreduce",0]' \
		'["all ranks",3,"MPI_Allreduce",0]'; do
		grep -Fx "$wait" waits
	done
	jq -c '.traces[0].tables[] | select(.name == "imbalance").rows[] | select(.function == "uneven") |
		[.ranks, .rank, .excess_ns > 300000000]' answer | grep -Fx '[4,3,true]'
	jq -c '.traces[0].tables[] | select(.name == "messages").rows[] | [.from_rank, .to_rank, .messages, .total_bytes]' \
		answer | sort | paste -sd ' ' | grep -Fx '[2,1,1,4] [3,1,1,4]'
	# fxt why follows both waits to the rank that was late, and to what it did instead.
	decode times merged.fxt >times
	for wait in 'MPI_Recv 2 MPI_Send' 'MPI_Ssend 1 MPI_Recv'; do
		read -r waiting rank late <<<"$wait"
		fxt why --json "$waiting" merged.fxt >why.json
		jq -e --argjson rank "$rank" '.traces[0] | .facts.late_rank == $rank and
			((.tables[] | select(.name == "late").rows) as $rows |
			($rows[0] | .function == "prepares_late" and .time_ns > 500000000) and
			(([$rows[].time_ns] | add) - .facts.late_ns | . <= 0 and . >= -($rows | length)))' why.json
		awk -F'\t' -v off=99 -v waiting="$waiting" -v late="$late" -v said="$(jq .traces[0].facts.late_ns why.json)" '
			$4 == waiting && $6 > longest { longest = $6; from = $5; to = $5 + $6 }
			{ name[NR] = $4; start[NR] = $5 }
			END { for (i in name) if (name[i] == late && start[i] > from && start[i] <= to) off = start[i] - from - said
				exit !(off >= -2 && off <= 2) }' times
	done
	fxt why MPI_Recv merged.fxt | grep -E '^rank 2 was late: its MPI_Send began .* later; it was in main$'
	# The page has the messages as arrows from rank to rank.
	fxt html -o page.html merged.fxt
	sed -n '/<script type="application\/json" id="data">/,/<\/script>/{s/.*id="data">//;s/<\/script>.*//;p}' page.html >page.json
	jq -c '. as $page | .timeline.arrows[] | [.[0, 2] | $page.ranks[$page.threads[tostring][0] | tostring]]' page.json |
		sort | paste -sd ' ' | grep -Fx '[2,1] [3,1]'
}

@test "fxt-gather brings the traces of all ranks to a folder, byte by byte" {
	needs_wrappers
	mkdir local
	timeout 300 mpirun --oversubscribe -n 3 fxtrun -o local/t.%r.trace counted 5 2>err || { cat err && return 1; }
	# A file of several blocks, and one that ends with a block.
	head -c 3500000 /dev/urandom >>local/t.1.trace
	truncate -s 2M local/t.2.trace
	timeout 300 mpirun --oversubscribe -n 3 fxt-gather traces local/t.%r.trace
	diff -r local traces
	# Nothing is overwritten, and a file that is not there is named; the others come.
	rm local/t.1.trace
	fails timeout 300 mpirun --oversubscribe -n 3 fxt-gather others local/t.%r.trace 2>err
	grep -Fx 'fxt-gather: local/t.1.trace: No such file or directory' err
	diff local others
	echo precious >traces/t.1.trace
	rm traces/t.2.trace
	fails timeout 300 mpirun --oversubscribe -n 3 fxt-gather traces local/t.%r.trace 2>err
	grep -Fx 'fxt-gather: traces/t.0.trace: File exists' err
	grep -Fx precious traces/t.1.trace
	cmp local/t.2.trace traces/t.2.trace
}
