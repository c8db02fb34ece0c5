/*
 * The thread that reads the kernel's records, and the calls of the session. The session's
 * calls must not wait for the reader, unless sched.h says so.
 */
#include "sched.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "launcher/message.h"
#include "reader/time/timeline.h"
#include "writer/shared/atomics.h"

/* In a streaming session records go into the archive after this time. */
#define READ_NS UINT64_C(100000000)

/* Without a thread that waits, looks are at most so far apart. */
#define IDLE_NS UINT64_C(16000000)

/* The processor time of a wakeup, of a ring in its poll(), and the part of it that looks
 * may take: 0.4 % of a processor. */
enum { WAKEUP_NS = 6000, FD_NS = 200, SHARE = 250 };

/* After so many switches of a batch they are written to the archive, which bounds the
 * memory used. */
#define FLUSH_RECORDS 4096
#define CLOCK_NS      UINT64_C(10000000)

/* ---- the clock ---- */

/* Reads the clock. Times of records are converted by the rate between this reading and one
 * at least CLOCK_NS older; between closer readings the rate would be inexact. */
static void sched_read_clock(struct fxt_sched *s)
{
	s->now = fxt_clock_read_pair(s->clock);
	if (s->now.ns - s->last.ns >= CLOCK_NS) {
		s->rate = fxt_clock_rate(s->clock, s->last, s->now);
		s->last = s->now;
	}
}

static uint64_t sched_ticks_of(const struct fxt_sched *s, uint64_t ns)
{
	__int128 past = (__int128)s->now.ns - ns;

	return (uint64_t)(s->now.ticks - past * s->rate / 1000000000);
}

/* ---- what the session tells ---- */

void fxt_sched_start(struct fxt_sched *s, bool clear)
{
	if (s->is_begun)
		fxt_sched_registry_add_command(
		        &s->registry, s->clock, (struct fxt_sched_command){.record = true, .clear = clear});
}

void fxt_sched_stop(struct fxt_sched *s, bool write)
{
	if (s->is_begun)
		fxt_sched_registry_add_command(
		        &s->registry, s->clock, (struct fxt_sched_command){.write = write});
}

void fxt_sched_add(
        struct fxt_sched *s, pid_t pid, pid_t own_pid, uint64_t koid, const struct fxt_control *control)
{
	if (s->is_begun)
		fxt_sched_registry_add_process(&s->registry, (struct fxt_sched_process){pid, own_pid, koid,
		                                                     fxt_clock_ticks(s->clock), control, 0});
}

/* ---- into the archive ---- */

/* Writes the kept records, and before them the switch-ins of threads that still run and
 * came earlier. */
static void sched_write_log(
        const struct fxt_sched *s, struct fxt_archive_writer *archive, struct fxt_archive_provider *p)
{
	struct fxt_sched_event switch_in;

	for (unsigned i = 0; i < s->perf.count; i++)
		if (fxt_sched_cpu_is_older(&s->cpus[i], &switch_in))
			fxt_sched_log_write_one(&switch_in, archive, p);
	fxt_sched_log_write(&s->log, archive, p);
	fxt_sched_log_write(&s->faults, archive, p);
	fxt_sched_blocked_write(&s->blocked, archive, p);
}

/* Takes the names from all processes that have not ended, under the lock. */
static void sched_name_tracks(struct fxt_sched *s)
{
	const struct fxt_control *control;

	for (uint32_t i = 0; (control = fxt_sched_registry_control(&s->registry, i)) != NULL; i++)
		fxt_sched_tracks_name(&s->rows, control);
	s->rows.has_new = false;
}

static bool sched_has_kept(const struct fxt_sched *s)
{
	return s->log.begin != s->log.end || s->faults.begin != s->faults.end ||
	       s->blocked.begin != s->blocked.end;
}

void fxt_sched_write(const struct fxt_sched *s, struct fxt_archive_writer *archive)
{
	struct fxt_archive_provider identity = s->identity;

	if (!s->is_begun)
		return;
	if (sched_has_kept(s)) {
		fxt_sched_log_introduce(archive, &identity, *s->ticks_per_second);
		fxt_sched_tracks_write_all(&s->rows, archive, &identity);
		sched_write_log(s, archive, &identity);
	}
	if (sched_has_kept(s) || s->is_introduced)
		fxt_sched_log_write_missing(&s->faults, archive, &identity);
	if (s->log.lost)
		fxt_archive_write_loss(archive, &identity);
}

/* Moves the records in memory into the archive. */
static void sched_flush(struct fxt_sched *s)
{
	if (!sched_has_kept(s))
		return;
	if (!s->is_introduced)
		fxt_sched_log_introduce(s->archive, &s->identity, *s->ticks_per_second);
	s->is_introduced = true;
	fxt_sched_tracks_write_new(&s->rows, s->archive, &s->identity);
	sched_write_log(s, s->archive, &s->identity);
	s->log.begin = s->log.end = 0;
	s->faults.begin = s->faults.end = 0;
	s->blocked.begin = s->blocked.end;
}

