/* Chooses and stops the threads of a process (threads.h). Must not leave any of them
 * stopped. */
#include "threads.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "image.h"
#include "launcher/preload.h"
#include "writer/shared/clock.h"

/* Time for a thread to stop, and to leave a function that must not be interrupted. */
#define STOP_NS  UINT64_C(50000000)
#define LEAVE_NS UINT64_C(20000000)
/* The same for the agent's own code, which takes a microsecond as a rule. */
#define LEAVE_TRIES    60
#define LEAVE_PAUSE_NS 20000u
/* Pause between two rounds over all threads. */
#define ROUND_NS 1000000L

void fxt_threads_init(struct fxt_threads *t, pid_t pid)
{
	*t = (struct fxt_threads){.pid = pid};
	fxt_image_range(pid, FXT_AGENT_FILE, &t->agent_begin, &t->agent_end);
}

/* The thread of that number; a new one is not seized yet. NULL: no memory. */
static struct fxt_tracee *threads_find(struct fxt_threads *t, pid_t tid, bool *is_new)
{
	struct fxt_tracee **all;

	*is_new = false;
	for (size_t i = 0; i < t->count; i++)
		if (t->all[i]->tid == tid)
			return t->all[i];
	*is_new = true;
	if (t->count == t->room) {
		all = realloc(t->all, (2 * t->room + 16) * sizeof(*all)); // NOLINT
		if (!all)
			return NULL;
		t->all = all;
		t->room = 2 * t->room + 16;
	}
	t->all[t->count] = calloc(1, sizeof(**t->all));
	if (!t->all[t->count])
		return NULL;
	t->all[t->count]->tid = tid;
	return t->all[t->count++];
}

/* Lets a stopped thread leave the agent's own code, where it would go on with the state of
 * an agent that has ended meanwhile. A thread that keeps waiting in a system call there is
 * accepted in the end, because the agent expects anything after a wait. Other system calls
 * are no place to stay: a thread that gets no processor is found in one at each try. False:
 * it did not leave. */
static bool threads_leave_agent(const struct fxt_threads *t, struct fxt_tracee *thread)
{
	struct user_regs_struct registers;
	bool is_waiting = false;

	for (unsigned tries = 0; tries < LEAVE_TRIES; tries++) {
		if (!fxt_tracee_registers(thread, &registers))
			return false;
		if (arch_pc(&registers) < t->agent_begin || arch_pc(&registers) >= t->agent_end)
			return true;
		is_waiting = arch_was_waiting(&registers);
		if (!fxt_tracee_run(thread, LEAVE_PAUSE_NS * (tries + 1), STOP_NS))
			return false;
	}
	return is_waiting;
}

static DIR *threads_list(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return opendir(path);
}

/* The next thread of a list; 0: none. */
static pid_t threads_next(DIR *list)
{
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (*entry->d_name != '.')
			return (pid_t)strtol(entry->d_name, NULL, 10);
	return 0;
}

/* The kernel's letter for a thread's state: D cannot be stopped now, Z and X have ended. */
static char threads_state(pid_t pid, pid_t tid)
{
	char path[64], line[256], *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	file = fopen(path, "re");
	line[0] = 0;
	if (file) {
		(void)!fgets(line, sizeof(line), file);
		fclose(file);
	}
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : 'Z';
}

/* False: it cannot be seized. */
static bool threads_seize(struct fxt_threads *t, struct fxt_tracee *thread)
{
	int error;

	if (thread->state != FXT_TRACEE_GONE)
		return true;
	error = fxt_tracee_seize(thread, t->pid, thread->tid);
	/* The kernel forbids it too for a thread that has just ended. */
	if (error == EPERM && strchr("ZX", threads_state(t->pid, thread->tid)))
		error = ESRCH;
	if (error && error != ESRCH)
		t->refusal = error;
	return !error;
}

/* True if the C library made the thread: the agent's helper is none of its threads, nor are
 * those that a program makes by clone(2) alone. */
static bool threads_is_libc(const struct fxt_tracee *thread)
{
	struct user_regs_struct registers;
	uint64_t pointer, self;

	if (!fxt_tracee_registers(thread, &registers))
		return false;
	pointer = arch_thread_pointer(&registers);
	return fxt_tracee_read(thread, pointer + ARCH_THREAD_SELF, &self, sizeof(self)) && self == pointer;
}

/* ---- stacks ---- */

/* False: the process has ended, or may not be read. */
static bool threads_open_stacks(struct fxt_threads *t, bool anew)
{
	if (anew) {
		fxt_stacks_close(t->stacks);
		t->stacks = NULL;
	}
	if (!t->stacks)
		t->stacks = fxt_stacks_open(t->pid);
	return t->stacks;
}

