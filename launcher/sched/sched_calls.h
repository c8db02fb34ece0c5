/* System calls that threads wait in: their names, and what their arguments mean. */
#ifndef FXT_LAUNCHER_SCHED_SCHED_CALLS_H
#define FXT_LAUNCHER_SCHED_SCHED_CALLS_H

enum fxt_sched_subject {
	FXT_CALL_OF_OTHER,
	FXT_CALL_OF_DESCRIPTOR, /* the first argument */
	FXT_CALL_OF_ADDRESS,    /* the first argument */
	FXT_CALL_OF_POLLED,     /* descriptors: the arguments of poll() */
	FXT_CALL_OF_SELECTED,   /* descriptors: the arguments of select() */
};

struct fxt_sched_call {
	const char *name;
	enum fxt_sched_subject subject;
};

/* The system call with that number; NULL: it has no name here. */
const struct fxt_sched_call *fxt_sched_call(long number);

#endif
