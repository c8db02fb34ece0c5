/*
 * The place of this process in a parallel job (MPI, Slurm): its rank, how many ranks there
 * are, the host, and the name of the job. Launchers pass these in the environment.
 */
#ifndef FXT_WRITER_JOB_H
#define FXT_WRITER_JOB_H

#include <stdbool.h>
#include <stdint.h>

/* Names of arguments of a process's kernel object. */
#define FXT_JOB_RANK "rank"
#define FXT_JOB_SIZE "size"
#define FXT_JOB_HOST "host"
#define FXT_JOB_NAME "job"

/* This bit marks the id of a message between ranks. The traces of both ranks have the same
 * id (mpi/record.h), so fxt merge keeps such ids. */
#define FXT_JOB_FLOW (UINT64_C(1) << 63)

struct fxt_job {
	bool has_rank;       /* else all is 0 */
	uint32_t rank, size; /* size 0: not known */
	char host[65];       /* the kernel's limit */
	char name[64];       /* "": not known; cut if it is longer */
};

/* getenv(), or what stands for it. */
typedef char *fxt_job_getenv(const char *name);

/* Reads the environment. It must not change during the call. */
struct fxt_job fxt_job_find(fxt_job_getenv *get);

#endif
