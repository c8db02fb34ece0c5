/*
 * What goes from the memory of a provider into the archive when a run ends: at a stop whose results are
 * wanted, and at the end of the provider. All in the provider's thread, but
 * fxt_results_write_call_cost() and fxt_results_write_moment().
 */
#ifndef FXT_LAUNCHER_SESSION_RESULTS_H
#define FXT_LAUNCHER_SESSION_RESULTS_H

#include "provider.h"

/* Saves what the buffers hold of a provider that has just stopped: RECORDING, SAVING_RESULTS, SAVED. */
void fxt_results_save(struct fxt_provider *provider);

/* Saves what a provider left that has ended and has begun to record at least once. In STOPPED and RECORDING
 * it becomes SAVING_REST; in SAVED the archive has all of it. Waits for a process that is still running to
 * fall quiet. */
void fxt_results_save_rest(struct fxt_provider *provider);

/* Writes what recording a call costs into an archive that has records of the provider; nothing, if that was
 * not measured. */
void fxt_results_write_call_cost(const struct fxt_provider *provider, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity, uint64_t ticks);

/* Writes an instant that says what happened at that time, beyond which nothing of the provider is known: to
 * there last the calls that are open. */
void fxt_results_write_moment(const struct fxt_provider *provider, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity, const char *name, uint64_t ticks);

/* Writes when the session's filter was changed, and functions muted, as far as the trace does not tell of it
 * yet. `counter` has the calls of these, as far as they were not told. Returns the last change it tells of.
 */
const struct fxt_filter_change *fxt_results_write_changes(const struct fxt_provider *provider,
        struct fxt_archive_writer *archive, struct fxt_archive_provider *identity,
        struct fxt_call_counter *counter);

#endif
