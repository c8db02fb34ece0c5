/*
 * The two variables by which a new image finds the agent and the session: given back to an environment that a
 * program made without them, and in the new image hidden again, so that it finds the environment it was
 * given.
 */
#ifndef FXT_AGENT_ENVIRONMENT_H
#define FXT_AGENT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include "image.h"
#include "writer/handshake.h"

/* In place of a session's socket in the environment of an image that may make no system calls of ours. */
#define FXT_CONFINED "-"

/* An environment as it is given, and what it lacks. */
struct agent_environment {
	char *const *given;
	size_t count;
	const char *list; /* the value of LD_PRELOAD, if that is to be replaced */
	bool lacks_preload, lacks_session;
	bool has_session; /* one that is lacking is replaced then */
	bool is_foreign;  /* its image is: then it is only relieved of the agent */
	size_t bytes;     /* of the completed one; 0: nothing is lacking */
};

/* Once, in the constructor of a managed process: how a new image finds the agent and the session. */
void agent_environment_prepare(const char *socket_path);

/* One that cannot be read lacks nothing: it goes to the kernel as it is. */
struct agent_environment agent_environment_examine(char *const *given, enum agent_image image);

/* Writes the completed environment into room of e->bytes. */
char *const *agent_environment_complete(const struct agent_environment *e, void *room);

/* In the new image: takes out of its environment what was added to it for us. Takes the value of FXT_SOCKET
 * or NULL, and returns it without what it said about that. */
const char *agent_environment_hide(const char *value);

/* Whether a string that the program handed to us can be read, or its first `bytes`. */
bool agent_can_read_string(const char *string, size_t bytes);

#endif
