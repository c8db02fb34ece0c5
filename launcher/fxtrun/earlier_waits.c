/* Follows waits from outside, in /proc (earlier_waits.h). Runs on the main thread. It must
 * not claim that a thread waits without having seen it. */
#include "earlier_waits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "launcher/attach/process.h"
#include "launcher/proc_status.h"
#include "writer/engine/waits.h"
#include "writer/format/earlier_wait.h"
#include "writer/format/encode.h"
#include "writer/format/escape.h"
#include "writer/format/inherited.h"
#include "writer/format/thread_object.h"

/* Threads that one look asks for: less than a millisecond. */
#define LOOK_THREADS 32

/* A thread that was stopped is back in its call by then. */
#define BACK_NS UINT64_C(1000000000)

/* No process gets such a high id; the scheduler has the next one. */
#define PROVIDER_ID (UINT32_MAX - 1)

enum { RECORD_WORDS = 96 };

/* The kernel's line for a thread that has ended. */
#define ENDED "-1 0x0 0x0"

enum state { ADDED, WAITING, OVER, ENDED_WAITING, LEFT };

struct fxt_earlier_wait {
	struct fxt_waiting waiting;
	struct fxt_blocked_sample sample;
	enum state state;
	char switches[32]; /* how often the thread has gone to wait */
	char name[FXT_THREAD_NAME_BYTES];
	uint64_t added_ns; /* CLOCK_MONOTONIC */
	uint64_t begin;    /* ticks of the first look that saw it wait; the sample has the last one's */
};

/* ---- looking ---- */

static const struct fxt_provider *earlier_provider(const struct fxt_session *session, pid_t pid)
{
	for (uint32_t i = session->count; i-- > 0;) {
		const struct fxt_provider *p = session->providers[i];

		/* In a PID namespace the agent has other numbers for threads. */
		if (p->pid == pid && p->own_pid == pid)
			return p;
	}
	return NULL;
}

/* True if the process has ended by exit(): then nobody waits for its threads any more. */
static bool earlier_has_exited(const struct fxt_provider *p)
{
	return p && (p->end == FXT_END_NONE ? fxt_provider_own_account(p) : p->ending) == FXT_ENDED_NORMALLY;
}

/* True if both lines tell of the same call: of its arguments and its place. The kernel
 * continues some calls as another one. */
static bool earlier_is_same_call(const char *then, const char *now)
{
	const char *after = strchr(then, ' '), *place = strchr(now, ' ');

	return after && place && strcmp(after, place) == 0 &&
	       (strncmp(then, now, (size_t)(after - then) + 1) == 0 ||
	               strtol(now, NULL, 10) == SYS_restart_syscall);
}

/* The thread is where it was: from now on it must not have gone to wait again. */
static void earlier_begin(struct fxt_earlier_wait *one, const struct fxt_provider *p,
        const struct fxt_blocked_thread *thread, const char *line)
{
	char name[64];

	if (fxt_proc_status(one->waiting.tid, "Name", name, sizeof(name)))
		snprintf(one->name, sizeof(one->name), "%s", name);
	fxt_sched_blocked_find_file(&one->sample, thread, line);
	one->sample.process = p->process_koid;
	one->sample.thread = fxt_thread_koid(thread->tid, 1);
	one->begin = one->sample.ticks = fxt_clock_ticks(p->clock);
	one->state = WAITING;
}

/* Judges the kernel's line of a thread. */
static enum state earlier_judge(const struct fxt_earlier_wait *one, const struct fxt_provider *p,
        const char *line, const char *switches)
{
	enum state otherwise = one->state == ADDED ? LEFT : OVER;

	if (p && p->end != FXT_END_JOINED &&
	        load_relaxed(fxt_tid_uses(p->memory.control, (uint32_t)one->waiting.tid)) > 0)
		return otherwise;
	if (strncmp(line, ENDED, strlen(ENDED)) == 0)
		return one->state == ADDED ? LEFT : earlier_has_exited(p) ? OVER : ENDED_WAITING;
	if (one->state == ADDED && strncmp(line, "running", 7) == 0)
		return ADDED;
	if (!earlier_is_same_call(one->waiting.line, line))
		return otherwise;
	return one->state == ADDED || strcmp(switches, one->switches) == 0 ? WAITING : OVER;
}

