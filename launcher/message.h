/*
 * launcher/: the program fxtrun, which records others, in fxtrun/; the session it keeps of what it records,
 * in session/ and sched/; the socket by which that is controlled, in control/; and the program fxtctl, which
 * is at its other end, in fxtctl/. The files beside this one are what several of them need.
 *
 * This one: what fxtrun says, one line a message, on standard error, begun by "fxtrun: ".
 *
 * How errors travel in launcher/. A function that can fail does one of three things, and says in its header
 * which:
 *
 * - It returns 0 or an errno value, where the reason is the system's and the caller knows the rest.
 * - It returns 0, or -1 and one line in error[error_bytes], where there is more to say: what happened, to
 *   which file or program, and what to do. The caller hands the line to fxt_say() or to the client that
 * asked. Where fxtrun has to exit because of it, the status it has to exit with (enum fxt_exit) stands for
 * -1.
 * - A reader of a value returns NULL, or what is wrong with the value as half a sentence ("must be ..."),
 *   before which the caller puts the value's name. Nothing is stored then, or nothing that anybody reads.
 *
 * errno carries nothing from one of our functions to another, but where one returns a descriptor as open(2)
 * does, or -1 and errno. In fxtctl, which has nothing to give back, any failure ends the process instead
 * (fxtctl/client.h).
 */
#ifndef FXT_LAUNCHER_MESSAGE_H
#define FXT_LAUNCHER_MESSAGE_H

/* Writes one line, in one piece, from whichever thread. Control characters in it (names of files and programs
 * may hold any) become '?', so that it stays one line; one longer than 8 KiB is cut. */
void fxt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * From now on fxt_say() does not wait for whoever is to read: standard error may be a pipe that is full, and
 * a recorder that stood still for it would have the program lose calls. What finds no room is kept, as much
 * as 64 KiB, until there is some: at the next line, fxt_say_rest() or fxt_say_all(). A process forked from
 * this one begins with nothing to tell.
 */
void fxt_say_without_waiting(void);
void fxt_say_rest(void);

/* Waits until all of it is told. Once nobody depends on us any more. */
void fxt_say_all(void);

/* Exit statuses of fxtrun's own, those of env(1): every other one is the program's. */
enum fxt_exit {
	FXT_EXIT_FAILED = 125,         /* fxtrun itself: usage, output, a program that cannot be traced */
	FXT_EXIT_CANNOT_EXECUTE = 126, /* the program was found but cannot be executed */
	FXT_EXIT_NOT_FOUND = 127,
};

#endif
