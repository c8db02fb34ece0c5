/*
 * Measures the cost of recording a call with a second fxtrun. Runs before the session, on
 * the main thread. The user's settings must not influence it.
 */
#include "calibration.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launcher/manager/output.h"
#include "reader/stats/rank.h"
#include "reader/trace/tables.h"

/* Calls in a batch; batches for warming up the caches, which are not counted; batches that
 * are counted. */
enum { LEAVES = 2000, WARM_UP = 10, BATCHES = 50 };

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

void fxt_calibration_calls(void)
{
	/* The hooks see functions as addresses. These addresses belong to no function, so
	 * no names are looked up. */
	void *const batch = (void *)0x1000, *const leaf = (void *)0x2000, *const site = (void *)0x3000;

	for (int i = 0; i < WARM_UP + BATCHES; i++) {
		__cyg_profile_func_enter(batch, site);
		for (int j = 0; j < LEAVES; j++) {
			__cyg_profile_func_enter(leaf, site);
			__cyg_profile_func_exit(leaf, site);
		}
		__cyg_profile_func_exit(batch, site);
	}
}

/* The time of a call in each batch, in picoseconds: from its own record, and from the
 * record of the whole batch. */
struct costs {
	double within[BATCHES], whole[BATCHES];
};

/* Calls are in the order of their ends: the leaves of a batch, then the batch. */
static bool calibration_read(const struct fxt_archive *archive, struct costs *costs)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_tables tables;
	struct fxt_record r;
	struct fxt_view view;
	uint64_t calls = 0, leaves = 0;

	fxt_tables_init(&tables);
	while (fxt_next(&cursor, &r)) {
		if (!fxt_is_plain_call(r.words[0])) {
			if (!fxt_decode(&r, &view))
				fxt_tables_apply(&tables, &view);
			continue;
		}
		uint64_t batch = calls / (LEAVES + 1), ticks = r.words[2] - r.words[1];
		double ps = 1e12 / (double)tables.provider->rate.ticks_per_second / LEAVES;

		if (calls++ % (LEAVES + 1) < LEAVES) {
			leaves += ticks;
			continue;
		}
		if (batch >= WARM_UP && batch < WARM_UP + BATCHES) {
			costs->within[batch - WARM_UP] = (double)leaves * ps;
			costs->whole[batch - WARM_UP] = (double)ticks * ps;
		}
		leaves = 0;
	}
	fxt_tables_free(&tables);
	return calls == (WARM_UP + BATCHES) * (LEAVES + 1);
}

/* Other programs and page faults can only lengthen a batch, so the fastest quarter is free
 * of them. The difference between the fastest batch and the median is taken as the
 * error. */
static struct fxt_call_cost calibration_evaluate(struct costs *costs)
{
	fxt_sort_doubles(costs->within, BATCHES);
	fxt_sort_doubles(costs->whole, BATCHES);
	double within = costs->within[BATCHES / 4], whole = costs->whole[BATCHES / 4];

	return (struct fxt_call_cost){
	        .within_ps = (uint64_t)within,
	        .around_ps = whole > within ? (uint64_t)(whole - within) : 0,
	        .error_ps = (uint64_t)(costs->whole[BATCHES / 2] - costs->whole[0]),
	};
}

/* Records the calls into `output`. Returns the wait status. If fxtrun was started with
 * SIGCHLD ignored, there is no status and 0 is returned; the trace then shows whether it
 * worked. */
static int calibration_record(int output)
{
	char self[PATH_MAX] = "";
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), status = -1;
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
	pid_t pid = fork();

	if (pid == 0) {
		/* The user's options in FXT_OPTIONS or .fxtrc must not apply here; they may
		 * even request a calibration. The trace goes to the standard output. Its
		 * whole buffer is allocated before the calls begin, as for a program that
		 * is no faster than the manager. */
		unsetenv("FXT_OPTIONS");
		if (bytes > 0 && chdir("/") == 0 && dup2(output, STDOUT_FILENO) >= 0 &&
		        dup2(nowhere, STDERR_FILENO) >= 0)
			execl(self, "fxtrun", "--output-file=-", "--no-sched", "--buffering-mode=oneshot",
			        "--buffer-size=8", "--", self, FXT_CALIBRATION_ARGUMENT, (char *)NULL);
		_exit(127);
	}
	if (nowhere >= 0)
		close(nowhere);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno == ECHILD)
			return 0;
	return status;
}

int fxt_calibrate(struct fxt_call_cost *cost, char *error, size_t error_bytes)
{
	int fd = fxt_trace_output_temporary_file(), status, result = -1;
	struct fxt_archive archive;
	struct costs costs;

	if (fd < 0) {
		snprintf(error, error_bytes, "cannot calibrate: no temporary file in TMPDIR or /tmp: %s",
		        strerror(errno));
		return -1;
	}
	status = calibration_record(fd);
	if (status != 0) {
		snprintf(error, error_bytes, "cannot calibrate: recording a trial failed (wait status %#x)",
		        status);
	} else if (fxt_archive_open_fd(&archive, fd, "the trace of the calibration", error, error_bytes) ==
	           0) {
		if (calibration_read(&archive, &costs)) {
			*cost = calibration_evaluate(&costs);
			result = 0;
		} else {
			snprintf(error, error_bytes,
			        "cannot calibrate: calls are missing in the trial's trace");
		}
		fxt_archive_close(&archive);
	}
	close(fd);
	return result;
}
