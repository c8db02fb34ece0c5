/*
 * The walk over an archive that rewrites its records; rewrite.h tells which and how. What is not rewritten is
 * moved in large blocks and not looked at beyond its header.
 */
#ifndef FXT_SYMBOLIZER_RECORDS_H
#define FXT_SYMBOLIZER_RECORDS_H

#include "rewrite.h"

/* Writes the finished archive to out_fd. Returns 0 or an errno value: ENOMEM, or of a failed write. */
int fxt_rewrite_records(const struct fxt_archive *archive, int out_fd,
        const struct fxt_rewrite_options *options, struct fxt_rewrite_result *result);

/* Writes to out_fd what belongs behind an archive: profiles of its heap, unless it has none or has them.
 * Returns as above. */
int fxt_rewrite_profiles(const struct fxt_archive *archive, int out_fd, uint64_t ticks_per_second);

#endif
