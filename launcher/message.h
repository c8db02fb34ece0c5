/*
 * launcher/ has the program fxtrun, which records other programs (fxtrun/), the session
 * that it records them in (manager/, sched/), the socket that controls the session
 * (control/), and the program fxtctl at the other end of that socket (fxtctl/). The files
 * beside this one are shared by several of them.
 *
 * This file prints fxtrun's messages on standard error, one line each, beginning with
 * "fxtrun: ".
 *
 * How errors are passed on in launcher/: a function that can fail does one of three things,
 * and its header says which.
 *
 * - It returns 0 or an errno value, if the reason comes from the system and the caller
 *   knows the rest.
 * - It returns 0, or -1 and one line in error[error_bytes], if there is more to report:
 *   the event, the file or program, and the remedy. The caller passes the line to fxt_say()
 *   or to the client that asked. If fxtrun must exit because of it, the exit status (enum
 *   fxt_exit) replaces -1.
 * - A reader of a value returns NULL, or the error in the value as half a sentence ("must
 *   be ..."); the caller puts the value's name before it. Then nothing is stored that is
 *   used later.
 *
 * errno carries nothing between our functions, with one exception: a function that returns
 * a descriptor as open(2) does returns -1 and sets errno. In fxtctl, which has nothing to
 * give back, any failure ends the process instead (fxtctl/client.h).
 */
#ifndef FXT_LAUNCHER_MESSAGE_H
#define FXT_LAUNCHER_MESSAGE_H

/* Writes one line, in one piece, from any thread. Control characters, which names of files
 * and programs may contain, become '?', so that it stays one line. A line longer than 8 KiB
 * is cut. */
void fxt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Makes fxt_say() never wait for its reader: standard error may be a full pipe, and a
 * manager that waited for it would make the program lose calls. Text without room is kept,
 * up to 64 KiB, and written later: with the next line, by fxt_say_rest() or by
 * fxt_say_all(). A process forked from this one begins without kept text.
 */
void fxt_say_without_waiting(void);
void fxt_say_rest(void);

/* Waits until all text is written. Call it when no other process depends on this one any
 * more. */
void fxt_say_all(void);

/* Exit statuses of fxtrun's own, the same as those of env(1). Every other status is the
 * program's. */
enum fxt_exit {
	/* fxtrun itself: usage, output, a program that cannot be traced */
	FXT_EXIT_FAILED = 125,
	FXT_EXIT_CANNOT_EXECUTE = 126, /* the program was found but cannot be executed */
	FXT_EXIT_NOT_FOUND = 127,
};

#endif
