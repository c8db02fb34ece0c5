/*
 * The walk over an archive that rewrites its records; rewrite.h says which and how. Other
 * records are copied in large blocks, and only their headers are read.
 */
#ifndef FXT_SYMBOLIZER_RECORDS_H
#define FXT_SYMBOLIZER_RECORDS_H

#include "rewrite.h"

/* Writes the finished archive to out_fd. Returns 0 or an errno value: ENOMEM, or that of a
 * failed write. */
int fxt_rewrite_records(const struct fxt_archive *archive, int out_fd,
        const struct fxt_rewrite_options *options, struct fxt_rewrite_result *result);

/* Writes the profiles of an archive's heap to out_fd, to follow the archive. Writes nothing
 * if the archive has no heap or already has profiles. Returns as above. */
int fxt_rewrite_profiles(const struct fxt_archive *archive, int out_fd, uint64_t ticks_per_second);

#endif
