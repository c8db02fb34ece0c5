/*
 * The closing protocol (writer/engine/closing.h): two threads record calls by the fast path, a closer takes their chunks away
 * and hands them over, and the process may die between any two steps.
 *
 * Each thread's stores go through a store buffer, in order, and reach memory at any time later; membarrier and the
 * lock empty it. That is x86; what the processor may do to the three stores of a commit besides is what its release is
 * for, and is not modelled.
 *
 * Claimed: no byte is stored to a chunk that was handed over, unless its thread is stalled in it; and a death at any
 * moment leaves each call that has begun exactly once: as a record handed over, in a chunk or late, or as a frame.
 *
 * Variants that must fail, so that the model is known to be able to: NO_MEMBARRIER; NO_WAIT (a thread inside is closed
 * like any other); LATE_BY_RANGE (the collector does not ask whether committed is in the chunk of late_record); LATE_TWICE
 * (it does not look for late_record in an open chunk); FRAME_LAST (the frame goes after busy is 0).
 */
#ifndef THREADS
#define THREADS 2
#define CALLS   2
#define CLOSES  1
#endif
#define CHUNKS  4 /* of a thread; 0 is none */

#define PLACE(chunk, records) ((chunk) * 4 + (records)) /* an address: so many records into the chunk */
#define CHUNK(place)          ((place) / 4)
#define RECORDS(place)        ((place) % 4)
#define AT(w, place)          ((w) * CHUNKS * 4 + (place))
#define OF(w, chunk)          ((w) * CHUNKS + (chunk))
#define CALL(w, call)         ((w) * (CALLS + 1) + (call))

mtype = { BUSY, RECORD, COMMIT };

chan stores[THREADS] = [4] of { mtype, byte, byte }; /* what, where, value */

bit dead, lock;

/* Memory, as the others see it. */
bit busy[THREADS], limit[THREADS];
byte committed[THREADS], late_record[THREADS];
byte memory[THREADS * CHUNKS * 4]; /* the call of the record at a place */
bit closed[THREADS * CHUNKS];
byte length[THREADS * CHUNKS]; /* of a closed chunk */

/* Under the lock. */
byte open_chunk[THREADS], chunks[THREADS];
bit stalled[THREADS];
bit given_out[THREADS * CHUNKS]; /* its bytes may hold something else by now */

/* The shadow stack, read after death only. */
byte frame[THREADS], begun[THREADS];

/* The manager: chunks it saved, and how often it has each call. */
bit saved[THREADS * CHUNKS];
byte found[THREADS * (CALLS + 1)];

inline reach_memory(w)
{
	stores[w]?what, where, value;
	if
	:: what == BUSY -> busy[w] = value
	:: what == RECORD ->
		assert(!given_out[OF(w, CHUNK(where))]);
		memory[AT(w, where)] = value
	:: what == COMMIT -> committed[w] = where
	fi
}

inline drain(w)
{
	do
	:: nempty(stores[w]) -> reach_memory(w)
	:: empty(stores[w]) -> break
	od
}

inline drain_all()
{
	w = 0;
	do
	:: w == THREADS -> break
	:: else -> drain(w); w++
	od
}

/* Stores reach memory by themselves, one at a time. */
proctype processor(byte w) provided (!dead)
{
	mtype what;
	byte where, value;

end:
	do
	:: atomic { nempty(stores[w]) -> reach_memory(w) }
	od
}

proctype thread(byte w) provided (!dead)
{
	mtype what;
	byte where, value, call, place;
	bit has_room;

	do
	:: call == CALLS -> break
	:: else ->
		call++;
		atomic { begun[w] = call; frame[w] = call };
		/* The fast path. A thread sees its own stores at once: here what it committed last. */
		stores[w]!BUSY, 0, 1;
		atomic {
			if
			:: stores[w]??[COMMIT, eval(place), 0] -> skip
			:: else -> place = committed[w]
			fi
		};
		has_room = limit[w];
		if
		:: has_room ->
			stores[w]!RECORD, place, call;
			place++;
			stores[w]!COMMIT, place, 0;
#ifndef FRAME_LAST
			frame[w] = 0;
#endif
			stores[w]!BUSY, 0, 0;
#ifdef FRAME_LAST
			frame[w] = 0
#endif
		:: else ->
			/* The slow path: another chunk, with what was committed late, then the record. */
			stores[w]!BUSY, 0, 0;
			atomic { !lock -> lock = 1; drain(w) };
			chunks[w]++;
			assert(chunks[w] < CHUNKS);
			place = PLACE(chunks[w], 0);
			if
			:: stalled[w] && committed[w] != late_record[w] ->
				memory[AT(w, place)] = memory[AT(w, late_record[w])];
				place++
			:: else
			fi;
			stalled[w] = 0;
			open_chunk[w] = chunks[w];
			committed[w] = place;
			late_record[w] = 0;
			limit[w] = 1;
			memory[AT(w, place)] = call;
			place++;
			committed[w] = place;
			frame[w] = 0;
			lock = 0
		fi
	od
}

