/*
 * What fxtrun says: one line a message, on standard error, begun by "fxtrun: ". A line is written in one
 * piece, from whichever thread; control characters in it (names of files and programs may hold any) become
 * '?', so that it stays one line.
 */
#ifndef FXT_LAUNCHER_MESSAGE_H
#define FXT_LAUNCHER_MESSAGE_H

void fxt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Exit statuses of fxtrun's own, those of env(1): every other one is the program's. */
enum fxt_exit {
	FXT_EXIT_FAILED = 125,         /* fxtrun itself: usage, output, a program that cannot be traced */
	FXT_EXIT_CANNOT_EXECUTE = 126, /* the program was found but cannot be executed */
	FXT_EXIT_NOT_FOUND = 127,
};

#endif
