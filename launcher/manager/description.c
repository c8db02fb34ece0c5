/*
 * Writes Perfetto packets about the system, the session and its processes. Called from any
 * thread; each call writes whole blobs. It must not fail a session: data that cannot be
 * read is left out.
 */
#include "description.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "reader/trace/archive.h"
#include "reader/trace/rate.h"
#include "perfetto/perfetto.h"
#include "perfetto/protobuf.h"
#include "writer/format/escape.h"
#include "writer/format/format.h"

#define ARGUMENT_BYTES 8192 /* of a process, in all; the rest is cut */

static void description_text(struct fxt_message *m, unsigned field, const char *text)
{
	fxt_message_bytes(m, field, text, strlen(text));
}

/* Appends a packet and empties it. */
static void description_send(struct fxt_archive_writer *archive, struct fxt_message *packet)
{
	struct fxt_message trace = {0};

	fxt_message_message(&trace, PERFETTO_TRACE_PACKET, packet);
	fxt_archive_write_blob(
	        archive, FXT_DESCRIPTION_BLOB, FXT_BLOB_PERFETTO, trace.data, (size_t)trace.bytes);
	free(trace.data);
}

static void description_send_system(struct fxt_archive_writer *archive, struct fxt_message *packet)
{
	struct fxt_message names = {0}, system = {0};
	struct utsname name;

	if (uname(&name) != 0)
		return;
	description_text(&names, PERFETTO_UTSNAME_SYSTEM, name.sysname);
	description_text(&names, PERFETTO_UTSNAME_VERSION, name.version);
	description_text(&names, PERFETTO_UTSNAME_RELEASE, name.release);
	description_text(&names, PERFETTO_UTSNAME_MACHINE, name.machine);
	fxt_message_message(&system, PERFETTO_SYSTEM_UTSNAME, &names);
	description_text(&system, PERFETTO_SYSTEM_SERVICE_VERSION, "fxtrun " FXT_VERSION);
	fxt_message_number(&system, PERFETTO_SYSTEM_PAGE_BYTES, (uint64_t)sysconf(_SC_PAGESIZE));
	fxt_message_number(&system, PERFETTO_SYSTEM_CPUS, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	fxt_message_message(packet, PERFETTO_PACKET_SYSTEM_INFO, &system);
	description_send(archive, packet);
	free(names.data);
	free(system.data);
}

void fxt_describe_session(struct fxt_archive_writer *archive, const struct fxt_options *options)
{
	struct fxt_message packet = {0}, config = {0}, buffer = {0};

	description_send_system(archive, &packet);
	fxt_message_number(&buffer, PERFETTO_BUFFER_KIB, options->buffer_bytes >> 10);
	if (options->buffering_mode != FXT_STREAMING) /* Perfetto has no policy like streaming */
		fxt_message_number(&buffer, PERFETTO_BUFFER_FILL_POLICY,
		        options->buffering_mode == FXT_CIRCULAR ? PERFETTO_FILL_RING : PERFETTO_FILL_DISCARD);
	fxt_message_message(&config, PERFETTO_CONFIG_BUFFERS, &buffer);
	if (options->duration_ns)
		fxt_message_number(&config, PERFETTO_CONFIG_DURATION_MS, options->duration_ns / 1000000);
	if (options->session)
		description_text(&config, PERFETTO_CONFIG_SESSION_NAME, options->session);
	fxt_message_message(&packet, PERFETTO_PACKET_TRACE_CONFIG, &config);
	description_send(archive, &packet);
	free(packet.data);
	free(config.data);
	free(buffer.data);
}

/* Adds the arguments of a process except the first. */
static void description_add_arguments(struct fxt_message *process, pid_t pid)
{
	char path[32], text[ARGUMENT_BYTES], valid[4 * ARGUMENT_BYTES];
	ssize_t bytes = -1;
	size_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		bytes = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (bytes <= 0)
		return;
	text[bytes] = '\0';
	for (size_t at = strlen(text) + 1; at < (size_t)bytes; at += length + 1) {
		length = strlen(text + at);
		fxt_message_bytes(process, PERFETTO_TREE_PROCESS_ARGUMENT, valid,
		        fxt_escape(valid, sizeof(valid), text + at, length));
	}
}

/* The kernel's state and parent of a process; false: it is gone. */
static bool description_stat(pid_t pid, char *state, int *parent)
{
	char path[32], text[512];
	const char *name_end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t bytes = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[bytes > 0 ? bytes : 0] = '\0';
	name_end = strrchr(text, ')'); /* "pid (name) state parent ..."; the name may
	                                * contain anything */
	return name_end && sscanf(name_end, ") %c %d", state, parent) == 2;
}

pid_t fxt_description_parent(pid_t pid)
{
	char state;
	int parent;

	return description_stat(pid, &state, &parent) ? parent : 0;
}

bool fxt_description_is_stopped(pid_t pid)
{
	char state;
	int parent;

	return description_stat(pid, &state, &parent) && (state == 'T' || state == 't');
}

struct fxt_message fxt_describe_process(
        const struct fxt_archive_provider *identity, pid_t pid, uint64_t koid, uint64_t parent_koid)
{
	struct fxt_message trace = {0}, packet = {0}, tree = {0}, process = {0};

	fxt_message_number(&process, PERFETTO_TREE_PROCESS_PID, fxt_viewer_pid(koid));
	if (parent_koid)
		fxt_message_number(&process, PERFETTO_TREE_PROCESS_PARENT, fxt_viewer_pid(parent_koid));
	fxt_message_bytes(&process, PERFETTO_TREE_PROCESS_ARGUMENT, identity->name, identity->name_bytes);
	description_add_arguments(&process, pid);
	fxt_message_message(&tree, PERFETTO_TREE_PROCESSES, &process);
	fxt_message_message(&packet, PERFETTO_PACKET_PROCESS_TREE, &tree);
	fxt_message_message(&trace, PERFETTO_TRACE_PACKET, &packet);
	free(packet.data);
	free(tree.data);
	free(process.data);
	return trace;
}

void fxt_describe_start(struct fxt_archive_writer *archive, uint64_t ticks, uint64_t ticks_per_second)
{
	struct fxt_message packet = {0}, event = {0};

	fxt_message_number(&event, PERFETTO_SERVICE_SOURCES_STARTED, 1);
	fxt_message_number(&packet, PERFETTO_PACKET_TIMESTAMP, fxt_rate_viewer_ns(ticks, ticks_per_second));
	fxt_message_message(&packet, PERFETTO_PACKET_SERVICE_EVENT, &event);
	description_send(archive, &packet);
	free(packet.data);
	free(event.data);
}

static void description_send_functions(void *archive, const void *data, size_t bytes)
{
	fxt_archive_write_blob(archive, FXT_FUNCTION_TRACK_BLOB, FXT_BLOB_PERFETTO, data, bytes);
}

void fxt_describe_functions(struct fxt_archive_writer *archive, uint64_t ticks, uint64_t ticks_per_second)
{
	fxt_function_tracks_take(&archive->functions, fxt_rate_viewer_ns(ticks, ticks_per_second),
	        description_send_functions, archive);
}

static void description_send_open_calls(void *archive, const void *data, size_t bytes)
{
	fxt_archive_write_blob(archive, FXT_OPEN_CALLS_BLOB, FXT_BLOB_PERFETTO, data, bytes);
}

void fxt_describe_open_calls(struct fxt_archive_writer *archive, uint64_t ticks_per_second)
{
	fxt_open_calls_describe(&archive->open_calls, ticks_per_second, description_send_open_calls, archive);
}

void fxt_description_find_open_calls(struct fxt_archive_writer *archive)
{
	struct fxt_open_calls_search search = {0};
	struct fxt_archive read;
	struct fxt_tables tables;
	struct fxt_record r;
	struct fxt_view view;
	char error[256];

	if (fxt_archive_open_fd(&read, archive->fd, archive->name, error, sizeof(error)) != 0)
		return;
	fxt_tables_init(&tables);
	for (struct fxt_cursor cursor = fxt_cursor(&read); fxt_next(&cursor, &r);) {
		if (fxt_is_plain_call(r.words[0]) || fxt_decode(&r, &view) != NULL)
			continue;
		fxt_tables_apply(&tables, &view);
		fxt_open_calls_take(&search, &tables, &view);
	}
	fxt_open_calls_end_search(&search);
	fxt_open_calls_free(&archive->open_calls);
	archive->open_calls = search.found;
	fxt_tables_free(&tables);
	fxt_archive_close(&read);
}