inline close_chunk(w)
{
	length[OF(w, open_chunk[w])] = RECORDS(committed[w]);
	closed[OF(w, open_chunk[w])] = 1
}

inline close_thread(w)
{
	close_chunk(w);
	committed[w] = 0;
	open_chunk[w] = 0
}

inline stall(w)
{
	late_record[w] = committed[w];
	length[OF(w, open_chunk[w])] = RECORDS(late_record[w]);
	closed[OF(w, open_chunk[w])] = 1;
	stalled[w] = 1
}

inline find(w, c, n)
{
	r = 0;
	do
	:: r == n -> break
	:: else -> found[CALL(w, memory[AT(w, PLACE(c, r))])]++; r++
	od
}

/* The manager saves the closed bytes; then they are free, except those that a stalled
 * thread writes to. */
inline hand_over()
{
	w = 0;
	do
	:: w == THREADS -> break
	:: else ->
		c = 1;
		do
		:: c == CHUNKS -> break
		:: else ->
			if
			:: closed[OF(w, c)] && !saved[OF(w, c)] ->
				find(w, c, length[OF(w, c)]);
				saved[OF(w, c)] = 1;
				given_out[OF(w, c)] = !(stalled[w] && open_chunk[w] == c)
			:: else
			fi;
			c++
		od;
		w++
	od
}

proctype closer() provided (!dead)
{
	mtype what;
	byte where, value, w, c, r, closes;

	do
	:: closes == CLOSES -> break
	:: else ->
		atomic { !lock -> lock = 1; closes++; w = 0 };
		do
		:: w == THREADS -> break
		:: else ->
			if
			:: open_chunk[w] && !stalled[w] -> limit[w] = 0
			:: else
			fi;
			w++
		od;
#ifndef NO_MEMBARRIER
		atomic { drain_all() };
#endif
		w = 0;
		do
		:: w == THREADS -> break
		:: else ->
			if
			:: open_chunk[w] && !stalled[w] ->
				if
#ifdef NO_WAIT
				:: close_thread(w)
#else
				:: !busy[w] -> close_thread(w)
				:: busy[w] -> stall(w)
#endif
				fi
			:: else
			fi;
			w++
		od;
		atomic { hand_over(); c = 0; r = 0; w = 0; lock = 0 }
	od
}

/* A processor carries out the stores it was given; then the manager takes the rest. */
proctype death()
{
	mtype what;
	byte where, value, w, c, r;

	atomic {
		dead = 1;
		drain_all();
		w = 0;
		do
		:: w == THREADS -> break
		:: else ->
			c = 1;
			do
			:: c == CHUNKS -> break
			:: else ->
				if
				:: saved[OF(w, c)]
				:: !saved[OF(w, c)] && closed[OF(w, c)] -> find(w, c, length[OF(w, c)])
				:: !saved[OF(w, c)] && !closed[OF(w, c)] && CHUNK(committed[w]) == c ->
#ifdef LATE_TWICE
					find(w, c, RECORDS(committed[w]))
#else
					if /* about to be stalled: what is late is not the chunk's any more */
					:: CHUNK(late_record[w]) == c -> find(w, c, RECORDS(late_record[w]))
					:: else -> find(w, c, RECORDS(committed[w]))
					fi
#endif
				:: else
				fi;
				c++
			od;
			if
#ifdef LATE_BY_RANGE
			:: late_record[w] && committed[w] > late_record[w] ->
#else
			:: late_record[w] && committed[w] > late_record[w] && CHUNK(committed[w]) == CHUNK(late_record[w]) ->
#endif
				found[CALL(w, memory[AT(w, late_record[w])])]++
			:: else
			fi;
			if
			:: frame[w] && RECORDS(committed[w]) && memory[AT(w, committed[w] - 1)] == frame[w]
			:: !frame[w]
			:: else -> found[CALL(w, frame[w])]++
			fi;
			c = 1;
			do
			:: c > begun[w] -> break
			:: else -> assert(found[CALL(w, c)] == 1); c++
			od;
			w++
		od
	}
}

init
{
	byte w;

	atomic {
		do
		:: w == THREADS -> break
		:: else ->
			chunks[w] = 1;
			open_chunk[w] = 1;
			committed[w] = PLACE(1, 0);
			limit[w] = 1;
			run processor(w);
			run thread(w);
			w++
		od;
		run closer();
		run death()
	}
}
