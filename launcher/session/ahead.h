/*
 * Streaming: saves what a provider has committed before its buffer is full, so that a program, its fxtrun and
 * its recorder that are all killed at once leave a file that has all but the last moments.
 *
 *     committed --seen, at most 0.2 s later--> 0.3 s go by --> saved, without a word to the program
 *
 * A buffer that is handed over within that time is saved by that. So this costs nothing at full speed, and
 * neither does a program that commits nothing. The ledger does not know of it: if the recorder alone is
 * killed, what was saved ahead is dropped and taken again with the rest of its buffer.
 *
 * All in the provider's thread.
 */
#ifndef FXT_LAUNCHER_SESSION_AHEAD_H
#define FXT_LAUNCHER_SESSION_AHEAD_H

#include "provider.h"

struct fxt_ahead {
	uint64_t saved;    /* fxt_ahead_progress() when all of it was in the archive */
	uint64_t since_ns; /* since when there is more than that; 0: there is not, as far as was looked */
	uint64_t look_ns;  /* when to look again */
	uint32_t saves;    /* buffers handed over by then */
};

/* Saves what is due. Returns in how many nanoseconds to come back, at most `wait`. */
uint64_t fxt_ahead_look(struct fxt_ahead *ahead, struct fxt_provider *provider, uint64_t wait);

/* A sum that changes with every record that the provider commits. */
uint64_t fxt_ahead_progress(const struct fxt_provider *provider);

/* The provider has cleared its buffers: what was saved of them ahead is dropped from the archive. */
void fxt_ahead_clear(struct fxt_provider *provider);

#endif
