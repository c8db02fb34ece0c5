/*
 * The terminal's properties, the pager, and the width and cutting of texts. Runs on the
 * main thread. It must not change the output if it is no terminal.
 */
#include "terminal.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <spawn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>
#include "reader/trace/fold_names.h"
#include "reader/trace/index.h"
#include "reader/trace/progress_line.h"
#include "reader/trace/text.h"

extern char **environ;

enum { WRAP_INDENT = 4 };

/* ---- what it is ---- */

static unsigned terminal_columns(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return columns && atoi(columns) > 0 ? (unsigned)atoi(columns) : 80;
}

const struct fxt_terminal *fxt_terminal(void)
{
	static struct fxt_terminal terminal;
	static bool is_known;
	const char *no_colours = getenv("NO_COLOR"), *kind = getenv("TERM");

	if (is_known)
		return &terminal;
	is_known = true;
	terminal.is_terminal = isatty(STDOUT_FILENO);
	terminal.has_colours = terminal.is_terminal && !(no_colours && *no_colours) && kind && *kind &&
	                       strcmp(kind, "dumb") != 0;
	terminal.columns = terminal.is_terminal ? terminal_columns() : UINT_MAX;
	return &terminal;
}

/* ---- the pager ---- */

static bool wants_pager;
static pid_t pager;

