/*
 * Streaming: writes the committed records of a provider to the archive before its buffer is
 * full. If the program, its fxtrun and its manager are all killed at once, the file has
 * all records but those of the last moments.
 *
 *     committed --seen, at most 0.2 s later--> 0.3 s go by --> saved, without a word to the program
 *
 * A buffer that is handed over within that time is saved by the handover. Therefore saving
 * ahead costs nothing at full speed, and nothing for a program that commits no records. The
 * ledger does not know of it: if the manager alone is killed, the records saved ahead are
 * dropped, and taken again with the rest of their buffer.
 *
 * Everything here runs on the provider's thread.
 */
#ifndef FXT_LAUNCHER_MANAGER_AHEAD_H
#define FXT_LAUNCHER_MANAGER_AHEAD_H

#include "provider.h"

struct fxt_ahead {
	uint64_t saved;    /* fxt_ahead_progress() at the last time when everything was in
	                    * the archive */
	uint64_t since_ns; /* time since which there is more than that; 0: no more was seen */
	uint64_t look_ns;  /* time of the next look */
	uint32_t saves;    /* buffers handed over before the last look */
};

/* Saves records that are due. Returns in how many nanoseconds to call again, at most
 * `wait`. */
uint64_t fxt_ahead_look(struct fxt_ahead *ahead, struct fxt_provider *provider, uint64_t wait);

/* A sum that changes with every record that the provider commits. */
uint64_t fxt_ahead_progress(const struct fxt_provider *provider);

/* The provider has cleared its buffers: drops the records saved ahead from them from the
 * archive. */
void fxt_ahead_clear(struct fxt_provider *provider);

#endif
