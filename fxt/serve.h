/*
 * Serves a trace to the Perfetto viewer's page in a browser of the same user, over the
 * loopback.
 *
 * Every user of the machine can connect to the loopback. Therefore the owner of each
 * connection is looked up in /proc/net/tcp: it must be the user, root, or the caller of
 * sudo. Pages of other origins get nothing, and the path cannot be guessed.
 */
#ifndef FXT_FXT_SERVE_H
#define FXT_FXT_SERVE_H

#include "reader/trace/source.h"

/* The only address, besides the web, that the viewer's security policy lets it fetch
 * from. */
#define FXT_SERVE_ADDRESS "127.0.0.1:9001"
#define FXT_SERVE_ORIGIN  "https://ui.perfetto.dev"

/* The size of a path, which has a secret and the trace's name, with the terminating
 * zero. */
#define FXT_SERVE_PATH_BYTES 64

/* Makes a path. Returns 0 or an errno value. */
int fxt_serve_make_path(char path[FXT_SERVE_PATH_BYTES]);

/* Listens at the address. Returns a descriptor, or -1 with errno set. */
int fxt_serve_listen(void);

/* Answers connections, any number at a time, until one of them has fetched the trace.
 * Returns 0 or an errno value. */
int fxt_serve(int listener, const char *path, const struct fxt_source *source);

#endif
