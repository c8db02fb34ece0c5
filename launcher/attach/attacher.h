/*
 * The attaching process: a child of the manager that attaches to processes and detaches
 * from them, because the manager must not wait. It has a child of its own for each request,
 * whose end releases all threads whatever happens. If the manager dies, it detaches from
 * all.
 *
 *     manager --request--> attaching process --forks--> one for the request: ptrace
 *        ^                                                  |
 *        +-------------------- reply -----------------------+
 */
#ifndef FXT_LAUNCHER_ATTACH_ATTACHER_H
#define FXT_LAUNCHER_ATTACH_ATTACHER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include "waiting.h"

#define FXT_ATTACHER_SETTINGS_BYTES 256

/* The attaching process and its children have this name in the kernel. */
#define FXT_ATTACHER_NAME "fxt-attacher"

struct fxt_attacher {
	int fd; /* readable when there is a reply */
};

/* A reply to a request to attach follows one reply for each thread that waits. */
struct fxt_attacher_reply {
	pid_t pid;
	bool is_thread;   /* `waiting` is valid, and the reply comes later */
	bool is_detached; /* the request was to detach */
	bool has_failed;
	union {
		char error[PATH_MAX + 512]; /* one line, if it has failed */
		struct fxt_waiting waiting;
	};
};

/* The attaching process is this program with these arguments: FXT_ATTACHER_ARGUMENT, and the
 * path of the agent. */
#define FXT_ATTACHER_ARGUMENT "--attacher"

/* Starts the process. The caller must have SIGCHLD blocked; it may have other threads.
 * `agent` is the path of libfxtagent.so. Returns 0, or an errno value. */
int fxt_attacher_begin(struct fxt_attacher *attacher, const char *agent);

/* What main() does in the attaching process. */
void fxt_attacher_serve(const char *agent) __attribute__((noreturn));

/* Request to attach to a process, or to detach from it; one reply comes for each.
 * `settings` is one variable for the agent, "NAME=value". False: the attaching process is
 * gone. */
bool fxt_attacher_attach(const struct fxt_attacher *attacher, pid_t pid, const char *settings);
bool fxt_attacher_detach(const struct fxt_attacher *attacher, pid_t pid);

/* Takes the next reply. False: the attaching process is gone. */
bool fxt_attacher_take(const struct fxt_attacher *attacher, struct fxt_attacher_reply *reply);

/* Ends the attaching process. It first detaches from all processes; from a stopped one once
 * that goes on. */
void fxt_attacher_end(const struct fxt_attacher *attacher);

#endif
