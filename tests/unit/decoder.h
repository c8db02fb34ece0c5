/*
 * The trace that comes out of an engine under test: a decoder of what the engine writes,
 * with a few lines of its own.
 */
#ifndef FXT_TESTS_UNIT_DECODER_H
#define FXT_TESTS_UNIT_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIG_PROCESS   UINT64_C(4242)            /* the koid of the process that every record is of */
#define STRINGS_BYTES (sizeof(char[32768][48])) /* of a trace's table */

enum event_kind { EVENT_CALL, EVENT_OPEN_CALL, EVENT_LOSS, EVENT_OVERWRITTEN, EVENT_WAIT };

struct event {
	uint64_t koid, function, start, end;
	uint64_t records; /* of a loss */
	enum event_kind kind;
	bool is_abandoned;
};

struct trace {
	struct event *events;
	size_t count, room;
	char (*strings)[48]; /* by index */
	uint64_t threads[256];
	uint64_t *named; /* koids that have a kernel object */
	size_t named_count, named_room;
	unsigned initializations;
	uint64_t rate;
	uint64_t bytes;
	bool is_bad; /* something in it refers to nothing, or is not known here */
};

/* Frees what the trace holds, and empties it. */
void trace_reset(struct trace *t);

/* Decodes whole records into a trace, the context; a collector's output. Returns 0. */
int trace_take(void *context, const void *records, uint64_t bytes);

/* Whether a kernel object named the thread. */
bool trace_names(const struct trace *t, uint64_t koid);

/* Events of a kind of a thread, 0 = of all; losses count their records. */
uint64_t trace_count(const struct trace *t, enum event_kind kind, uint64_t koid);

/*
 * Whatever a viewer needs: on each thread starts differ by whole nanoseconds (so no call is
 * there twice), nothing ends before it starts, and no two slices overlap in part. Sorts the
 * events.
 */
void trace_check_nesting(struct trace *t);

#endif
