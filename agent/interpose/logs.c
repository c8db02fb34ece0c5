/*
 * Records the lines of the program's log (logs.h), on the thread that writes them, also in
 * signal handlers and in forked children. It waits for no lock of the C library's, because
 * a stream holds its lock while it writes.
 */
#include "logs.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <syslog.h>
#include "agent/base/notice.h"
#include "agent/base/real.h"
#include "agent/base/safe_copy.h"
#include "agent/base/symbols.h"
#include "agent/hook/said.h"
#include "agent/patch/changes.h"
#include "agent/patch/code.h"
#include "writer/format/escape.h"

/* The longest text of a record, and room behind it for the number of bytes that it lacks. */
#define TEXT_BYTES 2000
#define TOLD_BYTES 40
#define CUT_BYTES  3 /* agent_text_put() keeps this much free */

uint32_t agent_logs;

/* A line that its thread has not ended yet. `all` counts its bytes so far; 0: there is no
 * such line. `text` holds the first ones, as many as fit. */
struct agent_line {
	uint32_t is_busy;
	int fd;
	uint64_t all;
	char text[TEXT_BYTES];
};

/* For threads that keep nothing. */
static struct agent_line no_line = {.is_busy = 1};

/* ---- texts ---- */

static void log_record(const char *text, size_t bytes)
{
	static uint16_t texts[2];
	static struct fxt_trace_site site = {&site.own, NULL, NULL, texts, 1, 0};

	fxt_trace_agent.log(&site, fxt_trace_bytes_(FXT_TRACE_STRING, text, bytes));
}

/* Without the character at the end that is cut in two. */
static size_t log_whole_characters(const char *text, size_t bytes)
{
	for (size_t back = 1; back < 4 && back <= bytes; back++)
		if (((unsigned char)text[bytes - back] & 0xc0) == 0xc0)
			return fxt_character_bytes(text + bytes - back, back) ? bytes : bytes - back;
	return bytes;
}

static size_t log_tell_cut(char *to, uint64_t lacking)
{
	char digits[20];
	size_t count = 0, at = 2;

	do {
		digits[count++] = (char)('0' + lacking % 10);
		lacking /= 10;
	} while (lacking);
	memcpy(to, " [", at);
	while (count)
		to[at++] = digits[--count];
	memcpy(to + at, " bytes more]", 12);
	return at + 12;
}

/* Texts that begin so describe modules (agent/process/modules.h). */
#define MARKUP        "{{{"
#define ESCAPED_BRACE "\\x7b"
#define ESCAPED_BYTES (sizeof(ESCAPED_BRACE) - 1)

static bool log_is_markup(const char *text, size_t bytes)
{
	return bytes >= strlen(MARKUP) && memcmp(text, MARKUP, strlen(MARKUP)) == 0;
}

/* Records a text that needs a change: it is not UTF-8, or cut, or looks like a description
 * of modules. */
static COLD void log_record_changed(const char *text, size_t bytes, uint64_t all)
{
	char changed[ESCAPED_BYTES + TEXT_BYTES + CUT_BYTES + TOLD_BYTES];
	size_t kept = bytes < all ? log_whole_characters(text, bytes) : bytes;
	size_t escaped = log_is_markup(text, kept), size = escaped ? ESCAPED_BYTES : 0;

	memcpy(changed, ESCAPED_BRACE, size);
	size += agent_text_put(changed + size, TEXT_BYTES + CUT_BYTES, text + escaped, kept - escaped, false);
	if (kept < all)
		size += log_tell_cut(changed + size, all - kept);
	log_record(changed, size);
}

static bool log_is_utf8(const char *text, size_t bytes)
{
	while (bytes) {
		size_t size = fxt_character_bytes(text, bytes);

		if (!size)
			return false;
		text += size;
		bytes -= size;
	}
	return true;
}

/* Records a line of `all` bytes. `text` has all of it, or its first TEXT_BYTES. */
static void log_line(const char *text, uint64_t all)
{
	size_t bytes = all < TEXT_BYTES ? all : TEXT_BYTES;

	if (bytes == all && log_is_utf8(text, bytes) && !log_is_markup(text, bytes))
		log_record(text, bytes);
	else
		log_record_changed(text, bytes, all);
}

/* ---- lines ---- */

/* Makes the thread's memory for the beginning of a line. NULL: a handler has interrupted
 * this file, or there is no memory. */
static struct agent_line *line_take(void)
{
	struct agent_line *line = agent_self.line;

