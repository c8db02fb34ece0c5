/*
 * The probes that the user wants (--usdt), and the names and texts among the arguments of
 * well-known probes. A note says only where an argument is.
 *
 *     postgresql:*                        all probes of a provider
 *     postgresql:query__start@arg1/s      the first argument is the address of a text
 *     list                                none: fxtrun lists the probes that there are
 */
#ifndef FXT_LAUNCHER_PLANNING_PROBE_REQUESTS_H
#define FXT_LAUNCHER_PLANNING_PROBE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>

/* Checks the value of one --usdt. Returns NULL, or half a sentence about what is wrong. */
const char *fxt_probe_request_check(const char *value);

#define FXT_PROBE_ITEM_BYTES 256

/* Copies the next item of a value, and steps over it. False: there is none, or it is too
 * long. */
bool fxt_probe_request_next(const char **list, char item[FXT_PROBE_ITEM_BYTES]);

/* Whether one of the values wants a probe. Stores the arguments that the user calls texts
 * as bits of `texts`, bit 0 for the first one. */
bool fxt_probe_is_wanted(
        const char *const *values, unsigned count, const char *provider, const char *name, unsigned *texts);

/* Stores the name of a probe's argument in `argument`, at most `bytes`: arg1 and so on if
 * no name is known. `number` is 0 for the first one. Returns true if the argument is a
 * text. */
bool fxt_probe_argument(
        const char *provider, const char *name, unsigned number, char *argument, size_t bytes);

/*
 * Returns 1 if the probe begins a duration, by its name, -1 if it ends one, 0 for neither.
 * Pairs are x__start and x__done, x__entry and x__return, x__begin and x__end, and known
 * ones. The duration has the name x: stores its bytes, and whether other durations of the
 * thread may overlap it.
 */
int fxt_probe_pair(const char *provider, const char *name, size_t *stem, bool *overlaps);

#endif
