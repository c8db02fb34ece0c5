/*
 * The plans of a session, for functions that were compiled without hooks (--patch), for
 * arguments (--args, --returns), and for probes (--usdt). A process asks for the plans of
 * each of its modules. One plan serves all processes with that file. A thread of its own
 * makes them: a large file takes two seconds, and the main thread must keep the heartbeat
 * moving.
 */
#ifndef FXT_LAUNCHER_MANAGER_PLANS_H
#define FXT_LAUNCHER_MANAGER_PLANS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include "launcher/options.h"
#include "launcher/planning/argument_requests.h"
#include "writer/shared/handshake.h"
#include "writer/shared/plan.h"

struct fxt_planned_file {
	enum fxt_plan_kind kind;
	dev_t device;
	ino_t number;
	struct timespec changed;
	char *name;
	bool can_be_planned; /* false: no function of it can be recorded */
	int fd;              /* the plan's memory; -1: it is not open now */
	uint64_t last_asked; /* the number of the last request for it */
	size_t bytes;
	uint32_t count, left_out[FXT_PLAN_OBSTACLES];
	char *probes; /* the names of all its probes */
};

/* A request that waits for its answer. */
struct fxt_plan_job;

struct fxt_plans {
	pthread_t thread;
	bool is_running, is_ending;
	pthread_mutex_t mutex; /* of the jobs */
	pthread_cond_t has_job;
	struct fxt_plan_job *jobs;
	/* belong to the thread while it runs */
	struct fxt_planned_file *files;
	size_t count;
	uint64_t asked;                        /* the number of requests so far */
	struct fxt_argument_requests requests; /* --args and --returns, once they are read */
};

void fxt_plans_open(struct fxt_plans *plans);

/*
 * Queues a request of process `pid`. The thread answers it over the connection, and closes
 * that. `options` must outlive the plans. Writes one line for each file that cannot be
 * planned, and with verbose options one for each function that is left out.
 */
void fxt_plans_answer(struct fxt_plans *plans, int connection, pid_t pid,
        const struct fxt_plan_request *request, const struct fxt_options *options);

/* Ends the thread. It answers waiting requests first. */
void fxt_plans_end(struct fxt_plans *plans);

/* Writes a line if functions are not recorded: how many, and why. Also one for each pattern
 * of --args, --returns, --usdt and --patch without a match, or, if no thunk records
 * arguments, without an effect. After the end. */
void fxt_plans_say(
        const struct fxt_plans *plans, const struct fxt_options *options, uint64_t thunks_with_arguments);

/* Ends the thread, and frees all. */
void fxt_plans_close(struct fxt_plans *plans);

#endif
