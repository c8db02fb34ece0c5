/*
 * Reads which calls are recorded from the fields of a call or of a configuration: those of
 * SetFilter (control.h).
 */
#ifndef FXT_LAUNCHER_CONTROL_FILTER_PARAMS_H
#define FXT_LAUNCHER_CONTROL_FILTER_PARAMS_H

#include <jansson.h>
#include "launcher/options.h"

struct fxt_filter_params {
	struct fxt_call_limits limits;   /* a field that is not given keeps its present value;
	                                * the same holds for depth_limit */
	bool has_limits;                 /* some are given */
	struct fxt_record_filter filter; /* set if patterns or a depth are given; the caller
	                                * frees it in any case */
	unsigned patterns;               /* kinds with a field, even an empty one: a sum of 1 <<
	                                * kind */
	bool has_depth;
	uint32_t depth_limit;
	char wrong[256];
};

/* Reads the fields that are present. The patterns of a kind replace those in `now` (NULL =
 * there are none). Returns NULL, or a description of the error. */
const char *fxt_filter_params_read(
        struct fxt_filter_params *read, const struct fxt_record_filter *now, json_t *params);

#endif