void fxt_threads_note_waiting(struct fxt_threads *t, struct fxt_waiting_list *list)
{
	DIR *tids = threads_open_stacks(t, false) ? threads_list(t->pid) : NULL;
	pid_t tid;

	while (!t->refusal && (tid = threads_next(tids))) {
		bool is_new;
		struct fxt_tracee *thread =
		        threads_state(t->pid, tid) == 'S' ? threads_find(t, tid, &is_new) : NULL;

		if (!thread || !threads_seize(t, thread))
			continue;
		if (fxt_tracee_stop(thread, STOP_NS) && threads_is_libc(thread))
			fxt_waiting_note(list, t->stacks, thread);
		fxt_tracee_release(thread);
	}
	if (tids)
		closedir(tids);
}

/* ---- the one that makes the calls ---- */

struct threads_choice {
	bool is_late; /* accept a stack whose outer frames the unwinder does not find */
	bool was_cut; /* a stack was not whole: there may be new modules */
};

/* Whether the stopped thread may make calls, if necessary after it has left a function. */
static bool threads_may_call(
        const struct fxt_threads *t, struct threads_choice *choice, struct fxt_tracee *thread)
{
	struct fxt_stack stack = fxt_stacks_look(t->stacks, thread->tid);

	if (!stack.is_safe && stack.next && fxt_tracee_run_to(thread, stack.next, LEAVE_NS))
		stack = fxt_stacks_look(t->stacks, thread->tid);
	choice->was_cut |= !stack.is_whole;
	return stack.is_safe && (stack.is_whole || choice->is_late) && !fxt_tracee_is_in_sequence(thread);
}

/* Tries one thread after the other. */
static struct fxt_tracee *threads_choose_once(struct fxt_threads *t, struct threads_choice *choice)
{
	struct fxt_tracee *chosen = NULL;
	DIR *list = threads_list(t->pid);
	pid_t tid;

	while (!chosen && !t->refusal && (tid = threads_next(list))) {
		bool is_new;
		char state = threads_state(t->pid, tid);
		struct fxt_tracee *thread =
		        state == 'D' || state == 'Z' ? NULL : threads_find(t, tid, &is_new);

		if (!thread || !threads_seize(t, thread))
			continue;
		if (fxt_tracee_stop(thread, STOP_NS) && threads_is_libc(thread) &&
		        !thread->is_group_stopped && threads_leave_agent(t, thread) &&
		        threads_may_call(t, choice, thread))
			chosen = thread;
		else
			fxt_tracee_release(thread);
	}
	if (list)
		closedir(list);
	return chosen;
}

struct fxt_tracee *fxt_threads_choose(struct fxt_threads *t, uint64_t late_ns, uint64_t deadline_ns)
{
	uint64_t now;
	struct threads_choice choice = {0};
	struct fxt_tracee *chosen = NULL;

	while (!t->refusal && (now = fxt_monotonic_ns()) < deadline_ns) {
		if (!threads_open_stacks(t, choice.was_cut))
			break;
		choice = (struct threads_choice){.is_late = now > late_ns};
		chosen = threads_choose_once(t, &choice);
		if (chosen)
			break;
		nanosleep(&(struct timespec){0, ROUND_NS}, NULL);
	}
	return chosen;
}

/* ---- the others ---- */

/* Stops those that run. Returns the number of threads that were new, or -1: one did not
 * stop. */
static int threads_stop_round(struct fxt_threads *t, const struct fxt_tracee *chosen, uint64_t patience_ns)
{
	DIR *list = threads_list(t->pid);
	int count = 0;
	pid_t tid;

	while (count >= 0 && (tid = threads_next(list))) {
		struct fxt_tracee *thread;
		bool is_new;

		if (tid == chosen->tid || threads_state(t->pid, tid) == 'Z')
			continue;
		thread = threads_find(t, tid, &is_new);
		if (!thread) {
			count = -1;
		} else if (thread->is_let_run || thread->state == FXT_TRACEE_STOPPED) {
			continue;
		} else if (!threads_seize(t, thread)) {
			count = t->refusal ? -1 : count;
		} else if (!fxt_tracee_stop(thread, patience_ns)) {
			count = thread->state == FXT_TRACEE_RUNNING ? -1 : count;
		} else {
			thread->is_let_run = !threads_is_libc(thread);
			if (thread->is_let_run)
				fxt_tracee_release(thread);
			else if (!threads_leave_agent(t, thread) && thread->state != FXT_TRACEE_GONE)
				count = -1;
			if (count >= 0)
				count++;
		}
	}
	if (list)
		closedir(list);
	return count;
}

bool fxt_threads_stop_others(struct fxt_threads *t, const struct fxt_tracee *chosen, uint64_t patience_ns)
{
	int count;

	for (size_t i = 0; i < t->count; i++)
		t->all[i]->is_let_run = false;
	/* A thread that was not stopped yet may have made another one. */
	do
		count = threads_stop_round(t, chosen, patience_ns);
	while (count > 0);
	if (count < 0)
		fxt_threads_release(t, chosen);
	return count == 0;
}

void fxt_threads_release(struct fxt_threads *t, const struct fxt_tracee *chosen)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->all[i] != chosen)
			fxt_tracee_release(t->all[i]);
}

void fxt_threads_free(struct fxt_threads *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->all[i]);
	free(t->all);
	fxt_stacks_close(t->stacks);
}
