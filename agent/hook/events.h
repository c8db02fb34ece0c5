/*
 * What the agent tells of a program besides its calls: a few events at places that are rare or slow anyway.
 * Their names stand in the records themselves, so that nothing has to be registered first.
 */
#ifndef FXT_AGENT_EVENTS_H
#define FXT_AGENT_EVENTS_H

#include "claim.h"
#include "writer/encode.h"

/* The index-free name of an argument, category or event. */
static inline struct fxt_string agent_text(const char *text)
{
	return fxt_string_inline(text, __builtin_strlen(text));
}

/* Whether events of a category are recorded. */
bool agent_records_category(const char *category);

/* Writes an event into a claimed block; false: there is no room, it is left out. `extra` as in
 * fxt_put_event(). */
bool agent_write_event(struct fxt_block *block, enum fxt_event_type type, const char *category,
        const char *name, uint64_t ticks, const struct fxt_argument *arguments, size_t count, uint64_t extra);

/* An instant, now, on the calling thread. */
void agent_instant(
        const char *category, const char *name, const struct fxt_argument *arguments, size_t count);

/* The beginning of a slice on the calling thread; 0 = it is not recorded. */
uint64_t agent_slice_begin(const char *category);

/* The slice, ending now. */
void agent_slice_end(uint64_t begin, const char *category, const char *name,
        const struct fxt_argument *arguments, size_t count);

/* An arrow's identity, for its two ends; never 0. Viewers take equal ids for one flow, whichever process they
 * are in, so the process is part of it, in the upper half; the lower one is its number. */
uint64_t agent_new_flow(void);

/* The same for so many arrows, whose numbers follow each other: that of the first. */
uint32_t agent_new_flows(uint32_t count);
uint64_t agent_flow_id(uint32_t number);

/* The number of the arrow that began last. */
uint32_t agent_latest_flow(void);

/* One end of a flow, of that type, and the slice it has to lie in, into a claimed block: both or neither.
 * They share a chunk, so circular buffering does not overwrite the one without the other. ticks: the slice's
 * beginning, the flow's time, the slice's end. False: there is no room. */
bool agent_write_arrow(struct fxt_block *block, enum fxt_event_type type, const char *category,
        const char *slice, const char *name, const uint64_t ticks[3], uint64_t flow);

/* The same, now, on the calling thread, the slice named as the flow is; flow 0: the slice alone. False: it
 * was not recorded, so the flow's other end must not be. */
bool agent_mark_flow(const char *category, const char *name, uint64_t flow, bool is_end);

#endif
