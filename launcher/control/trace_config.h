/*
 * Reads the configuration that a controller gives to a session that waits for one
 * (--start=controller, --start=idle): Fuchsia's TraceConfig as JSON, the path of the
 * output, and which calls are recorded (filter_params.h). The readers return NULL, or a
 * description of the error.
 */
#ifndef FXT_LAUNCHER_CONTROL_TRACE_CONFIG_H
#define FXT_LAUNCHER_CONTROL_TRACE_CONFIG_H

#include <jansson.h>
#include "launcher/options.h"

/* Stores a configuration in options; settings that it does not mention are kept. The
 * options then point to strings in `config`, which must outlive them. If the filter has
 * other rules than before, the caller must free them. text[text_bytes] may hold the
 * description of an error. */
const char *fxt_trace_config_read(json_t *config, struct fxt_options *options, char *text, size_t text_bytes);

#endif
