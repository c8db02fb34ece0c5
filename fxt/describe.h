/*
 * Text descriptions of threads, call paths, locks and parts of a call's time, for table
 * cells (table.h) and lines. They hold names as they are in the archive, without escapes;
 * tables add the escapes.
 */
#ifndef FXT_FXT_DESCRIBE_H
#define FXT_FXT_DESCRIBE_H

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

/* Returns the printed text, which is valid until the words are freed. Ends the printing. */
struct fxt_span fxt_describe_end(struct fxt_describer *words);
void fxt_describe_free(struct fxt_describer *words);

/* Prints a text as a line (fxt_print_line()) with escapes, and frees it. On a terminal,
 * names are shortened (fxt_fold_names()). */
void fxt_describe_print(struct fxt_describer *words);

/* Prints: thread 17 "worker", followed by: of process 12 "server", if `with_process`. */
void fxt_describe_thread(FILE *out, const struct fxt_scan *scan, uint32_t thread, bool with_process);

/* As above, for a thread's koid, even if the trace has no events of that thread. */
void fxt_describe_koid(FILE *out, const struct fxt_scan *scan, uint64_t koid);

/* Prints: main > serve > handle; or "no function" for the thread itself. A long path is
 * reduced to its inner end, which is shorter on a terminal. Functions of the C++
 * library, such as std::mutex::lock(), are left out. */
void fxt_describe_path(FILE *out, const struct fxt_scan *scan, const struct fxt_paths *paths, uint32_t path);

/* Prints the place of a wait or a release: thread 17 "worker" in main > serve > handle. */
void fxt_describe_place(FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits,
        uint32_t thread, uint32_t path);

/* As above, for the thread that held a lock; or the reason why there is none. */
void fxt_describe_holder(
        FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits, const struct fxt_blame *blame);

/* For a wait for a lock that the trace has no release of: prints who holds it, if that is
 * known, as ", held by thread 17 "worker"", or ", which it holds itself". */
void fxt_describe_keeper(
        FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits, const struct fxt_wait *wait);

/* Prints what a wait is for: its object as below, if need be with its file, as "fd 5
 * (pipe:[4026])"; or several of them, or "the end of thread 17". */
void fxt_describe_awaited(
        FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits, const struct fxt_wait *wait);

/* Prints: index_lock, or 0x55d0c0de1139, or fd 5. If `life` locks ended at this address
 * before, the text ends with the number of this one: index_lock #2. */
void fxt_describe_object(FILE *out, const struct fxt_scan *scan, enum fxt_wait_kind kind, uint32_t symbol,
        uint64_t object, uint32_t life);

/* Prints: in system call read of pipe:[4026] (sampled). */
void fxt_describe_blocker(FILE *out, const struct fxt_scan *scan, const struct fxt_blocker *blocker);

/* Prints, for example: waiting for index_lock in pthread_mutex_lock, held by thread 17
 * "keeper" in main > rebuild; sleeping in usleep; waiting in read of fd 5; running in
 * grow, 12288 page faults */
void fxt_describe_part(FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits,
        const struct fxt_faults *faults, const struct fxt_part *part, uint32_t function);

/* Prints the arguments of an event: status=500, path=/report. People see at most 8 of them,
 * and the first 40 columns of a value. */
void fxt_describe_arguments(FILE *out, struct fxt_tables *t, const struct fxt_view *view);

/* The kind of a part as a word for programs: "ran", "preempted". */
const char *fxt_describe_kind(enum fxt_part_kind kind);

#endif