static void earlier_look(struct fxt_earlier_wait *one, const struct fxt_session *session)
{
	const struct fxt_blocked_thread thread = {
	        .pid = (uint32_t)one->waiting.pid, .tid = (uint32_t)one->waiting.tid};
	const struct fxt_provider *p = earlier_provider(session, one->waiting.pid);
	char line[FXT_BLOCKED_LINE_BYTES], switches[sizeof(one->switches)];
	uint64_t ticks = fxt_clock_ticks(session->config.clock);
	enum state state;

	if (one->state > WAITING)
		return;
	/* The thread waited when the line was read, if it has not gone to wait again since. */
	if (!p || p->end == FXT_END_JOINED || !fxt_sched_blocked_read(&thread, line) ||
	        !fxt_proc_status(one->waiting.tid, "voluntary_ctxt_switches", switches, sizeof(switches)))
		strcpy(line, ENDED);
	state = earlier_judge(one, p, line, switches);
	if (one->state == WAITING && state == WAITING)
		one->sample.ticks = ticks;
	if (one->state == ADDED && state == WAITING) {
		strcpy(one->switches, switches);
		earlier_begin(one, p, &thread, line);
	}
	one->state = state;
}

void fxt_earlier_waits_add(
        struct fxt_earlier_waits *w, const struct fxt_session *session, const struct fxt_waiting *waiting)
{
	struct fxt_earlier_wait *items = w->items;

	if (w->count == w->room) {
		items = realloc(items, (2 * w->room + 16) * sizeof(*items)); // NOLINT
		if (!items)
			return;
		w->items = items;
		w->room = 2 * w->room + 16;
	}
	items[w->count] = (struct fxt_earlier_wait){
	        .waiting = *waiting, .sample = {.fd = -1}, .added_ns = fxt_monotonic_ns()};
	if (fxt_sched_blocked_take_line(&items[w->count].sample, waiting->line))
		earlier_look(&items[w->count++], session);
}

void fxt_earlier_waits_look(struct fxt_earlier_waits *w, const struct fxt_session *session)
{
	for (unsigned i = 0; i < LOOK_THREADS && i < w->count; i++)
		earlier_look(&w->items[w->next++ % w->count], session);
}

bool fxt_earlier_waits_end(struct fxt_earlier_waits *w, const struct fxt_session *session)
{
	uint64_t now = fxt_monotonic_ns();
	bool is_early = false;

	for (size_t i = 0; i < w->count; i++) {
		earlier_look(&w->items[i], session);
		is_early |= w->items[i].state == ADDED && now - w->items[i].added_ns < BACK_NS;
	}
	return !is_early;
}

/* ---- records ---- */

/* The archive that gets the records of a wait, and the parts that these have in common. */
struct earlier_writer {
	struct fxt_archive_writer *archive;
	struct fxt_archive_provider identity;
	enum fxt_event_type type;
	struct fxt_thread thread;
	uint64_t begin, until;
	uint64_t step; /* ticks between two begins */
};

static void earlier_write_event(struct earlier_writer *writer, const char *category, struct fxt_string name,
        const struct fxt_argument *arguments, size_t count)
{
	uint64_t record[RECORD_WORDS];
	size_t words = fxt_put_event(record, RECORD_WORDS, writer->type, writer->thread,
	        fxt_string_text(category), name, writer->begin, arguments, count, writer->until);

	fxt_archive_write(writer->archive, &writer->identity, record, words * sizeof(*record));
	writer->begin += writer->step;
}

