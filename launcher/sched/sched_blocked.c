#include "sched_blocked.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "reader/time/timeline.h"
#include "reader/trace/index.h"
#include "sched_set.h"
#include "sched_socket.h"
#include "writer/engine/waits.h"
#include "writer/format/encode.h"
#include "writer/format/escape.h"

enum { RECORD_WORDS = 80 };

/* ---- noting ---- */

int fxt_sched_blocked_open(struct fxt_sched_blocked *b, bool keeps_last)
{
	*b = (struct fxt_sched_blocked){.keeps_last = keeps_last};
	b->samples = calloc(FXT_BLOCKED_SAMPLES, sizeof(*b->samples));
	return b->samples ? 0 : ENOMEM;
}

void fxt_sched_blocked_close(struct fxt_sched_blocked *b)
{
	free(b->samples);
	b->samples = NULL;
}

void fxt_sched_blocked_put(struct fxt_sched_blocked *b, struct fxt_blocked_thread thread)
{
	if (b->count == FXT_BLOCKED_THREADS)
		return;
	b->threads[b->count++] = thread;
	b->noted++;
}

void fxt_sched_blocked_take(struct fxt_sched_blocked *b, uint32_t tid)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < b->count; i++)
		if (b->threads[i].tid != tid)
			b->threads[kept++] = b->threads[i];
	b->count = kept;
}

/* ---- asking ---- */

static struct fxt_blocked_sample *blocked_sample(const struct fxt_sched_blocked *b, uint64_t number)
{
	return &b->samples[number % FXT_BLOCKED_SAMPLES];
}

/* Reads a file of a thread's in /proc, of one line. Returns false if there is none. */
static bool blocked_read(
        const struct fxt_blocked_thread *thread, const char *name, char line[FXT_BLOCKED_LINE_BYTES])
{
	char path[64];
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", thread->pid, thread->tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bytes = read(fd, line, FXT_BLOCKED_LINE_BYTES - 1);
	close(fd);
	line[bytes > 0 ? bytes : 0] = '\0';
	return bytes > 0;
}

bool fxt_sched_blocked_read(const struct fxt_blocked_thread *thread, char line[FXT_BLOCKED_LINE_BYTES])
{
	return blocked_read(thread, "syscall", line);
}

static void blocked_set_call(struct fxt_blocked_sample *sample, const char *name)
{
	sample->call_bytes = (uint8_t)strlen(name);
	memcpy(sample->call, name, sample->call_bytes);
}

bool fxt_sched_blocked_take_line(struct fxt_blocked_sample *sample, const char *line)
{
	char unnamed[FXT_BLOCKED_CALL_BYTES];
	unsigned long first = 0;
	long number;

	if (sscanf(line, "%ld %lx", &number, &first) < 1 || number < 0)
		return false;
	const struct fxt_sched_call *call = fxt_sched_call(number);

	if (!call) {
		snprintf(unnamed, sizeof(unnamed), "%ld", number);
		blocked_set_call(sample, unnamed);
		return true;
	}
	blocked_set_call(sample, call->name);
	sample->subject = call->subject;
	if (call->subject == FXT_CALL_OF_DESCRIPTOR)
		sample->fd = (int32_t)first;
	if (call->subject == FXT_CALL_OF_ADDRESS)
		sample->address = first;
	return true;
}

/* Reads the name of the descriptor's file. False: there is none. */
static bool blocked_read_file(struct fxt_blocked_sample *sample, const struct fxt_blocked_thread *thread)
{
	char path[64], target[4096];
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/fd/%d", thread->pid, thread->tid, sample->fd);
	bytes = readlink(path, target, sizeof(target) - 1);
	if (bytes <= 0)
		return false;
	target[bytes] = '\0';
	sscanf(target, "socket:[%" SCNu64 "]", &sample->socket);
	/* The end of a path says more than its beginning. */
	size_t left_out = bytes > FXT_BLOCKED_FILE_BYTES ? (size_t)bytes - FXT_BLOCKED_FILE_BYTES : 0;

	sample->file_bytes = (uint16_t)fxt_escape(
	        sample->file, FXT_BLOCKED_FILE_BYTES, target + left_out, (size_t)bytes - left_out);
	return true;
}

/* Names a socket by its ends, if the kernel does. */
static void blocked_name_socket(struct fxt_blocked_sample *sample, uint32_t pid)
{
	char name[FXT_BLOCKED_FILE_BYTES];

	if (sample->socket && fxt_sched_socket_name(pid, sample->socket, name, sizeof(name)))
		sample->file_bytes =
		        (uint16_t)fxt_escape(sample->file, FXT_BLOCKED_FILE_BYTES, name, strlen(name));
}

