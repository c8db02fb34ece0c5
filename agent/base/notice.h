/*
 * Notices to the user, without stdio: the agent runs inside hooks and before the program's
 * first constructor.
 */
#ifndef FXT_AGENT_NOTICE_H
#define FXT_AGENT_NOTICE_H

#include <stdint.h>

/* Writes one line on standard error: "fxt: ", then the pieces. The last piece is NULL. A
 * line longer than 511 bytes is cut. Writes nothing if standard error is a full pipe: the
 * program would wait for its reader. Keeps errno. */
void agent_notice(const char *piece, ...) __attribute__((sentinel));

/* write(), or pwrite() if `offset` is not negative, without raising a signal in the
 * program: neither SIGXFSZ at a limit of file sizes, nor SIGPIPE for a pipe without a
 * reader. */
long agent_write_unsignalled(int fd, const void *data, uint64_t bytes, int64_t offset);

/* Returns the text of an errno value. */
const char *agent_error(long error);

/* Writes a number in decimal, with a terminator. Returns the buffer. */
const char *agent_number(char buffer[24], uint64_t number);

#endif