static void earlier_write_wait(struct earlier_writer *writer, const struct fxt_earlier_wait *one)
{
	const struct fxt_blocked_sample *sample = &one->sample;
	struct fxt_string call = *one->waiting.function ? fxt_string_text(one->waiting.function)
	                                                : fxt_string_inline(sample->call, sample->call_bytes);
	struct fxt_argument arguments[5];
	size_t count = 0;

	if (sample->fd >= 0)
		arguments[count++] = fxt_argument_int32(fxt_string_text("fd"), sample->fd);
	if (sample->file_bytes)
		arguments[count++] = fxt_argument_string(
		        fxt_string_text(FXT_WAIT_FILE), fxt_string_inline(sample->file, sample->file_bytes));
	if (sample->address)
		arguments[count++] = fxt_argument_pointer(fxt_string_text("object"), sample->address);
	if (one->waiting.holder > 0)
		arguments[count++] = fxt_argument_koid(
		        fxt_string_text("holder"), fxt_thread_koid((uint32_t)one->waiting.holder, 1));
	arguments[count++] =
	        fxt_argument_string(fxt_string_text(FXT_WAIT_SINCE), fxt_string_text(FXT_WAIT_BEFORE_ATTACH));
	earlier_write_event(writer, FXT_WAIT_CATEGORY, call, arguments, count);
}

static void earlier_write_thread(struct earlier_writer *writer, const struct fxt_earlier_wait *one)
{
	struct fxt_argument process = fxt_argument_koid(fxt_string_text("process"), one->sample.process);
	char valid[FXT_VALID_NAME_BYTES];
	size_t bytes = fxt_escape(valid, sizeof(valid), one->name, strlen(one->name));
	uint64_t record[RECORD_WORDS];
	size_t words = fxt_put_kernel_object(record, RECORD_WORDS, FXT_OBJECT_THREAD, one->sample.thread,
	        fxt_string_inline(valid, bytes), &process, 1);

	fxt_archive_write(writer->archive, &writer->identity, record, words * sizeof(*record));
}

/* The thread still waited then. Without another event the trace would end before. */
static void earlier_write_last_look(struct earlier_writer *writer)
{
	uint64_t record[RECORD_WORDS];
	size_t words = fxt_put_event(record, RECORD_WORDS, FXT_EVENT_INSTANT, writer->thread,
	        fxt_string_text("process"), fxt_string_text("still waiting"), writer->until, NULL, 0, 0);

	fxt_archive_write(writer->archive, &writer->identity, record, words * sizeof(*record));
}

static void earlier_write(struct earlier_writer *writer, const struct fxt_earlier_wait *one)
{
	const struct fxt_waiting *waiting = &one->waiting;
	bool is_open =
	        one->state == WAITING || (one->state == ENDED_WAITING && fxt_process_has_ended(waiting->pid));

	writer->type = is_open ? FXT_EVENT_DURATION_BEGIN : FXT_EVENT_DURATION_COMPLETE;
	writer->thread = fxt_thread_inline(one->sample.process, one->sample.thread);
	writer->begin = one->begin;
	/* Each is inside the one before, however short the wait was. */
	writer->until = one->begin + FXT_STACK_FRAMES * writer->step;
	if (writer->until < one->sample.ticks)
		writer->until = one->sample.ticks;
	earlier_write_thread(writer, one);
	for (size_t at = 0; at < waiting->path_bytes; at += strlen(waiting->path + at) + 1)
		earlier_write_event(
		        writer, FXT_INHERITED_CATEGORY, fxt_string_text(waiting->path + at), NULL, 0);
	earlier_write_wait(writer, one);
	if (is_open)
		earlier_write_last_look(writer);
}

size_t fxt_earlier_waits_write(struct fxt_earlier_waits *w, struct fxt_session *session)
{
	uint64_t rate = session->config.ticks_per_second, record[4];
	struct earlier_writer writer = {.archive = session->archive,
	        .identity = {.id = PROVIDER_ID, .is_kernel = true},
	        .step = rate / 1000000000 + 1};
	size_t written = 0;

	fxt_archive_name(&writer.identity, "attached", strlen("attached"));
	for (size_t i = 0; i < w->count; i++) {
		if (w->items[i].state == ADDED || w->items[i].state == LEFT)
			continue;
		if (written++ == 0)
			fxt_archive_write(writer.archive, &writer.identity, record,
			        fxt_put_initialization(record, 4, rate) * sizeof(*record));
		earlier_write(&writer, &w->items[i]);
	}
	free(w->items);
	*w = (struct fxt_earlier_waits){0};
	return written;
}
