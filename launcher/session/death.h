/*
 * How a provider's process was killed, by what the kernel told of its end (fxt_provider.signal), by what the
 * thread said that died (agent/interpose/fatal_signals.h), and by who was sent which signal by whom.
 */
#ifndef FXT_LAUNCHER_SESSION_DEATH_H
#define FXT_LAUNCHER_SESSION_DEATH_H

#include "provider.h"
#include "reader/time/death.h"

/* The seccomp mode in which a process ended that was not waited for yet. */
enum fxt_seccomp {
	FXT_SECCOMP_NONE = 0, /* or it is not known */
	FXT_SECCOMP_STRICT = 1,
	FXT_SECCOMP_FILTER = 2,
	FXT_SECCOMP_KILLED = 3, /* by either of them, in Linux 5.16 and later */
};
enum fxt_seccomp fxt_death_seccomp(pid_t pid);

/* Of a provider whose process has ended; false: it was not killed, or that is not known. */
bool fxt_death_of(const struct fxt_provider *provider, struct fxt_death *death);

/*
 * When a provider's process was killed that was found dead at `found`, which may be long after: by the word
 * of the thread that died, else by the scheduler's, but not before anything that its threads recorded.
 * `found`, if nobody else knows. For the provider's thread, before the rest is taken; may wait for the
 * archive.
 */
uint64_t fxt_death_ticks(const struct fxt_provider *provider, uint64_t found);

/* The provider to which it happened was sent that signal by this one, the latest that it sent. */
bool fxt_death_was_sent_by(const struct fxt_provider *sender, pid_t process, int signal);

/* Writes the instant of it into an archive. */
void fxt_death_record(const struct fxt_death *death, uint64_t ticks, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity);

/* Writes one line of it, for people, which is cut where it does not fit. */
void fxt_death_describe(
        const struct fxt_provider *provider, const struct fxt_death *death, char *line, size_t line_bytes);

#endif