/* ---- several descriptors ---- */

struct blocked_set {
	struct fxt_sched_set set;
	struct fxt_blocked_sample shown[FXT_SET_SHOWN]; /* what each of the first ones is */
	uint32_t count;
};

/* Reads the descriptors that the call in the line waits for, and the names of their files.
 * False: it waits for none. */
static bool blocked_read_set(struct blocked_set *of, const struct fxt_blocked_thread *thread,
        enum fxt_sched_subject subject, const char *line)
{
	if (!fxt_sched_set_read(&of->set, thread->pid, subject, line))
		return false;
	of->count = of->set.count < FXT_SET_SHOWN ? of->set.count : FXT_SET_SHOWN;
	for (uint32_t i = 0; i < of->count; i++) {
		of->shown[i] = (struct fxt_blocked_sample){.fd = of->set.fds[i]};
		blocked_read_file(&of->shown[i], thread);
	}
	return true;
}

static void blocked_name_sockets(struct blocked_set *of, uint32_t pid)
{
	for (uint32_t i = 0; i < of->count; i++)
		blocked_name_socket(&of->shown[i], pid);
}

/* Makes the text of the sample: fd 3 (pipe:[123]), fd 5 (/dev/tty), fd 7 and 4 more. */
static void blocked_take_set(struct fxt_blocked_sample *sample, const struct blocked_set *of)
{
	uint32_t others = of->set.count - of->count;
	char text[FXT_BLOCKED_TEXT_BYTES + 1];
	int bytes = 0;

	for (uint32_t i = 0; i < of->count; i++) {
		const struct fxt_blocked_sample *one = &of->shown[i];
		bool is_last = i > 0 && i + 1 == of->count && others == 0 && !of->set.has_more;

		bytes += sprintf(text + bytes, "%sfd %d", is_last ? " and " : i > 0 ? ", " : "", one->fd);
		if (one->file_bytes)
			bytes += sprintf(text + bytes, " (%.*s)", one->file_bytes, one->file);
	}
	if (of->set.has_more)
		bytes += sprintf(text + bytes, " and %u or more others", others);
	else if (others > 0)
		bytes += sprintf(text + bytes, " and %u more", others);
	sample->file_bytes = (uint16_t)bytes;
	memcpy(sample->file, text, (size_t)bytes);
}

/* ---- samples ---- */

void fxt_sched_blocked_find_file(
        struct fxt_blocked_sample *sample, const struct fxt_blocked_thread *thread, const char *line)
{
	char again[FXT_BLOCKED_LINE_BYTES];

	struct blocked_set of = {0};

	if (sample->fd < 0 ? !blocked_read_set(&of, thread, sample->subject, line)
	                   : !blocked_read_file(sample, thread))
		return;
	if (!blocked_read(thread, "syscall", again) || strcmp(line, again) != 0) {
		sample->file_bytes = 0;
	} else if (of.count > 0) {
		blocked_name_sockets(&of, thread->pid);
		blocked_take_set(sample, &of);
	} else {
		blocked_name_socket(sample, thread->pid);
	}
}

/* Outside of a system call the thread waits for the memory that it touched, or is
 * stopped. */
static const char *blocked_elsewhere(const struct fxt_blocked_thread *thread)
{
	char line[FXT_BLOCKED_LINE_BYTES];
	bool is_known = blocked_read(thread, "wchan", line);

	return is_known && (strstr(line, "signal_stop") || strstr(line, "ptrace_stop")) ? FXT_BLOCKED_STOPPED
	                                                                                : FXT_BLOCKED_FAULT;
}

/* The thread's innermost frame, if that is a recorded wait's; its function is 0 otherwise.
 * The stack may be mapped in part, and its thread may change it: the kernel reads it for
 * us. */
static struct fxt_frame blocked_wait(const struct fxt_sched_process *process, uint32_t tid)
{
	const struct fxt_control *control = process->control;
	uint32_t used = load_acquire(&control->slots_used);

