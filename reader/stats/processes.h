/*
 * The processes of a trace: who began whom, when each was there, and how it ended. A build
 * has thousands of them, so there is a tree of programs too: processes of one program that
 * were begun by processes of one program, and so on outward, are one node.
 *
 *   make            1
 *     sh           40      begun by make
 *       cc1        40      begun by these shells
 *
 * A process that executed another program counts as the last one.
 */
#ifndef FXT_READER_PROCESSES_H
#define FXT_READER_PROCESSES_H

#include "reader/slices/walk.h"

enum fxt_process_end { FXT_PROCESS_END_UNKNOWN, FXT_PROCESS_EXITED, FXT_PROCESS_KILLED };

struct fxt_process {
	uint64_t koid;
	uint64_t parent;     /* koid; 0: it is not in the trace */
	uint64_t start, end; /* its first and last event, in units of the scan */
	uint64_t calls;
	uint32_t threads;
	uint32_t name; /* id of a string; FXT_NOTHING: it has none */
	enum fxt_process_end how;
	int32_t status;   /* of an exit, or a signal */
	uint32_t program; /* index of its node; 0: not known yet */
};

/* A node of the tree. The first one is no program: it stands above the others, which stand
 * behind their parents. */
struct fxt_program {
	uint32_t name, parent;      /* parent: index of a node */
	uint32_t depth;             /* 1: no program of the trace began it */
	uint64_t processes, failed; /* failed: killed, or with another status than 0 */
	uint64_t calls;
	uint64_t time, longest; /* of the processes, from first to last event; in units of the scan */
	size_t only;            /* index of its process, if it is the only one */
};

struct fxt_processes {
	struct fxt_process *items; /* by koid */
	size_t count, room;
	struct fxt_program *programs;
	size_t program_count, program_room;
	/* inside */
	const struct fxt_scan *scan;
	uint32_t *of_thread; /* by thread id: 1 + index of its process; 0: not looked up */
	struct fxt_index by_koid, by_program;
};

/* Reads the processes of a scanned trace: those with any event that the scan's filter
 * shows. Returns false if not all of the file could be read again. */
bool fxt_processes_read(struct fxt_processes *processes, const struct fxt_scan *scan);
void fxt_processes_free(struct fxt_processes *processes);

#endif
