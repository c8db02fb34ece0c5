/*
 * Which ranks of MPI_COMM_WORLD have this library. These compare their clocks. A rank without
 * it takes part in nothing, and the others would wait for it for ever.
 *
 * The ranks must not ask each other by messages: a rank without the library could receive
 * one in place of the program's. They ask the launcher. It keeps a table for each job, from
 * which MPI itself learns the addresses of the ranks (PMIx), and answers at once.
 */
#ifndef FXT_MPI_PEERS_H
#define FXT_MPI_PEERS_H

#include <mpi.h>

/* Tells the launcher that this rank has the library. Call it before MPI_Init(). */
void mpi_peers_announce(void);

/* Makes a communicator of the ranks that have the library, in the order of their ranks.
 * Each of them calls it in MPI_Init(). Returns MPI_COMM_NULL if the launcher does not
 * answer, or no other rank has it. */
MPI_Comm mpi_peers_meet(void);

#endif
