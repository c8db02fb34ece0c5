/*
 * The events of a trace in the order of the file, one at a time, for formats that hold
 * events. Times are in nanoseconds; ids are those of the event's tables.
 */
#ifndef FXT_FXT_EXPORT_EVENTS_H
#define FXT_FXT_EXPORT_EVENTS_H

#include "export.h"

struct fxt_export_event {
	enum fxt_event_type type;
	uint32_t thread, category, name;
	uint64_t ns;
	uint64_t end_ns; /* for a complete duration; >= ns */
	uint64_t extra;  /* counter id, or correlation id */
	struct fxt_arguments arguments;
	struct fxt_tables *tables; /* in the state of the event's place in the file */
};

typedef void fxt_export_visit(void *state, const struct fxt_export_event *event);

/* Scans the trace for what must be known beforehand: threads, and their last names. The
 * caller frees the scan. */
void fxt_export_scan(struct fxt_export *e, struct fxt_scan *scan);

/* Reads the events, each once. Functions have the texts that they have in the scan. */
void fxt_export_events(
        struct fxt_export *e, const struct fxt_scan *scan, fxt_export_visit *visit, void *state);

/* A flow's id for formats with one id space for all processes. */
uint64_t fxt_export_flow_id(const struct fxt_export_event *event);

/* ---- numbers ---- */

/* Prints a time in microseconds, with three decimals, so that its last digit is
 * nanoseconds. */
void fxt_export_microseconds(FILE *out, uint64_t ns);

/* Prints a number in decimal digits, as printf() does, but faster. */
void fxt_export_number(FILE *out, uint64_t number);

#endif
