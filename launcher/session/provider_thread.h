/*
 * The thread of a provider: waits for its packets (packets.h), allocates pages ahead of it (memory.h), writes
 * the counters of its heap, and once it is told of the end saves what is left (results.h).
 */
#ifndef FXT_LAUNCHER_SESSION_PROVIDER_THREAD_H
#define FXT_LAUNCHER_SESSION_PROVIDER_THREAD_H

#include "provider.h"
#include "writer/heap.h"

/* Prepares the provider and starts its thread; fxt_provider_join() ends it. Returns 0, or an errno value: no
 * thread was started. */
int fxt_provider_start(struct fxt_provider *provider, const struct fxt_provider_terms *terms);

/* Writes the description of its process, if it has one still. In any thread. */
void fxt_provider_describe(const struct fxt_provider *provider, struct fxt_archive_writer *archive);

/* How the provider ended is known, or it was aborted: writes what is left to be written. The last that its
 * thread does; without one, the caller's. The counters are those that were written so far. */
void fxt_provider_finish(struct fxt_provider *provider, struct fxt_heap_counters *counters);

#endif
