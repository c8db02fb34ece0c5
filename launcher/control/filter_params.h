/*
 * Which calls are recorded, as the fields of a call or of a configuration say it: those of SetFilter
 * (control.h).
 */
#ifndef FXT_LAUNCHER_CONTROL_FILTER_PARAMS_H
#define FXT_LAUNCHER_CONTROL_FILTER_PARAMS_H

#include <jansson.h>
#include "launcher/options.h"

struct fxt_filter_params {
	struct fxt_call_limits limits; /* what held, for what is not said; so depth_limit */
	bool has_limits;               /* some are given */
	struct fxt_selection filter; /* if there are patterns, or a depth; the caller's to free in any case */
	unsigned patterns;           /* kinds of which some, or none, are given: a sum of 1 << kind */
	bool has_depth;
	uint32_t depth_limit;
	char wrong[256];
};

/* Whether it is one of the fields. */
bool fxt_filter_params_has(const char *field);

/* Reads the fields that there are. Patterns of a kind take the place of those in `now` (NULL = there are
 * none). Returns NULL, or what is wrong. */
const char *fxt_filter_params_read(
        struct fxt_filter_params *read, const struct fxt_selection *now, json_t *params);

#endif