/* ---- reading ---- */

static void sched_take_fault(struct fxt_sched *s, const struct fxt_perf_record *record)
{
	uint64_t ticks = sched_ticks_of(s, record->ns), since = ticks;
	struct fxt_koids koids;

	if (record->kind == FXT_PERF_LOST) {
		s->faults.lost += record->lost;
		return;
	}
	if (!fxt_sched_registry_is_recording(&s->registry, ticks))
		return;
	koids = fxt_sched_registry_koids(&s->registry, record->pid, record->tid, &since, ticks);
	if (koids.thread)
		fxt_sched_log_put(&s->faults, (struct fxt_sched_event){.ticks = ticks,
		                                      .koid = fxt_sched_tracks_koid(&s->rows, koids),
		                                      .process = koids.process});
}

/* Takes all present faults of a CPU. */
static void sched_read_faults(struct fxt_sched *s, struct fxt_perf_ring *ring)
{
	struct fxt_perf_record record;
	uint64_t end = fxt_perf_end(ring);

	while (fxt_perf_next(ring, end, &record))
		sched_take_fault(s, &record);
}

/* Moves a head down to its place in a heap with the earliest head on top: there may be
 * hundreds of CPUs. */
static void sched_sift(struct fxt_sched_head *heads, unsigned count, unsigned at)
{
	for (unsigned child; (child = 2 * at + 1) < count; at = child) {
		struct fxt_sched_head head = heads[at];

		if (child + 1 < count && heads[child + 1].record.ns < heads[child].record.ns)
			child++;
		if (head.record.ns <= heads[child].record.ns)
			return;
		heads[at] = heads[child];
		heads[child] = head;
	}
}

/* Takes the next record of the head's CPU; false if there is none. */
static bool sched_next(const struct fxt_sched *s, struct fxt_sched_head *head)
{
	return fxt_perf_next(&s->perf.rings[head->cpu], s->ends[head->cpu], &head->record);
}

/* Takes the switches of all CPUs up to `ends`, in order of time. The order matters: after
 * its end was read a thread has no koid any more, and it may have run on another CPU
 * before. */
static void sched_read_switches(struct fxt_sched *s)
{
	struct fxt_sched_head *heads = s->heads;
	unsigned count = 0, taken = 0;

	for (unsigned i = 0; i < s->perf.count; i++) {
		heads[count].cpu = i;
		count += sched_next(s, &heads[count]);
	}
	for (unsigned i = count / 2; i-- > 0;)
		sched_sift(heads, count, i);
	while (count > 0) {
		fxt_sched_cpu_take(&s->cpus[heads->cpu], &heads->record, sched_ticks_of(s, heads->record.ns));
		if (!sched_next(s, heads))
			*heads = heads[--count];
		sched_sift(heads, count, 0);
		if (s->mode == FXT_STREAMING && ++taken % FLUSH_RECORDS == 0)
			sched_flush(s);
	}
}

/* Takes all records that the kernel has reported until now into memory, under the lock. */
static void sched_take_records(struct fxt_sched *s)
{
	sched_read_clock(s);
	/* After its end was read a thread has no koid any more, so the earlier faults of
	 * all CPUs come first. */
	for (unsigned i = 0; i < s->perf.count; i++)
		s->ends[i] = fxt_perf_end(&s->perf.rings[i]);
	for (unsigned i = 0; s->perf.faults && i < s->perf.count; i++)
		sched_read_faults(s, &s->perf.faults[i]);
	if (s->rows.has_new)
		sched_name_tracks(s);
	sched_read_switches(s);
	for (unsigned i = 0; i < s->perf.count; i++)
		fxt_sched_cpu_reached(&s->cpus[i], s->now.ticks);
}

/* The same, into the archive if the session streams. */
static void sched_read_rings(struct fxt_sched *s)
{
	sched_take_records(s);
	if (s->mode == FXT_STREAMING)
		sched_flush(s);
	s->flushed_ns = s->now.ns;
}

/* Turns to the session's new archive, which has nothing of the provider yet. */
static void sched_look_at_archive(struct fxt_sched *s)
{
	/* Acquire: pairs with the main thread's release; the archive has begun. */
	struct fxt_archive_writer *archive = load_acquire(s->session_archive);

	if (archive == s->archive)
		return;
	sched_flush(s);
	s->identity.announced = s->is_introduced = false;
	fxt_sched_tracks_repeat(&s->rows);
	/* Release: pairs with the acquire of fxt_session_has_left(). */
	store_release(&s->archive, archive);
}

