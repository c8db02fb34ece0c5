/*
 * Records events of the program that are not calls. They are few, and happen at places that
 * are rare or slow anyway. Their names are inline in the records, so nothing has to be
 * registered first.
 */
#ifndef FXT_AGENT_EVENTS_H
#define FXT_AGENT_EVENTS_H

#include "claim.h"
#include "writer/format/encode.h"

/* An inline string for the name of an argument, a category or an event: it needs no
 * index. */
static inline struct fxt_string agent_text(const char *text)
{
	return fxt_string_inline(text, __builtin_strlen(text));
}

/* Whether events of a category are recorded. */
bool agent_records_category(const char *category);

/* Writes an event into a claimed writer. `extra` is as in fxt_put_event(). False: there is
 * no room, and the event is dropped. */
bool agent_write_event(struct fxt_thread_writer *writer, enum fxt_event_type type, const char *category,
        const char *name, uint64_t ticks, const struct fxt_argument *arguments, size_t count, uint64_t extra);

/* Writes an instant, now, on the calling thread. */
void agent_instant(
        const char *category, const char *name, const struct fxt_argument *arguments, size_t count);

/* Begins a slice on the calling thread. Returns its begin for agent_slice_end(); 0: it is
 * not recorded. */
uint64_t agent_slice_begin(const char *category);

/* Writes the slice that began at `begin` and ends now. Does nothing if `begin` is 0. */
void agent_slice_end(uint64_t begin, const char *category, const char *name,
        const struct fxt_argument *arguments, size_t count);

/* Returns the id of a new flow, which viewers draw as an arrow; never 0. Equal ids are one
 * flow to viewers, even in different processes. Therefore the upper half of an id is the
 * process's koid, and the lower half is the flow's number. */
uint64_t agent_new_flow(void);

/* Reserves consecutive numbers for `count` flows, and returns the first one. */
uint32_t agent_new_flows(uint32_t count);
uint64_t agent_flow_id(uint32_t number);

/* Returns the number that was given out last. */
uint32_t agent_latest_flow(void);

/* Writes one end of a flow (`type`) into a claimed writer, and the slice that it has to lie
 * in: both or neither. They share a chunk, so circular buffering never overwrites only one
 * of them. `ticks` are the slice's begin, the flow's time, and the slice's end. `object` is
 * what the thread releases, or NULL; the flow has it, because a slice of this category with
 * an object is a wait to readers. False: there is no room. */
bool agent_write_arrow(struct fxt_thread_writer *writer, enum fxt_event_type type, const char *category,
        const char *slice, const char *name, const uint64_t ticks[3], uint64_t flow, const void *object);

/* Writes one end of a flow, now, on the calling thread, in a slice with the flow's name.
 * `object` is as above. With flow 0 it writes the slice alone. False: it was not recorded,
 * so the caller must not record the flow's other end. */
bool agent_mark_flow(const char *category, const char *name, uint64_t flow, bool is_end, const void *object);

#endif
