/*
 * How a process was killed. The trace has an instant "killed" of category "process" on the
 * track of the thread that died, or of the main thread if that is unknown. All commands
 * report a death by this code.
 */
#ifndef FXT_READER_DEATH_H
#define FXT_READER_DEATH_H

#include <stdio.h>
#include "reader/trace/tables.h"

enum fxt_death_origin {
	FXT_DEATH_BY_FAULT, /* or the origin is unknown */
	FXT_DEATH_BY_ITSELF,
	FXT_DEATH_FROM_OUTSIDE,
};

/* The origins as the event has them; a fault has none of these. */
#define FXT_DEATH_ITSELF  "itself"
#define FXT_DEATH_OUTSIDE "outside"

struct fxt_death {
	struct fxt_koids koids; /* thread 0: unknown, or the signal was for no particular
	                           thread */
	int signal;
	enum fxt_death_origin origin;
	char code[24]; /* "SEGV_MAPERR"; "": unknown */
	bool has_address;
	uint64_t address;
	uint64_t sender; /* koid of the process that sent the signal; 0: unknown */
};

/* Returns true if a record is such an instant, and decodes it. */
bool fxt_death_read(struct fxt_tables *t, const struct fxt_view *view, struct fxt_death *death);

/* Writes "killed by SIGSEGV (11), SEGV_MAPERR at address 0x0"; "killed by SIGKILL (9), from
 * outside". */
void fxt_death_write(FILE *out, const struct fxt_death *death);

/* Writes 'thread 17 "worker" of process 12 "server"', or the process alone if it has only
 * one thread. */
void fxt_death_write_who(FILE *out, const struct fxt_tables *t, const struct fxt_death *death);

#endif