/* Carries out on the log the commands that all CPUs have carried out, under the lock. */
static void sched_carry_out_commands(struct fxt_sched *s)
{
	struct fxt_sched_command command;

	for (; fxt_sched_registry_command(&s->registry, s->commands_done, &command) &&
	        command.ticks <= s->now.ticks;
	        s->commands_done++) {
		if (command.write)
			sched_flush(s);
		if (command.clear) {
			fxt_sched_log_forget(&s->log, command.ticks);
			fxt_sched_log_forget(&s->faults, command.ticks);
			fxt_sched_blocked_forget(&s->blocked, command.ticks);
		}
	}
}

/* ---- the thread ---- */

static uint64_t sched_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Takes the records, and asks the kernel for the threads that have waited for a while.
 * Returns the processor time that looking took, without that of the records: these had to
 * be taken anyway. */
static uint64_t sched_look(struct fxt_sched *s, bool is_full)
{
	uint64_t ago = s->rate / (1000000000 / FXT_BLOCKED_NS), noted = s->blocked.noted, begin;

	pthread_mutex_lock(&s->lock);
	sched_look_at_archive(s);
	if (is_full || fxt_clock_read_pair(s->clock).ns - s->flushed_ns >= READ_NS)
		sched_read_rings(s);
	else
		sched_take_records(s);
	sched_carry_out_commands(s);
	begin = sched_cpu_ns();
	fxt_sched_blocked_look(&s->blocked, &s->registry, s->clock, s->now.ticks - ago);
	s->is_quiet = s->blocked.noted == noted && s->blocked.count == 0;
	pthread_mutex_unlock(&s->lock);
	return sched_cpu_ns() - begin;
}

/*
 * Returns the time to sleep. A thread that waits is looked at when it has waited for
 * FXT_BLOCKED_NS. Without one, looks become rarer up to IDLE_NS. The processor time of the
 * last look is less than a 250th of the sleep.
 */
static uint64_t sched_pause_ns(struct fxt_sched *s, uint64_t spent)
{
	uint64_t least = (spent + WAKEUP_NS + FD_NS * s->perf.count) * SHARE;

	s->pause_ns = !s->is_quiet || !s->pause_ns ? FXT_BLOCKED_NS
	              : 2 * s->pause_ns < IDLE_NS  ? 2 * s->pause_ns
	                                           : IDLE_NS;
	least = least > s->pause_ns ? least : s->pause_ns;
	return least < READ_NS ? least : READ_NS;
}

static void *sched_run(void *argument)
{
	struct fxt_sched *s = argument;
	nfds_t count = 1 + (s->perf.faults ? 2 : 1) * s->perf.count;
	struct pollfd *polled = calloc(count, sizeof(*polled));
	struct timespec pause = {0};
	int ready;

	if (!polled)
		return NULL; /* fxt_sched_remove() still reads the rings */
	polled[0] = (struct pollfd){.fd = s->stop, .events = POLLIN};
	for (nfds_t i = 1; i < count; i++)
		polled[i] = (struct pollfd){.events = POLLIN,
		        .fd = i <= s->perf.count ? s->perf.rings[i - 1].fd
		                                 : s->perf.faults[i - 1 - s->perf.count].fd};
	while (((ready = ppoll(polled, count, &pause, NULL)) >= 0 || errno == EINTR) && !polled[0].revents) {
		pause.tv_nsec = (long)sched_pause_ns(s, sched_look(s, ready > 0));
		for (nfds_t i = 1; i < count; i++)
			if (polled[i].revents & ~POLLIN) /* no traced process is left: the ring would stay
			                                  * ready */
				polled[i].fd = -1;
	}
	free(polled);
	return NULL;
}

/* ---- its life ---- */

int fxt_sched_open(struct fxt_sched *s, pid_t program, bool stays, enum fxt_clock_kind clock,
        struct fxt_clock_pair first)
{
	int error;

	*s = (struct fxt_sched){.stays = stays,
	        .clock = clock,
	        .last = first,
	        .stop = -1,
	        .identity = {.id = FXT_SCHED_PROVIDER, .is_kernel = true},
	        .lock = PTHREAD_MUTEX_INITIALIZER};
	error = fxt_perf_open(&s->perf, program, !stays);
	if (error)
		return error;
	s->is_open = true;
	fxt_archive_name(&s->identity, "scheduler", strlen("scheduler"));
	s->rate = fxt_clock_rate(clock, first, fxt_clock_read_pair(clock));
	s->cpus = calloc(s->perf.count, sizeof(*s->cpus));
	s->ends = calloc(s->perf.count, sizeof(*s->ends));
	s->heads = calloc(s->perf.count, sizeof(*s->heads));
	s->stop = eventfd(0, EFD_CLOEXEC);
	error = !s->cpus || !s->ends || !s->heads || s->stop < 0 ? errno : 0;
	if (error)
		fxt_sched_close(s);
	return error;
}

