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
#include "reader/text.h"

extern char **environ;

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

static pid_t pager;

/* The pager sees the end of its input when nobody has it open any more. */
static void terminal_wait_for_pager(void)
{
	fflush(stdout);
	fflush(stderr);
	close(STDOUT_FILENO);
	if (!isatty(STDERR_FILENO))
		close(STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

static bool terminal_spawn_pager(const char *command, int input)
{
	char *argv[] = {"sh", "-c", (char *)command, NULL};
	posix_spawn_file_actions_t actions;
	int failed;

	setenv("LESS", "FRX", 0); /* as git has it: gone if all fits, with colours, without clearing */
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	failed = posix_spawn(&pager, "/bin/sh", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return failed == 0;
}

void fxt_terminal_page(void)
{
	const char *command = getenv("PAGER");
	int ends[2];

	if (pager || !fxt_terminal()->is_terminal)
		return;
	if (!command)
		command = "command -v less >/dev/null || exec cat; exec less";
	if (!*command || strcmp(command, "cat") == 0 || pipe2(ends, O_CLOEXEC) != 0)
		return;
	fflush(stdout);
	if (terminal_spawn_pager(command, ends[0])) {
		/* What is complained of belongs on the same screen. */
		if (isatty(STDERR_FILENO))
			dup2(ends[1], STDERR_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		/* ^C is for the pager, which goes on showing what there is. */
		signal(SIGINT, SIG_IGN);
		atexit(terminal_wait_for_pager);
	}
	close(ends[0]);
	close(ends[1]);
}

/* ---- columns ---- */

/* What a character takes, whose bytes are valid UTF-8. */
static unsigned terminal_columns_of(const char *at, size_t bytes)
{
	static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	wchar_t code = (unsigned char)at[0] & first_bits[bytes];

	for (size_t i = 1; i < bytes; i++)
		code = code << 6 | ((unsigned char)at[i] & 0x3f);
	int columns = bytes == 1 ? 1 : wcwidth(code);

	return columns < 0 ? 1 : (unsigned)columns;
}

/* Of the first character: its bytes, and the columns that it takes as it is shown. */
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

/* The bytes of the longest terminal_beginning that takes no more than so many columns; *columns is what it
 * takes. */
static size_t terminal_beginning(struct fxt_span text, unsigned *columns)
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

unsigned fxt_write_cut(FILE *out, struct fxt_span text, unsigned columns)
{
	unsigned whole = fxt_text_columns(text), head, skipped, more;
	size_t bytes;

	if (whole <= columns) {
		fxt_write_text(out, text);
		return whole;
	}
	if (columns == 0)
		return 0;
	/* Where a name begins tells more than where it ends. */
	head = (columns - 1) - (columns - 1) / 3;
	bytes = terminal_beginning(text, &head);
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
