/*
 * fxt report --mpi: which rank waited for which other one, in messages and in calls of MPI
 * that all ranks must enter; which functions take unequal times on the ranks; and how many
 * messages went between them. The trace is a merged one of a job that libfxtmpi.so
 * recorded (mpi/record.h).
 */
#ifndef FXT_FXT_MPI_REPORT_H
#define FXT_FXT_MPI_REPORT_H

#include "reader/trace/archive.h"

/* Prints the tables of a trace. The state is unused (fxt_each_archive()). */
int fxt_mpi_report(void *state, const char *name, const struct fxt_archive *archive);

#endif
