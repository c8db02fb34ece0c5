#include "decoder.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

void trace_reset(struct trace *t)
{
	free(t->events);
	free(t->named);
	free(t->strings);
	memset(t, 0, sizeof(*t));
}

static const char *trace_text(struct trace *t, uint64_t ref, const uint64_t **at, char buffer[64])
{
	size_t bytes = ref & 0x7fff;

	buffer[0] = 0;
	if (ref & 0x8000) {
		memcpy(buffer, *at, bytes < 63 ? bytes : 63);
		buffer[bytes < 63 ? bytes : 63] = 0;
		*at += (bytes + 7) / 8;
		return buffer;
	}
	if (ref && !t->strings[ref][0])
		t->is_bad = true;
	return ref ? t->strings[ref] : "";
}

static void trace_event(struct trace *t, const uint64_t *record)
{
	struct event event = {.start = record[1]};
	uint64_t header = record[0], type = header >> 16 & 15, thread = header >> 24 & 255;
	const uint64_t *at = record + 2;
	char buffer[2][64], fate[16];

	event.koid = thread ? t->threads[thread] : at[1];
	at += thread ? 0 : 2;
	const char *category = trace_text(t, header >> 32 & 0xffff, &at, buffer[0]);
	const char *name = trace_text(t, header >> 48, &at, buffer[1]);

	if (!event.koid)
		t->is_bad = true;
	if (strcmp(category, "function") == 0) {
		event.kind = type == 2 ? EVENT_OPEN_CALL : EVENT_CALL;
		event.is_abandoned = (header >> 20 & 15) == 1;
		if (sscanf(name, "{{{pc:%" SCNx64 ":", &event.function) != 1)
			t->is_bad = true;
	} else if (strcmp(category, "fxt") == 0 && strcmp(name, "fxt: waited") == 0) {
		event.kind = EVENT_WAIT;
	} else if (strcmp(category, "fxt") == 0 &&
	           sscanf(name, "fxt: %" SCNu64 " records %15s", &event.records, fate) == 2) {
		event.kind = strcmp(fate, "lost") == 0 ? EVENT_LOSS : EVENT_OVERWRITTEN;
		if (at[1] != event.records) /* its argument */
			t->is_bad = true;
	} else {
		t->is_bad = true;
	}
	if (type == 0)
		event.end = event.start;
	else if (type != 2)
		event.end = record[(header >> 4 & 0xfff) - 1];
	if (t->count == t->room)
		t->events = realloc(t->events, (t->room = t->room * 2 + 1024) * sizeof(event));
	t->events[t->count++] = event;
}

int trace_take(void *context, const void *records, uint64_t bytes)
{
	struct trace *t = context;
	const uint64_t *record = records, *end = record + bytes / 8;
	char buffer[64];

	if (!t->strings)
		t->strings = calloc(1, STRINGS_BYTES);
	t->bytes += bytes;
	for (; record < end; record += record[0] >> 4 & 0xfff) {
		const uint64_t *at = record + 2;
		uint64_t header = record[0];

		if ((header >> 4 & 0xfff) == 0 || (header >> 4 & 0xfff) > (uint64_t)(end - record)) {
			t->is_bad = true;
			break;
		}
		switch (header & 15) {
		case 1:
			t->initializations++;
			t->rate = record[1];
			break;
		case 2:
			memset(t->strings[header >> 16 & 0x7fff], 0, 48);
			memcpy(t->strings[header >> 16 & 0x7fff], record + 1, header >> 32 & 0x7fff);
			break;
		case 3:
			t->threads[header >> 16 & 255] = record[1] == RIG_PROCESS ? record[2] : 0;
			break;
		case 4:
			trace_event(t, record);
			break;
		case 7:
			if (!trace_text(t, header >> 24 & 0xffff, &at, buffer)[0])
				t->is_bad = true;
			if (t->named_count == t->named_room)
				t->named = realloc(t->named, (t->named_room = t->named_room * 2 + 64) * 8);
			t->named[t->named_count++] = record[1];
			break;
		default:
			t->is_bad = true;
		}
	}
	return 0;
}

bool trace_names(const struct trace *t, uint64_t koid)
{
	for (size_t i = 0; i < t->named_count; i++)
		if (t->named[i] == koid)
			return true;
	return false;
}

uint64_t trace_count(const struct trace *t, enum event_kind kind, uint64_t koid)
{
	uint64_t count = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->events[i].kind == kind && (!koid || t->events[i].koid == koid))
			count += t->events[i].records ? t->events[i].records : 1;
	return count;
}

static int by_thread_and_start(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->koid != y->koid)
		return x->koid < y->koid ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

void trace_check_nesting(struct trace *t)
{
	size_t depth = 0;
	uint64_t *ends = malloc((t->count + 1) * sizeof(*ends));

	assert_false(t->is_bad);
	if (t->count)
		qsort(t->events, t->count, sizeof(*t->events), by_thread_and_start);
	for (size_t i = 0; i < t->count; i++) {
		const struct event *event = &t->events[i], *before = event - 1;
		uint64_t end = event->kind == EVENT_OPEN_CALL ? UINT64_MAX : event->end;

		if (i == 0 || event->koid != before->koid)
			depth = 0;
		else if (event->start * 1000 / (t->rate / 1000000) <=
		         before->start * 1000 / (t->rate / 1000000))
			fail_msg("two slices start in the same nanosecond: kinds %d, %d", before->kind,
			        event->kind);
		if (end < event->start)
			fail_msg("a slice of kind %d ends before it starts", event->kind);
		while (depth && ends[depth - 1] <= event->start)
			depth--;
		if (depth && end > ends[depth - 1])
			fail_msg("a slice of kind %d overlaps another in part", event->kind);
		ends[depth++] = end;
	}
	free(ends);
}
