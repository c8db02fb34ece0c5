/*
 * The configuration that a controller gives a session which waits for one (--start=controller): Fuchsia's
 * TraceConfig as JSON, and the path of the output. Readers of values: they return NULL, or what is wrong.
 */
#ifndef FXT_LAUNCHER_CONTROL_TRACE_CONFIG_H
#define FXT_LAUNCHER_CONTROL_TRACE_CONFIG_H

#include <jansson.h>
#include "launcher/options.h"

/* Puts a configuration into options, which keep what it says nothing of. The strings of the options are those
 * of `config` then, which must outlive them. */
const char *fxt_trace_config_read(json_t *config, struct fxt_options *options);

/* Reads an array of categories; NULL = none. Those no session has room for are wrong, as a name that is none
 * is. */
const char *fxt_trace_config_read_categories(json_t *value, struct fxt_categories *categories);

#endif
