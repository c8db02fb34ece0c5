/*
 * The configuration that a controller gives a session which waits for one (--start=controller): the
 * controller's TraceConfig, and the path of the output.
 */
#ifndef FXT_LAUNCHER_CONTROL_TRACE_CONFIG_H
#define FXT_LAUNCHER_CONTROL_TRACE_CONFIG_H

#include "rpc.h"

/*
 * Puts a configuration into options, which keep what it says nothing of. Names stay those of `config`.
 * Returns NULL, or what is wrong with it.
 */
const char *fxt_initialize_read(json_t *config, struct fxt_options *options);

/* The call InitializeTracing. A wrong one is answered, and its connection ended; that of a right one owns the
 * session from then on. */
void fxt_initialize_tracing(struct fxt_client *client, json_t *id, json_t *params);

#endif
