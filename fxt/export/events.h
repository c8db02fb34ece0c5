/*
 * The events of a trace as they stand in the file, one at a time, for formats that hold events. Times are
 * nanoseconds; ids are those of the event's tables.
 */
#ifndef FXT_FXT_EXPORT_EVENTS_H
#define FXT_FXT_EXPORT_EVENTS_H

#include "export.h"

struct fxt_export_event {
	enum fxt_event_type type;
	uint32_t thread, category, name;
	uint64_t ns;
	uint64_t end_ns; /* of a complete duration; >= ns */
	uint64_t extra;  /* counter id, or correlation id */
	struct fxt_arguments arguments;
	struct fxt_tables *tables; /* as they stand there */
};

typedef void fxt_export_visit(void *state, const struct fxt_export_event *event);

/* Scans the trace, for what has to be known beforehand: threads, and the names they got last. The scan is to
 * be freed. */
void fxt_export_scan(struct fxt_export *e, struct fxt_scan *scan);

/* Reads the events, each once. */
void fxt_export_events(struct fxt_export *e, fxt_export_visit *visit, void *state);

/* A flow's id for formats whose ids are those of all processes. */
uint64_t fxt_export_flow_id(const struct fxt_export_event *event);

/* ---- numbers ---- */

/* A time in microseconds, whose last digit is that of nanoseconds. */
void fxt_export_microseconds(FILE *out, uint64_t ns);

/* A number in decimal digits; as printf() does it, only faster. */
void fxt_export_number(FILE *out, uint64_t number);

#endif
