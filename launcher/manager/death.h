/*
 * Finds out how a provider's process was killed. Sources: the kernel's report of its end
 * (fxt_provider.signal), the report of the thread that died
 * (agent/interpose/fatal_signals.h), and the record of which process sent which signal to
 * which.
 */
#ifndef FXT_LAUNCHER_MANAGER_DEATH_H
#define FXT_LAUNCHER_MANAGER_DEATH_H

#include "provider.h"
#include "reader/time/death.h"

/* The seccomp mode of a process that has ended and was not waited for yet. */
enum fxt_seccomp {
	FXT_SECCOMP_NONE = 0, /* or not known */
	FXT_SECCOMP_STRICT = 1,
	FXT_SECCOMP_FILTER = 2,
	FXT_SECCOMP_KILLED = 3, /* killed by either mode, on Linux 5.16 and later */
};
enum fxt_seccomp fxt_death_seccomp(pid_t pid);

/* Describes the death of a provider's process after its end. False: it was not killed, or
 * this is not known. */
bool fxt_death_of(const struct fxt_provider *provider, struct fxt_death *death);

/*
 * Returns when a provider's process was killed. The process was found dead at `found`,
 * possibly long after its death. Sources, in this order: the report of the thread that
 * died, then the scheduler's records, though never before anything that its threads
 * recorded, then `found`. For the provider's thread, before the rest is taken; may wait for
 * the archive.
 */
uint64_t fxt_death_ticks(const struct fxt_provider *provider, uint64_t found);

/* True if `sender` sent that signal to `process`, and sent no other one later. */
bool fxt_death_was_sent_by(const struct fxt_provider *sender, pid_t process, int signal);

/* Writes the death as an instant event into an archive. */
void fxt_death_record(const struct fxt_death *death, uint64_t ticks, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity);

/* Writes one line about it for the user, cut to the room there is. */
void fxt_death_describe(
        const struct fxt_provider *provider, const struct fxt_death *death, char *line, size_t line_bytes);

#endif