	for (uint32_t i = 0; i < used && i < FXT_SLOTS; i++) {
		const struct fxt_thread_slot *slot = fxt_control_slot(control, i);
		uint64_t end = load_acquire(&slot->top) - load_relaxed(&control->control_address);
		struct fxt_frame frame;

		if (load_relaxed(&slot->tid) != tid || load_acquire(&slot->state) != FXT_SLOT_LIVE ||
		        end < FXT_STACKS_OFFSET + sizeof(frame) || end > FXT_CONTROL_BYTES)
			continue;
		struct iovec to = {&frame, sizeof(frame)},
		             from = {(uint8_t *)control + end - sizeof(frame), sizeof(frame)};

		if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof(frame) &&
		        fxt_is_wait(frame.function))
			return frame;
	}
	return (struct fxt_frame){0};
}

/* False: there is no room. */
static bool blocked_add(struct fxt_sched_blocked *b, const struct fxt_blocked_sample *sample)
{
	if (b->end - b->begin == FXT_BLOCKED_SAMPLES) {
		if (!b->keeps_last)
			return false;
		b->begin++;
	}
	*blocked_sample(b, b->end++) = *sample;
	return true;
}

static bool blocked_is_same_file(const struct fxt_blocked_sample *a, const struct fxt_blocked_sample *b)
{
	if (a->process != b->process || a->fd != b->fd || a->socket != b->socket)
		return false;
	if (a->fd < 0)
		return a->thread == b->thread;
	return a->socket || (a->file_bytes == b->file_bytes && memcmp(a->file, b->file, a->file_bytes) == 0);
}

/* Returns the latest sample of the same file, or of the same files. NULL: there is none. */
static struct fxt_blocked_sample *blocked_latest(
        struct fxt_sched_blocked *b, const struct fxt_blocked_sample *sample, uint64_t number)
{
	struct fxt_blocked_sample *latest = number > b->begin ? blocked_sample(b, number - 1) : NULL;

	return latest && blocked_is_same_file(latest, sample) ? latest : NULL;
}

static void blocked_add_file(struct fxt_sched_blocked *b, struct fxt_blocked_sample *sample, uint32_t pid)
{
	uint64_t hash = sample->process * 31 + (uint32_t)sample->fd;
	uint64_t *number = &b->files[hash % FXT_BLOCKED_FILES];
	struct fxt_blocked_sample *latest = blocked_latest(b, sample, *number);

	if (latest) {
		latest->latest = sample->ticks;
		return;
	}
	blocked_name_socket(sample, pid);
	if (blocked_add(b, sample))
		*number = b->end;
}

/* Adds a sample for each wait, because the thread may have waited for other descriptors since
 * an equal sample. Only the names of sockets are taken from that one: finding them means
 * reading many files. */
static void blocked_add_set(
        struct fxt_sched_blocked *b, struct fxt_blocked_sample *sample, struct blocked_set *of, uint32_t pid)
{
	uint64_t *number = &b->files[(sample->thread * 31 - 1) % FXT_BLOCKED_FILES];

	blocked_take_set(sample, of);
	sample->socket =
	        (uint64_t)sample->file_bytes << 32 | fxt_hash_bytes(sample->file, sample->file_bytes);
	const struct fxt_blocked_sample *latest = blocked_latest(b, sample, *number);

	if (latest) {
		sample->file_bytes = latest->file_bytes;
		memcpy(sample->file, latest->file, latest->file_bytes);
	} else {
		blocked_name_sockets(of, pid);
		blocked_take_set(sample, of);
	}
	if (blocked_add(b, sample))
		*number = b->end;
}

/* Asks only for the files of the descriptors. The thread is in a recorded wait, and the record
 * has the rest. */
static void blocked_ask_for_file(struct fxt_sched_blocked *b, const struct fxt_blocked_thread *thread,
        const struct fxt_sched_process *process, uint32_t own_tid, const struct fxt_frame *wait,
        enum fxt_clock_kind clock)
{
	struct fxt_blocked_sample sample = {
	        .process = process->koid, .thread = thread->koid, .fd = fxt_wait_descriptor(wait->function)};
	struct fxt_blocked_sample asked = {0};
	bool has_several = fxt_wait_has_several(wait->function);
	char line[FXT_BLOCKED_LINE_BYTES];
	struct blocked_set of;

	if (has_several ? !fxt_sched_blocked_read(thread, line) ||
	                          !fxt_sched_blocked_take_line(&asked, line) ||
	                          !blocked_read_set(&of, thread, asked.subject, line)
	                : sample.fd < 0 || !blocked_read_file(&sample, thread))
		return;
	sample.ticks = fxt_clock_ticks(clock);
	const struct fxt_frame now = blocked_wait(process, own_tid);