static bool terminal_spawn_pager(const char *command, int input)
{
	char *argv[] = {"sh", "-c", (char *)command, NULL};
	posix_spawn_file_actions_t actions;
	int failed;

	setenv("LESS", "FRX", 0); /* as git does: less ends if everything fits, shows
	                             colours, and does not clear the screen */
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	failed = posix_spawn(&pager, "/bin/sh", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return failed == 0;
}

static void terminal_begin_pager(void)
{
	const char *command = getenv("PAGER");
	int ends[2];

	wants_pager = false;
	fxt_progress_stop();
	if (!command)
		command = "command -v less >/dev/null || exec cat; exec less";
	if (!*command || strcmp(command, "cat") == 0 || pipe2(ends, O_CLOEXEC) != 0)
		return;
	if (terminal_spawn_pager(command, ends[0])) {
		/* Errors appear on the same screen. */
		if (isatty(STDERR_FILENO))
			dup2(ends[1], STDERR_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		/* ^C is for the pager, which continues to show what it has. */
		signal(SIGINT, SIG_IGN);
	}
	close(ends[0]);
	close(ends[1]);
}

void fxt_terminal_page(void)
{
	if (pager || !fxt_terminal()->is_terminal)
		return;
	wants_pager = true;
	setvbuf(stdout, NULL, _IOFBF, 0);
}

/* ---- what is printed ---- */

/* stdout and stderr if they are terminals: printing to them first erases the progress
 * line and starts the pager. The plain streams write directly. */
static FILE *plain_output, *plain_errors;

static ssize_t terminal_write(int fd, const char *bytes, size_t count)
{
	ssize_t put;

	do
		put = write(fd, bytes, count);
	while (put < 0 && errno == EINTR);
	return put < 0 ? 0 : put;
}

static ssize_t terminal_print(void *unused, const char *bytes, size_t count)
{
	(void)unused;
	fxt_progress_erase();
	if (wants_pager)
		terminal_begin_pager();
	return terminal_write(STDOUT_FILENO, bytes, count);
}

static ssize_t terminal_complain(void *unused, const char *bytes, size_t count)
{
	(void)unused;
	fxt_progress_erase();
	return terminal_write(STDERR_FILENO, bytes, count);
}

/* Replaces a stream that is a terminal by one of ours, if possible. Returns the original
 * one. */
static FILE *terminal_replace(FILE **stream, int fd, cookie_write_function_t *put, int buffering)
{
	FILE *plain = *stream, *ours;

	if (!isatty(fd) || !(ours = fopencookie(NULL, "w", (cookie_io_functions_t){.write = put})))
		return NULL;
	setvbuf(ours, NULL, buffering, 0);
	*stream = ours;
	return plain;
}

static void terminal_put_back(FILE **stream, FILE **plain)
{
	if (!*plain)
		return;
	fclose(*stream);
	*stream = *plain;
	*plain = NULL;
}

/* The pager sees the end of its input only when every descriptor of it is closed. */
static void terminal_wait_for_pager(void)
{
	fflush(stdout);
	fflush(stderr);
	fxt_progress_stop();
	if (!pager)
		return;
	close(STDOUT_FILENO);
	if (!isatty(STDERR_FILENO))
		close(STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

void fxt_terminal_begin(void)
{
	fxt_terminal();
	plain_output = terminal_replace(&stdout, STDOUT_FILENO, terminal_print, _IOLBF);
	plain_errors = terminal_replace(&stderr, STDERR_FILENO, terminal_complain, _IONBF);
	fxt_progress_start(getpid());
	atexit(terminal_wait_for_pager);
}

void fxt_terminal_end(void)
{
	fxt_progress_stop();
	terminal_put_back(&stdout, &plain_output);
	terminal_put_back(&stderr, &plain_errors);
}

/* ---- columns ---- */

/* The columns of a character with these bytes, which are valid UTF-8. */
static unsigned terminal_columns_of(const char *at, size_t bytes)
{
	static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	wchar_t code = (unsigned char)at[0] & first_bits[bytes];

	for (size_t i = 1; i < bytes; i++)
		code = code << 6 | ((unsigned char)at[i] & 0x3f);
	int columns = bytes == 1 ? 1 : wcwidth(code);

	return columns < 0 ? 1 : (unsigned)columns;
}

/* Returns the bytes of the first character, and sets the columns that it takes when
 * shown. */
static size_t terminal_first_character(struct fxt_span text, unsigned *columns)
{
	char escape[8];
	size_t bytes = fxt_escape(text, escape);

	*columns = escape[0] ? (unsigned)strlen(escape) : terminal_columns_of(text.data, bytes);
	return bytes;
}

unsigned fxt_text_columns(struct fxt_span text)
{
	unsigned columns = 0, more;

	while (text.bytes > 0) {
		size_t bytes = terminal_first_character(text, &more);

		columns += more;
		text.data += bytes;
		text.bytes -= bytes;
	}
	return columns;
}

size_t fxt_text_beginning(struct fxt_span text, unsigned *columns)
{
	unsigned most = *columns, more;
	size_t done = 0;

	*columns = 0;
	while (done < text.bytes) {
		size_t bytes = terminal_first_character(
		        (struct fxt_span){text.data + done, text.bytes - done}, &more);

		if (more > most - *columns)
			break;
		*columns += more;
		done += bytes;
	}
	return done;
}

size_t fxt_text_first_line(struct fxt_span text, unsigned width)
{
	unsigned columns = width;
	size_t most = fxt_text_beginning(text, &columns), separator = 0;

	if (most == text.bytes || most == 0)
		return text.bytes;
	for (size_t at = most; at > most / 3; at--) {
		if (text.data[at] == ' ')
			return at;
		if (separator == 0 && strchr(":/,", text.data[at - 1]) && text.data[at] != text.data[at - 1])
			separator = at;
	}
	return separator > 0 ? separator : most;
}

void fxt_print_wrapped(struct fxt_span text)
{
	unsigned columns = fxt_terminal()->columns, indent = 0;

	while (fxt_terminal()->is_terminal && columns > 2 * WRAP_INDENT &&
	        fxt_text_columns(text) > columns - indent) {
		size_t bytes = fxt_text_first_line(text, columns - indent);

		fxt_print_text((struct fxt_span){text.data, bytes});
		for (; bytes < text.bytes && text.data[bytes] == ' ';)
			bytes++;
		text = (struct fxt_span){text.data + bytes, text.bytes - bytes};
		if (text.bytes == 0)
			return;
		indent = WRAP_INDENT;
		printf("\n%*s", (int)indent, "");
	}
	fxt_print_text(text);
}

/* Prints a text without its middle: it takes `whole` columns, more than there are. */
static unsigned terminal_write_ends(FILE *out, struct fxt_span text, unsigned whole, unsigned columns)
{
	unsigned head, skipped, more;
	size_t bytes;

	if (columns == 0)
		return 0;
	/* The beginning of a name says more than its end, so it gets two thirds. */
	head = (columns - 1) - (columns - 1) / 3;
	bytes = fxt_text_beginning(text, &head);
	fxt_write_text(out, (struct fxt_span){text.data, bytes});
	fputs("…", out);
	text.data += bytes;
	text.bytes -= bytes;
	for (skipped = head; text.bytes > 0 && whole - skipped > columns - 1 - head; skipped += more) {
		bytes = terminal_first_character(text, &more);
		text.data += bytes;
		text.bytes -= bytes;
	}
	fxt_write_text(out, text);
	return head + 1 + (whole - skipped);
}

unsigned fxt_write_cut(FILE *out, struct fxt_span text, unsigned columns)
{
	unsigned whole = fxt_text_columns(text);
	char *name = whole > columns ? fxt_allocate(text.bytes) : NULL;

	if (name) {
		text = (struct fxt_span){name, fxt_fold_names(text, name)};
		whole = fxt_text_columns(text);
	}
	if (whole > columns)
		whole = terminal_write_ends(out, text, whole, columns);
	else
		fxt_write_text(out, text);
	free(name);
	return whole;
}
