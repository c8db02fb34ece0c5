/*
 * Finds the cause of a process's death and writes it into the archive. Runs mostly on the
 * provider's thread. The reports of the program lie in memory that the program can write
 * to, and may be wrong.
 */
#include "death.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "launcher/proc_status.h"
#include "reader/trace/text.h"
#include "writer/format/encode.h"

/* ---- what is known ---- */

static const char *death_code(int signal, int code)
{
	static const struct {
		int signal, code;
		const char *name;
	} codes[] = {
#define CODE(signal, code) {signal, code, #code}
	        CODE(SIGSEGV, SEGV_MAPERR),
	        CODE(SIGSEGV, SEGV_ACCERR),
	        CODE(SIGSEGV, SEGV_BNDERR),
	        CODE(SIGSEGV, SEGV_PKUERR),
	        CODE(SIGBUS, BUS_ADRALN),
	        CODE(SIGBUS, BUS_ADRERR),
	        CODE(SIGBUS, BUS_OBJERR),
	        CODE(SIGBUS, BUS_MCEERR_AR),
	        CODE(SIGBUS, BUS_MCEERR_AO),
	        CODE(SIGFPE, FPE_INTDIV),
	        CODE(SIGFPE, FPE_INTOVF),
	        CODE(SIGFPE, FPE_FLTDIV),
	        CODE(SIGFPE, FPE_FLTOVF),
	        CODE(SIGFPE, FPE_FLTUND),
	        CODE(SIGFPE, FPE_FLTRES),
	        CODE(SIGFPE, FPE_FLTINV),
	        CODE(SIGFPE, FPE_FLTSUB),
	        CODE(SIGILL, ILL_ILLOPC),
	        CODE(SIGILL, ILL_ILLOPN),
	        CODE(SIGILL, ILL_ILLADR),
	        CODE(SIGILL, ILL_ILLTRP),
	        CODE(SIGILL, ILL_PRVOPC),
	        CODE(SIGTRAP, TRAP_BRKPT),
	        CODE(SIGTRAP, TRAP_TRACE),
	        CODE(0, SI_USER),
	        CODE(0, SI_KERNEL),
	        CODE(0, SI_QUEUE),
	        CODE(0, SI_TKILL),
	        CODE(0, SI_TIMER),
#undef CODE
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if ((codes[i].signal == 0 || codes[i].signal == signal) && codes[i].code == code)
			return codes[i].name;
	return "unknown";
}

/* True if the signal has an address. The kernel fills in none for signals that it, or
 * another process, generated. */
static bool death_has_address(int signal, int code)
{
	return code > 0 && code != SI_KERNEL && signal != SIGABRT;
}

/* True for a signal that a thread gets for its own error. Without a report of that thread,
 * nothing more is known. */
static bool death_is_of_a_thread(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
	       signal == SIGABRT || signal == SIGTRAP || signal == SIGSYS;
}

static void death_set_sender(struct fxt_death *death, const struct fxt_provider *p, pid_t sender)
{
	bool is_own = sender == p->own_pid || sender == p->pid;

	death->sender = is_own ? p->process_koid : (uint64_t)sender;
	death->origin = is_own ? FXT_DEATH_BY_ITSELF : FXT_DEATH_FROM_OUTSIDE;
}

enum fxt_seccomp fxt_death_seccomp(pid_t pid)
{
	char value[16];
	int mode = fxt_proc_status(pid, "Seccomp", value, sizeof(value)) ? atoi(value) : FXT_SECCOMP_NONE;

	return mode >= FXT_SECCOMP_STRICT && mode <= FXT_SECCOMP_KILLED ? (enum fxt_seccomp)mode
	                                                                : FXT_SECCOMP_NONE;
}

/* Uses the report of the thread that died. */
static bool death_was_noted(const struct fxt_provider *p, struct fxt_death *death)
{
	const struct fxt_fatal_signal *fatal = &p->memory.control->fatal;
	/* Acquire: pairs with the thread's release; the other fields were written
	 * before. */
	uint32_t signal = load_acquire(&fatal->signal);
	int code = load_relaxed(&fatal->code);

	if (signal == 0 || signal >= NSIG || (p->signal && (uint32_t)p->signal != signal))
		return false;
	death->signal = (int)signal;
	death->koids.thread = load_relaxed(&fatal->koid);
	strcpy(death->code, death_code((int)signal, code));
	death->has_address = death_has_address((int)signal, code);
	death->address = load_relaxed(&fatal->address);
	if (code <= 0)
		death_set_sender(death, p, (pid_t)load_relaxed(&fatal->sender));
	return true;
}

bool fxt_death_was_sent_by(const struct fxt_provider *sender, pid_t process, int signal)
{
	return load_acquire(&sender->memory.control->sent.word) == fxt_sent_word(process, signal);
}

/* Before Linux 5.16 the mode does not show whether seccomp killed. In strict mode this is
 * assumed: the process could do next to nothing, and no traced process sent the signal. */
static bool death_is_by_seccomp(const struct fxt_provider *p)
{
	return p->seccomp == FXT_SECCOMP_KILLED ||
	       (p->seccomp == FXT_SECCOMP_STRICT && p->signal == SIGKILL && !p->sender);
}

bool fxt_death_of(const struct fxt_provider *p, struct fxt_death *death)
{
	*death = (struct fxt_death){.koids = {p->process_koid, 0}, .signal = p->signal};
	if (p->ending != FXT_ENDED_BY_SIGNAL)
		return false;
	if (death_was_noted(p, death))
		return true;
	if (p->signal && fxt_death_was_sent_by(p, p->own_pid, p->signal)) {
		death->koids.thread = load_relaxed(&p->memory.control->sent.koid);
		strcpy(death->code, "SI_USER");
		death_set_sender(death, p, p->pid);
	} else if (p->signal && !death_is_by_seccomp(p) && (p->sender || !death_is_of_a_thread(p->signal))) {
		death->origin = FXT_DEATH_FROM_OUTSIDE;
		death->sender = (uint64_t)p->sender;
	}
	return p->signal != 0;
}

uint64_t fxt_death_ticks(const struct fxt_provider *p, uint64_t found)
{
	uint64_t ended = fxt_sched_end_of(p->sched, p->memory.control), ticks = found, latest;
	struct fxt_death death;

	if (death_was_noted(p, &death))
		ended = load_relaxed(&p->memory.control->fatal.ticks);
	if (ended && ended < ticks)
		ticks = ended;
	latest = fxt_collect_latest(&p->collector, found);
	return latest > ticks ? latest : ticks;
}

/* ---- the report ---- */

void fxt_death_record(const struct fxt_death *death, uint64_t ticks, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity)
{
	const char *signal = sigabbrev_np(death->signal);
	char name[32];
	struct fxt_argument arguments[6];
	size_t count = 0;
	uint64_t record[64], thread = death->koids.thread ? death->koids.thread : death->koids.process;

	snprintf(name, sizeof(name), "SIG%s", signal ? signal : "?");
	arguments[count++] = fxt_argument_int32(fxt_string_text("signal"), death->signal);
	arguments[count++] = fxt_argument_string(fxt_string_text("name"), fxt_string_text(name));
	if (death->code[0])
		arguments[count++] =
		        fxt_argument_string(fxt_string_text("code"), fxt_string_text(death->code));
	if (death->has_address)
		arguments[count++] = fxt_argument_pointer(fxt_string_text("address"), death->address);
	if (death->origin != FXT_DEATH_BY_FAULT)
		arguments[count++] = fxt_argument_string(fxt_string_text("origin"),
		        fxt_string_text(
		                death->origin == FXT_DEATH_BY_ITSELF ? FXT_DEATH_ITSELF : FXT_DEATH_OUTSIDE));
	if (death->sender)
		arguments[count++] = fxt_argument_koid(fxt_string_text("sender"), death->sender);

	size_t words = fxt_put_event(record, sizeof(record) / 8, FXT_EVENT_INSTANT,
	        fxt_thread_inline(death->koids.process, thread), fxt_string_text("process"),
	        fxt_string_text("killed"), ticks, arguments, count, 0);

	fxt_archive_write(archive, identity, record, words * sizeof(*record));
}

/* The name of a thread; "" if it has none. The program may have written anything to its
 * slot. */
static struct fxt_span death_thread_name(const struct fxt_provider *p, uint64_t koid)
{
	uint32_t used = load_acquire(&p->memory.control->slots_used);

	for (uint32_t i = 0; i < used && i < FXT_SLOTS; i++) {
		const struct fxt_thread_slot *slot = fxt_control_slot(p->memory.control, i);

		if (load_acquire(&slot->state) == FXT_SLOT_LIVE && load_relaxed(&slot->koid) == koid)
			return (struct fxt_span){slot->name, strnlen(slot->name, sizeof(slot->name))};
	}
	return (struct fxt_span){0};
}

static void death_write_name(FILE *out, struct fxt_span name)
{
	if (name.bytes == 0)
		return;
	fputs(" \"", out);
	fxt_write_text(out, name);
	fputc('"', out);
}

void fxt_death_describe(
        const struct fxt_provider *p, const struct fxt_death *death, char *line, size_t line_bytes)
{
	FILE *out = fmemopen(line, line_bytes, "w");

	*line = 0;
	if (!out)
		return;
	fxt_death_write(out, death);
	fputs(": ", out);
	if (death->koids.thread) {
		fprintf(out, "thread %" PRIu64, death->koids.thread);
		death_write_name(out, death_thread_name(p, death->koids.thread));
		fputs(" of ", out);
	}
	fprintf(out, "process %" PRIu64, death->koids.process);
	death_write_name(out, (struct fxt_span){p->identity.name, p->identity.name_bytes});
	fclose(out);
}