	/* Otherwise the descriptor may be of another file now. */
	if (now.function != wait->function || now.start != wait->start)
		return;
	if (has_several)
		blocked_add_set(b, &sample, &of, thread->pid);
	else
		blocked_add_file(b, &sample, thread->pid);
}

static void blocked_ask(struct fxt_sched_blocked *b, const struct fxt_blocked_thread *thread,
        uint64_t process, enum fxt_clock_kind clock)
{
	struct fxt_blocked_sample sample = {.process = process, .thread = thread->koid, .fd = -1};
	char line[FXT_BLOCKED_LINE_BYTES];

	if (!fxt_sched_blocked_read(thread, line))
		return;
	if (strncmp(line, "running", 7) == 0) {
		/* It can go on. If it is on a CPU by now, the sample lies in no wait. */
		blocked_set_call(&sample, FXT_BLOCKED_READY);
	} else if (*line == '-') {
		blocked_set_call(&sample, blocked_elsewhere(thread));
	} else if (!fxt_sched_blocked_take_line(&sample, line)) {
		return;
	}
	fxt_sched_blocked_find_file(&sample, thread, line);
	sample.ticks = fxt_clock_ticks(clock);
	blocked_add(b, &sample);
}

void fxt_sched_blocked_look(struct fxt_sched_blocked *b, struct fxt_sched_registry *registry,
        enum fxt_clock_kind clock, uint64_t until)
{
	unsigned count = 0;

	for (; count < b->count && b->threads[count].since <= until; count++) {
		const struct fxt_blocked_thread *thread = &b->threads[count];
		struct fxt_sched_process process;
		uint32_t own_tid = fxt_sched_registry_thread(
		        registry, thread->pid, thread->tid, thread->since, &process);

		if (!own_tid || !fxt_sched_registry_is_recording(registry, fxt_clock_ticks(clock)))
			continue;
		const struct fxt_frame wait = blocked_wait(&process, own_tid);

		if (wait.function)
			blocked_ask_for_file(b, thread, &process, own_tid, &wait, clock);
		else
			blocked_ask(b, thread, process.koid, clock);
	}
	b->count -= count;
	memmove(b->threads, b->threads + count, b->count * sizeof(*b->threads));
}

void fxt_sched_blocked_forget(struct fxt_sched_blocked *b, uint64_t ticks)
{
	while (b->begin < b->end &&
	        (blocked_sample(b, b->begin)->latest ?: blocked_sample(b, b->begin)->ticks) < ticks)
		b->begin++;
}

/* ---- records ---- */

static size_t blocked_encode(
        const struct fxt_blocked_sample *sample, uint64_t ticks, uint64_t record[RECORD_WORDS])
{
	struct fxt_argument arguments[3];
	size_t count = 0;

	if (sample->call_bytes)
		arguments[count++] = fxt_argument_string(fxt_string_text(FXT_BLOCKED_CALL),
		        fxt_string_inline(sample->call, sample->call_bytes));
	if (sample->fd >= 0)
		arguments[count++] = fxt_argument_int32(fxt_string_text(FXT_BLOCKED_FD), sample->fd);
	if (sample->file_bytes)
		arguments[count++] = fxt_argument_string(fxt_string_text(FXT_BLOCKED_FILE),
		        fxt_string_inline(sample->file, sample->file_bytes));
	if (sample->address)
		arguments[count++] =
		        fxt_argument_pointer(fxt_string_text(FXT_BLOCKED_OBJECT), sample->address);
	return fxt_put_event(record, RECORD_WORDS, FXT_EVENT_INSTANT,
	        fxt_thread_inline(sample->process, sample->thread), fxt_string_text(FXT_BLOCKED_CATEGORY),
	        fxt_string_text(sample->call_bytes ? FXT_BLOCKED_EVENT : FXT_DESCRIPTOR_EVENT), ticks,
	        arguments, count, 0);
}

void fxt_sched_blocked_write(const struct fxt_sched_blocked *b, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider)
{
	uint64_t record[RECORD_WORDS];

	for (uint64_t i = b->begin; i < b->end; i++) {
		const struct fxt_blocked_sample *sample = blocked_sample(b, i);

		fxt_archive_write(
		        archive, provider, record, blocked_encode(sample, sample->ticks, record) * 8);
		if (sample->latest)
			fxt_archive_write(archive, provider, record,
			        blocked_encode(sample, sample->latest, record) * 8);
	}
}
