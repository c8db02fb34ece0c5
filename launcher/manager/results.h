/*
 * Writes a provider's records from its memory to the archive when a run ends: at a stop
 * that saves results, and at the end of the provider. Everything runs on the provider's
 * thread, except fxt_results_write_call_cost() and fxt_results_write_moment().
 */
#ifndef FXT_LAUNCHER_MANAGER_RESULTS_H
#define FXT_LAUNCHER_MANAGER_RESULTS_H

#include "provider.h"

/* Saves the buffers of a provider that has just stopped: RECORDING, SAVING_RESULTS,
 * SAVED. */
void fxt_results_save(struct fxt_provider *provider);

/* Saves the rest of an ended provider that has begun to record at least once. From STOPPED
 * and RECORDING it enters SAVING_REST; in SAVED the archive has everything already. Waits
 * for a running process to fall quiet. */
void fxt_results_save_rest(struct fxt_provider *provider);

/* Writes the cost of recording a call into an archive that has records of the provider;
 * nothing if the cost was not measured. */
void fxt_results_write_call_cost(const struct fxt_provider *provider, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity, uint64_t ticks);

/* Writes an instant event that says what happened at that time; nothing is known of the
 * provider after it. Calls that are still open extend to it. */
void fxt_results_write_moment(const struct fxt_provider *provider, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity, const char *name, uint64_t ticks);

/* Writes the filter changes and muted functions that are not in the trace yet. `counter`
 * has the calls of the muted functions that were not reported yet. Returns the last change
 * written. */
const struct fxt_filter_change *fxt_results_write_changes(const struct fxt_provider *provider,
        struct fxt_archive_writer *archive, struct fxt_archive_provider *identity,
        struct fxt_call_counter *counter);

#endif