	if (agent_is_borrower())
		return NULL;
	if (!line) {
		struct agent_line *new =
		        sys_map(sizeof(*new), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

		/* In one instruction: a handler may have made it meanwhile. */
		if (compare_exchange_acquire(&agent_self.line, &line, new))
			line = new;
		else if (new)
			sys_unmap(new, sizeof(*new));
	}
	if (!line || line->is_busy)
		return NULL;
	store_relaxed(&line->is_busy, 1);
	compiler_barrier();
	return line;
}

static void line_release(struct agent_line *line)
{
	compiler_barrier();
	if (line)
		store_relaxed(&line->is_busy, 0);
}

static void line_end(struct agent_line *line)
{
	if (line->all)
		log_line(line->text, line->all);
	line->all = 0;
}

static void line_append(struct agent_line *line, const char *data, size_t bytes)
{
	uint64_t room = line->all < TEXT_BYTES ? TEXT_BYTES - line->all : 0;

	if (room)
		memcpy(line->text + line->all, data, bytes < room ? bytes : room);
	line->all += bytes;
}

/* Without memory for its beginning, a line that has no end yet is a record as it is. */
static void line_write(struct agent_line *line, const char *data, size_t bytes)
{
	while (bytes) {
		const char *end = memchr(data, '\n', bytes);
		size_t part = end ? (size_t)(end - data) : bytes;

		if (line && (line->all || !end))
			line_append(line, data, part);
		else
			log_line(data, part);
		if (line && end)
			line_end(line);
		part += end != NULL;
		data += part;
		bytes -= part;
	}
}

void agent_log_written_parts(int fd, const struct iovec *parts, int count, size_t bytes)
{
	int error = errno;
	struct agent_line *line;

	if (fxt_engine_was_forked(&agent_engine))
		agent_rebirth();
	line = line_take();
	if (line && (line->fd != fd || load_relaxed(&agent_recording) == AGENT_QUIET))
		line_end(line);
	if (line)
		line->fd = fd;
	for (int i = 0; i < count && bytes && load_relaxed(&agent_recording) != AGENT_QUIET; i++) {
		size_t part = parts[i].iov_len < bytes ? parts[i].iov_len : bytes;

		line_write(line, parts[i].iov_base, part);
		bytes -= part;
	}
	line_release(line);
	errno = error;
}

void agent_log_written(int fd, const void *data, size_t bytes)
{
	struct iovec part = {(void *)(uintptr_t)data, bytes};

	agent_log_written_parts(fd, &part, 1, bytes);
}

void agent_log_flush(bool is_last)
{
	struct agent_line *line = agent_self.line && load_relaxed(&agent_logs) ? line_take() : NULL;

	if (!line)
		return;
	line_end(line);
	line_release(line);
	if (is_last) {
		agent_self.line = &no_line;
		sys_unmap(line, sizeof(*line));
	}
}

void agent_log_forget(void)
{
	if (agent_self.line && agent_self.line != &no_line)
		agent_self.line->all = 0;
}

/* ---- streams ---- */

static ssize_t (*stream_write)(FILE *stream, const void *data, ssize_t bytes);

static ssize_t log_stream_write(FILE *stream, const void *data, ssize_t bytes)
{
	ssize_t written = stream_write(stream, data, bytes);

	if (written > 0 && agent_log_has(stream->_fileno))
		agent_log_written(stream->_fileno, data, (size_t)written);
	return written;
}

/* The words of such a table: two unused ones, then 19 functions. */
#define STREAM_TABLE_WORDS 21

/* Leads the table's word for writing to the function above. */
static bool log_take_stream_table(const char *name)
{
	const uint64_t *table = agent_libc_symbol(name);
	uint64_t real = (uint64_t)(uintptr_t)stream_write;
	uint64_t ours = (uint64_t)(uintptr_t)log_stream_write;

	for (unsigned i = 0; table && real && i < STREAM_TABLE_WORDS; i++)
		if (table[i] == real)
			return agent_change_slot((uint64_t)(uintptr_t)(table + i), ours);
	return false;
}

static bool log_take_streams(void)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);
	bool is_taken = false;
	int kept;

	stream_write = agent_libc_symbol("_IO_file_write");
	if (agent_code_open_for_now(&kept)) {
		is_taken =
		        log_take_stream_table("_IO_file_jumps") && log_take_stream_table("_IO_wfile_jumps");
		agent_code_close_again(kept);
	}
	fxt_unlock(&agent_engine.lock, mask);
	return is_taken;
}

void agent_log_prepare(void)
{
	uint32_t logs = agent_is_standalone ? 0 : agent_engine.control->logs;

	if ((logs & (FXT_LOG_STDOUT | FXT_LOG_STDERR)) && !log_take_streams())
		agent_notice("--log: what stdio writes is not recorded: the C library's tables of streams "
		             "are not found, or may not be written",
		        NULL);
	store_relaxed(&agent_logs, logs);
}

void agent_log_end(void)
{
	store_relaxed(&agent_logs, 0);
}

/* ---- syslog ---- */

/* Formats as syslog() itself does, with the same functions of the C library. */
static void log_message(int priority, const char *format, va_list list)
{
	char text[TEXT_BYTES + 1];
	int error = errno, bytes = vsnprintf(text, sizeof(text), format, list);

	if (bytes > 0 && bytes <= TEXT_BYTES && text[bytes - 1] == '\n')
		bytes--;
	if (bytes >= 0 && (setlogmask(0) & LOG_MASK(LOG_PRI(priority))))
		log_line(text, (uint64_t)bytes);
	errno = error;
}

/* `list` is read twice. */
#define LOG_MESSAGE(list)                                         \
	do {                                                      \
		if (load_relaxed(&agent_logs) & FXT_LOG_SYSLOG) { \
			va_list again_;                           \
                                                                  \
			va_copy(again_, list);                    \
			log_message(priority, format, again_);    \
			va_end(again_);                           \
		}                                                 \
	} while (0)

EXPORT void vsyslog(int priority, const char *format, va_list list)
{
	LOG_MESSAGE(list);
	REAL(vsyslog)(priority, format, list);
}

EXPORT void __vsyslog_chk(int priority, int flag, const char *format, va_list list)
{
	LOG_MESSAGE(list);
	REAL(__vsyslog_chk)(priority, flag, format, list);
}

EXPORT void syslog(int priority, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsyslog(priority, format, list);
	va_end(list);
}

EXPORT void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	__vsyslog_chk(priority, flag, format, list);
	va_end(list);
}