int fxt_sched_faults_error(const struct fxt_sched *s)
{
	return s->perf.faults_error;
}

int fxt_sched_begin(struct fxt_sched *s, enum fxt_buffering_mode mode,
        struct fxt_archive_writer *const *archive, const uint64_t *ticks_per_second)
{
	int error;

	if (!s->is_open)
		return 0;
	s->mode = mode;
	s->session_archive = archive;
	s->archive = *archive;
	s->ticks_per_second = ticks_per_second;
	s->identity.announced = s->is_introduced = false;
	s->commands_done = 0;
	fxt_sched_registry_open(&s->registry);
	for (unsigned i = 0; i < s->perf.count; i++)
		s->cpus[i] = (struct fxt_sched_cpu){.number = (uint16_t)s->perf.rings[i].cpu,
		        .log = &s->log,
		        .registry = &s->registry,
		        .blocked = &s->blocked};
	error = fxt_sched_log_open(&s->log, mode == FXT_CIRCULAR);
	if (!error)
		error = fxt_sched_log_open(&s->faults, mode == FXT_CIRCULAR);
	if (!error)
		error = fxt_sched_blocked_open(&s->blocked, mode == FXT_CIRCULAR);
	if (!error && s->stays)
		error = fxt_perf_enable(&s->perf);
	if (!error)
		error = pthread_create(&s->thread, NULL, sched_run, s);
	s->is_begun = !error;
	if (error)
		fxt_sched_close(s);
	return error;
}

uint64_t fxt_sched_end_of(struct fxt_sched *s, const struct fxt_control *control)
{
	uint64_t ended;

	if (!s->is_begun)
		return 0;
	pthread_mutex_lock(&s->lock);
	sched_read_rings(s);
	ended = fxt_sched_registry_end_of(&s->registry, control);
	pthread_mutex_unlock(&s->lock);
	return ended;
}

void fxt_sched_remove(struct fxt_sched *s, const struct fxt_control *control)
{
	if (!s->is_begun)
		return;
	pthread_mutex_lock(&s->lock);
	sched_read_rings(s);
	fxt_sched_tracks_name(&s->rows, control);
	if (s->is_introduced)
		fxt_sched_tracks_write_new(&s->rows, s->archive, &s->identity);
	fxt_sched_registry_remove_process(&s->registry, control);
	pthread_mutex_unlock(&s->lock);
}

bool fxt_sched_hold(struct fxt_sched *s)
{
	if (!s->is_begun)
		return true;
	if (pthread_mutex_trylock(&s->lock) != 0)
		return false;
	sched_read_rings(s);
	sched_name_tracks(s);
	return true;
}

void fxt_sched_release(struct fxt_sched *s)
{
	if (s->is_begun)
		pthread_mutex_unlock(&s->lock);
}

static void sched_say_lost(const struct fxt_sched *s, uint64_t lost, const char *what)
{
	if (lost)
		fxt_say("%" PRIu64 " %s are not in the trace: %s", lost, what,
		        s->mode == FXT_ONESHOT ? "there were too many to be kept"
		                               : "they came faster than they could be read");
}

void fxt_sched_finish(struct fxt_sched *s)
{
	uint64_t one = 1;

	if (!s->is_begun)
		return;
	while (write(s->stop, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(s->thread, NULL);
	sched_carry_out_commands(s);
	fxt_sched_write(s, s->archive);
	sched_say_lost(s, s->log.lost, "context switches");
	sched_say_lost(s, s->faults.lost, "page faults");
	if (!s->stays) {
		fxt_sched_close(s);
		return;
	}
	fxt_perf_disable(&s->perf);
	fxt_sched_log_close(&s->log);
	fxt_sched_log_close(&s->faults);
	fxt_sched_blocked_close(&s->blocked);
	fxt_sched_tracks_free(&s->rows);
	fxt_sched_registry_close(&s->registry);
	s->is_begun = false;
	if (read(s->stop, &one, sizeof(one)) < 0) /* cannot fail: the value was written above */
		fxt_sched_close(s);
}

void fxt_sched_close(struct fxt_sched *s)
{
	if (!s->is_open)
		return;
	fxt_perf_close(&s->perf);
	if (s->stop >= 0)
		close(s->stop);
	fxt_sched_log_close(&s->log);
	fxt_sched_log_close(&s->faults);
	fxt_sched_blocked_close(&s->blocked);
	fxt_sched_tracks_free(&s->rows);
	free(s->cpus);
	free(s->ends);
	free(s->heads);
	fxt_sched_registry_close(&s->registry);
	*s = (struct fxt_sched){0};
}
