/*
 * Which probes the user wants (--usdt), and what is known of the arguments of well-known
 * ones: notes say where an argument is, but neither its name nor whether it is a text.
 *
 *     postgresql:*                        all probes of a provider
 *     postgresql:query__start@arg1/s      the first argument is the address of a text
 *     list                                none; a message lists the probes that there are
 */
#ifndef FXT_LAUNCHER_PLANNING_PROBE_REQUESTS_H
#define FXT_LAUNCHER_PLANNING_PROBE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>

/* Checks the value of one --usdt. Returns NULL, or half a sentence about what is wrong. */
const char *fxt_probe_request_check(const char *value);

/* Whether one of the values wants a probe. Stores in `texts` the bits of the arguments that
 * the user calls texts, bit 0 for the first one. */
bool fxt_probe_is_wanted(
        const char *const *values, unsigned count, const char *provider, const char *name, unsigned *texts);

/* What is known of a probe's argument, number 0 for the first one. Stores its name in
 * `argument`, at most `bytes`: arg1 and so on if nothing is known. Returns whether it is a
 * text. */
bool fxt_probe_argument(
        const char *provider, const char *name, unsigned number, char *argument, size_t bytes);

/*
 * Whether the probe begins or ends a duration, by its name: x__start and x__done, x__entry
 * and x__return, x__begin and x__end, or one of a known pair. Stores the bytes of x, which
 * the duration is called, and whether other durations of the thread may overlap it. Returns 1
 * if it begins one, -1 if it ends one, 0 for neither.
 */
int fxt_probe_pair(const char *provider, const char *name, size_t *stem, bool *overlaps);

#endif
