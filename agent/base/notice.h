/*
 * What the agent has to say to the user, without stdio: it runs inside hooks and before the program's first
 * constructor.
 */
#ifndef FXT_AGENT_NOTICE_H
#define FXT_AGENT_NOTICE_H

#include <stdint.h>

/* Writes one line on standard error: "fxt: ", then the pieces, of which the last is NULL. At most 511 bytes;
 * what is longer is cut. Nothing, where standard error is a pipe that is full: the program would wait for its
 * reader. errno is kept. */
void agent_notice(const char *piece, ...) __attribute__((sentinel));

/* write(), or pwrite() where `offset` is not negative, which raises no signal in the program: not where a
 * limit of file sizes is reached (SIGXFSZ), and not where a pipe has no reader (SIGPIPE). */
long agent_write_unsignalled(int fd, const void *data, uint64_t bytes, int64_t offset);

/* Writes a number in decimal, with a terminator. Returns the buffer. */
const char *agent_number(char buffer[24], uint64_t number);

#endif
