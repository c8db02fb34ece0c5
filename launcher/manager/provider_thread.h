/*
 * The thread of a provider. It waits for the provider's packets (packets.h), allocates
 * pages ahead of it (memory.h), and writes the counters of its heap. After the provider's
 * end it saves the rest (results.h).
 */
#ifndef FXT_LAUNCHER_MANAGER_PROVIDER_THREAD_H
#define FXT_LAUNCHER_MANAGER_PROVIDER_THREAD_H

#include "provider.h"
#include "writer/engine/heap.h"

/* Prepares the provider and starts its thread; fxt_provider_join() ends it. Returns 0, or
 * an errno value: no thread was started. */
int fxt_provider_start(struct fxt_provider *provider, const struct fxt_provider_config *config);

/* Writes the description of its process, if it still has one. From any thread. */
void fxt_provider_describe(const struct fxt_provider *provider, struct fxt_archive_writer *archive);

/* Writes the rest of a provider that was aborted or that has a known ending. It is the last
 * call of its thread; without a thread, the caller's. The counters are those written so
 * far. */
void fxt_provider_finish(struct fxt_provider *provider, struct fxt_heap_counters *counters);

#endif
