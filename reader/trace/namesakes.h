/*
 * Settles which functions of a trace are one function, once the whole trace is read. Two
 * functions with the same name are one if they are in the same module, and in the same
 * source file, or, where no file is known, at the same place of the module. Processes of
 * one program, and copies of a function that a header defines, are therefore one function.
 *
 * A function that has its name for itself is settled on the string of the name. Functions
 * that share a name each get a string of their own, with what tells them apart:
 * "process [fast.so]", "process [a.c]", "process [0x1139]". So does a function that shares
 * its name with a span, and each span that shares its name with a function or with a span
 * of another category: "process [span server]".
 */
#ifndef FXT_READER_NAMESAKES_H
#define FXT_READER_NAMESAKES_H

#include "origins.h"

/* Settles the tables and the origins. The texts take at most `most_bytes`; functions for
 * whose text no room is left keep the name alone. */
void fxt_namesakes_settle(struct fxt_tables *t, struct fxt_origins *origins, uint64_t most_bytes);

/* The part of a path behind its last slash. */
struct fxt_span fxt_path_base(struct fxt_span path);

#endif
