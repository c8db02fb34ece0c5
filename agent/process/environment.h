/* The two variables that lead a new image to the agent (LD_PRELOAD) and to the session
 * (FXT_SOCKET). If a program executes an image with an environment that lacks them, the
 * agent adds them. The new image hides what was added, so that its program finds the
 * environment that it was given. */
#ifndef FXT_AGENT_ENVIRONMENT_H
#define FXT_AGENT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include "image.h"
#include "writer/shared/handshake.h"

/* The value of FXT_SOCKET for an image in which no path of ours may make a system call,
 * because a seccomp filter confines it. */
#define FXT_CONFINED "-"

/* An environment as it is given, and what is missing from it. */
struct agent_environment {
	char *const *given;
	size_t count;
	const char *list; /* the value of LD_PRELOAD, if it must be replaced */
	bool lacks_preload, lacks_session;
	bool has_session; /* it has FXT_SOCKET, perhaps with a value to be replaced */
	bool is_foreign;  /* the image is foreign (image.h): the agent is only removed */
	size_t bytes;     /* of the completed environment; 0: nothing is missing */
};

/* Finds the agent's file. Takes a lock of the loader's; an agent that is loaded late calls
 * it before other threads may be stopped. */
void agent_environment_find_agent(void);

/* At the beginning of a managed process: notes how a new image finds the agent and
 * the session. */
void agent_environment_prepare(const char *socket_path);

/* The agent's path, while new images are recorded; else NULL. */
char *agent_environment_agent(void);

/* From now on new images are not recorded. */
void agent_environment_forget(void);

/* Finds out what an environment lacks. An environment that cannot be read lacks nothing: it
 * goes to the kernel as it is. */
struct agent_environment agent_environment_examine(char *const *given, enum agent_image image);

/* Writes the completed environment into `room`, which has e->bytes, and returns it. */
char *const *agent_environment_complete(const struct agent_environment *e, void *room);

/* In the new image: removes the entries that were added to its environment for us. Takes
 * the value of FXT_SOCKET or NULL, and returns it without the marks for those entries. */
const char *agent_environment_hide(const char *value);

/* True if a string that the program handed to us can be read, or its first `bytes`. */
bool agent_can_read_string(const char *string, size_t bytes);

#endif
