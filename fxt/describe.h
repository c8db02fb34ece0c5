/*
 * How commands speak of threads, paths of calls, locks and parts of a call's time: texts for the cells of
 * tables (table.h) and for lines. They hold names as the archive has them, without escapes, which tables add.
 */
#ifndef FXT_FXT_WORDS_H
#define FXT_FXT_WORDS_H

#include <stdio.h>
#include "reader/time/causes.h"
#include "reader/time/contention.h"

/* A text that grows by what is printed to `out`. */
struct fxt_describer {
	FILE *out;
	char *text;
	size_t bytes;
};

void fxt_describe_begin(struct fxt_describer *words);

/* What was printed; valid until the words are freed. Nothing can be printed any more. */
struct fxt_span fxt_describe_end(struct fxt_describer *words);
void fxt_describe_free(struct fxt_describer *words);

/* Prints a text as a line (fxt_print_line()), with escapes, on a terminal without what its names can do
 * without (fxt_fold_names()), and frees it. */
void fxt_describe_print(struct fxt_describer *words);

/* thread 17 "worker", of process 12 "server" if that is wanted. */
void fxt_describe_thread(FILE *out, const struct fxt_scan *scan, uint32_t thread, bool with_process);

/* The same for a thread's koid, of which the trace may have no events. */
void fxt_describe_koid(FILE *out, const struct fxt_scan *scan, uint64_t koid);

/* main > serve > handle; "no function" for the thread itself. Of a long path the inner end, of a shorter
 * piece on a terminal; what is the C++ library's in it, such as std::mutex::lock(), is left out. */
void fxt_describe_path(FILE *out, const struct fxt_scan *scan, const struct fxt_paths *paths, uint32_t path);

/* thread 17 "worker" in main > serve > handle: of a wait, or a release. */
void fxt_describe_place(FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits,
        uint32_t thread, uint32_t path);

/* The same for who held a lock; or why that is nobody. */
void fxt_describe_holder(
        FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits, const struct fxt_blame *blame);

/* index_lock, or 0x55d0c0de1139, or fd 5. */
void fxt_describe_object(
        FILE *out, const struct fxt_scan *scan, enum fxt_wait_kind kind, uint32_t symbol, uint64_t object);

/* waiting for index_lock in pthread_mutex_lock, held by thread 17 "keeper" in main > rebuild; sleeping in
 * usleep; waiting in read of fd 5; running in grow, 12288 page faults */
void fxt_describe_part(FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits,
        const struct fxt_faults *faults, const struct fxt_part *part, uint32_t function);

/* A word for a kind of part, for programs: "ran", "preempted". */
const char *fxt_describe_kind(enum fxt_part_kind kind);

#endif
