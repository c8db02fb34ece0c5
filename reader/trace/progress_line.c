/*
 * Draws the progress line on the terminal. Runs on the reading thread, between two pieces
 * of the trace, and must never draw while another program has the terminal for itself.
 */
#include "progress_line.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "progress.h"
#include "rate.h"
#include "text.h"
#include "write_all.h"
#include "writer/shared/clock.h"

enum {
	SHOWN_AFTER = 500000000, /* ns: shorter work shows no line */
	DRAWN_EVERY = 100000000,
	BAR_LEAST = 10,
	BAR_MOST = 40,
	SPEED_COLUMNS = 32, /* behind the bar; its width is constant */
	LINE_BYTES = 256
};

/* All times are of the monotonic clock. */
static struct {
	pid_t process;  /* in the foreground of the terminal */
	uint64_t begun; /* when the first piece was processed; 0: none was */
	uint64_t drawn; /* when the line was last drawn */
	bool is_visible;
	/* The current task, which is one pass over the input. */
	const char *doing;
	uint64_t pass_begun, first, done;
} line;

/* True if the process is in the foreground of its terminal. For a process of another
 * session no system call reports the terminal's foreground group, so /proc is read. */
static bool progress_is_in_front(void)
{
	char path[32], status[512], *at;
	int group, terminal, front;
	ssize_t got = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", line.process);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		got = read(fd, status, sizeof(status) - 1);
		close(fd);
	}
	status[got > 0 ? got : 0] = '\0';
	at = strrchr(status, ')'); /* behind the name, which may contain any bytes */
	return at && sscanf(at, ") %*c %*d %d %*d %d %d", &group, &terminal, &front) == 3 && terminal != 0 &&
	       front == group;
}

/* True if we may draw. A process in the background must leave the terminal to others. So
 * must a process whose output is piped into a program that reads the terminal key by key: a
 * pager draws where the line would be. */
static bool progress_has_terminal(void)
{
	struct termios settings;

	return progress_is_in_front() && tcgetattr(STDERR_FILENO, &settings) == 0 &&
	       settings.c_lflag & ICANON;
}

void fxt_progress_erase(void)
{
	static const char erase[] = "\r\x1b[K";

	if (line.is_visible && progress_has_terminal())
		fxt_write_all(STDERR_FILENO, erase, sizeof(erase) - 1);
	line.is_visible = false;
}

/* ---- the line ---- */

static unsigned progress_columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Writes the speed, and the time that is left at that speed. */
static void progress_speed(char *text, size_t bytes, uint64_t now, uint64_t done, uint64_t all)
{
	uint64_t lasted = now - line.pass_begun;

	*text = '\0';
	/* The first moments are too short for an estimate. */
	if (lasted < DRAWN_EVERY || done == line.first)
		return;
	double rate = (double)(done - line.first) / (double)lasted * (double)FXT_NS_PER_SECOND;
	int length = snprintf(text, bytes, " %s/s", fxt_bytes_text(rate).text);

	if (all == 0)
		return;
	uint64_t rest = (uint64_t)((double)(all - done) / rate + 0.5);

	if (rest < 60)
		snprintf(text + length, bytes - (size_t)length, ", %" PRIu64 " s left", rest);
	else
		snprintf(text + length, bytes - (size_t)length, ", %" PRIu64 " min %02" PRIu64 " s left",
		        rest / 60, rest % 60);
}

/* Writes as much of the bar as fits, or none. */
static void progress_bar(char *text, size_t room, uint64_t done, uint64_t all)
{
	size_t width = room > BAR_MOST + 3 ? BAR_MOST : room > 3 ? room - 3 : 0;

	*text = '\0';
	if (all == 0 || width < BAR_LEAST)
		return;
	size_t full = (size_t)((double)done / (double)all * (double)width);

	strcpy(text, " [");
	memset(text + 2, '#', full);
	memset(text + 2 + full, ' ', width - full);
	strcpy(text + 2 + width, "]");
}

static void progress_draw(uint64_t now, uint64_t done, uint64_t all)
{
	char head[64], bar[BAR_MOST + 4], speed[96], text[LINE_BYTES];
	unsigned columns = progress_columns();
	int length;

	if (all > 0)
		snprintf(head, sizeof(head), "%s %3.0f%%", line.doing, 100 * (double)done / (double)all);
	else
		snprintf(head, sizeof(head), "%s %s", line.doing, fxt_bytes_text((double)done).text);
	progress_speed(speed, sizeof(speed), now, done, all);
	size_t taken = strlen(head) + SPEED_COLUMNS;

	progress_bar(bar, columns > taken ? columns - taken : 0, done, all);
	/* Text that is too long would begin another line, and no code erases that. */
	length = snprintf(text, sizeof(text), "%s%s%s", head, bar, speed);
	if ((unsigned)length >= columns)
		length = (int)columns - 1;
	fxt_write_all(STDERR_FILENO, "\r", 1);
	fxt_write_all(STDERR_FILENO, text, (size_t)length);
	fxt_write_all(STDERR_FILENO, "\x1b[K", 3);
	line.is_visible = true;
	line.drawn = now;
}

static bool progress_report(const char *doing, uint64_t done, uint64_t all)
{
	if (!doing) {
		fxt_progress_erase();
		line.doing = NULL;
		return true;
	}
	uint64_t now = fxt_monotonic_ns();

	/* A file that is still being written has grown. */
	if (all > 0 && done > all)
		all = done;
	if (line.begun == 0)
		line.begun = now;
	if (line.doing != doing || done < line.done) {
		line.doing = doing;
		line.pass_begun = now;
		line.first = done;
	}
	line.done = done;
	if (now - line.begun >= SHOWN_AFTER && now - line.drawn >= DRAWN_EVERY && progress_has_terminal())
		progress_draw(now, done, all);
	return true;
}

void fxt_progress_start(pid_t process)
{
	const char *kind = getenv("TERM");

	line.process = process;
	if (isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0)
		fxt_progress = progress_report;
}

void fxt_progress_stop(void)
{
	fxt_progress_erase();
	fxt_progress = NULL;
}
