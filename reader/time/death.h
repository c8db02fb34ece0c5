/*
 * How a process was killed: the instant "killed" of category "process" on the row of the thread that died, or
 * of the main thread where that is not known; and the one way in which that is told.
 */
#ifndef FXT_READER_DEATH_H
#define FXT_READER_DEATH_H

#include <stdio.h>
#include "reader/trace/tables.h"

enum fxt_death_origin {
	FXT_DEATH_BY_FAULT, /* or it is not known */
	FXT_DEATH_BY_ITSELF,
	FXT_DEATH_FROM_OUTSIDE,
};

/* The origin as the event has it, but for a fault. */
#define FXT_DEATH_ITSELF  "itself"
#define FXT_DEATH_OUTSIDE "outside"

struct fxt_death {
	struct fxt_koids koids; /* thread 0: which one is not known, or the signal was for none of them */
	int signal;
	enum fxt_death_origin origin;
	char code[24]; /* "SEGV_MAPERR"; "": not known */
	bool has_address;
	uint64_t address;
	uint64_t sender; /* koid of the process that sent the signal; 0 = not known */
};

/* Whether a record is such an instant, and what it says. */
bool fxt_death_read(struct fxt_tables *t, const struct fxt_view *view, struct fxt_death *death);

/* Writes "killed by SIGSEGV (11), SEGV_MAPERR at address 0x0"; "killed by SIGKILL (9), from outside". */
void fxt_death_write(FILE *out, const struct fxt_death *death);

/* Writes 'thread 17 "worker" of process 12 "server"', or the process alone, unless it has no more threads. */
void fxt_death_write_who(FILE *out, const struct fxt_tables *t, const struct fxt_death *death);

#endif
