/*
 * The configuration that a controller gives a session which waits for one (--start=controller, --start=idle):
 * Fuchsia's TraceConfig as JSON, the path of the output, and which calls are recorded (filter_params.h).
 * Readers of values: they return NULL, or what is wrong.
 */
#ifndef FXT_LAUNCHER_CONTROL_TRACE_CONFIG_H
#define FXT_LAUNCHER_CONTROL_TRACE_CONFIG_H

#include <jansson.h>
#include "launcher/options.h"

/* Puts a configuration into options, which keep what it says nothing of. The strings of the options are those
 * of `config` then, which must outlive them; rules of a filter that are not those it had are the caller's to
 * free. What is wrong may stand in text[text_bytes]. */
const char *fxt_trace_config_read(json_t *config, struct fxt_options *options, char *text, size_t text_bytes);

/* Reads an array of categories; NULL = none. Those no session has room for are wrong, as a name that is none
 * is. */
const char *fxt_trace_config_read_categories(json_t *value, struct fxt_categories *categories);

#endif
