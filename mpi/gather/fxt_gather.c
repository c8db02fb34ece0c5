/*
 * fxt-gather: brings the traces of a job from the storage of its nodes to that of the first
 * rank. It is a program of MPI, which a job's script runs behind the recorded one, on the same
 * nodes. fxtrun itself cannot do that: it finishes a trace when the program has ended, and
 * MPI with it.
 *
 *     mpirun -n 64 fxtrun -o /local/t.%r.fxt ./app
 *     mpirun -n 64 fxt-gather traces /local/t.%r.fxt
 *
 * Ranks send their files one after the other, in blocks. Each rank has one block in memory,
 * whatever the files are.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, TAG = 1 };

static char block[BLOCK];
static int own, size;

/* Writes the pattern's text with the rank in place of each %r. Returns false if it is too
 * long. */
static bool name_of(char name[PATH_MAX], const char *pattern, int rank)
{
	size_t used = 0;

	while (*pattern && used < PATH_MAX) {
		bool is_rank = strncmp(pattern, "%r", 2) == 0;

		used += (size_t)(is_rank ? snprintf(name + used, PATH_MAX - used, "%d", rank)
		                         : snprintf(name + used, PATH_MAX - used, "%c", *pattern));
		pattern += is_rank ? 2 : 1;
	}
	return used < PATH_MAX;
}

/* The name in the folder is the last part of the file's name. */
static bool target_of(char target[PATH_MAX], const char *folder, const char *name)
{
	const char *slash = strrchr(name, '/');

	return snprintf(target, PATH_MAX, "%s/%s", folder, slash ? slash + 1 : name) < PATH_MAX;
}

static int fail(const char *name, int error)
{
	fprintf(stderr, "fxt-gather: %s: %s\n", name, strerror(error));
	return 1;
}

/* Sends blocks; one that is not full is the last. A file that cannot be read has a negative
 * errno value for its length. */
static int send_file(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC), error = fd < 0 ? errno : 0;
	ssize_t bytes;

	do {
		bytes = error ? -1 : read(fd, block, BLOCK);
		if (bytes < 0 && !error)
			error = errno;
		int told = error ? -error : (int)bytes;

		MPI_Send(&told, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
		if (bytes > 0)
			MPI_Send(block, told, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
	} while (bytes > 0);
	if (fd >= 0)
		close(fd);
	return error ? fail(name, error) : 0;
}

static bool write_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t done = write(fd, data, bytes);

		if (done < 0 && errno != EINTR)
			return false;
		data += done > 0 ? done : 0;
		bytes -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

/* Takes the blocks of a rank; rank 0 reads its own file. An existing file is not overwritten:
 * it may be the trace itself, where all nodes have one storage. */
static int take_file(int rank, const char *name, const char *target)
{
	int own_fd = rank == own ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	int fd = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error = fd < 0 ? errno : 0,
	    told;

	do {
		if (rank == own) {
			told = own_fd < 0 ? -1 : (int)read(own_fd, block, BLOCK);
			if (told < 0)
				fail(name, errno);
		} else {
			MPI_Recv(&told, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (told > 0)
				MPI_Recv(block, told, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		if (told > 0 && !error && !write_all(fd, block, (size_t)told))
			error = errno;
	} while (told > 0);
	if (own_fd >= 0)
		close(own_fd);
	if (fd >= 0 && close(fd) != 0 && !error)
		error = errno;
	if (fd >= 0 && (error || told < 0))
		unlink(target);
	return error ? fail(target, error) : told < 0;
}

/* Ranks send one after the other. */
static int gather(const char *folder, const char *pattern)
{
	char name[PATH_MAX], target[PATH_MAX];
	int failed = 0;

	if (own != 0)
		return name_of(name, pattern, own) ? send_file(name) : fail(pattern, ENAMETOOLONG);
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		failed = fail(folder, errno);
	for (int rank = 0; rank < size; rank++)
		failed |= name_of(name, pattern, rank) && target_of(target, folder, name)
		                  ? take_file(rank, name, target)
		                  : fail(pattern, ENAMETOOLONG);
	return failed;
}

int main(int argc, char **argv)
{
	int failed;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &own);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc == 3)
		failed = gather(argv[1], argv[2]);
	else
		failed = own == 0 ? fputs("usage: fxt-gather FOLDER PATTERN, as traces /tmp/trace.%r.fxt\n",
		                            stderr) >= 0
		                  : 1;
	MPI_Finalize();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
