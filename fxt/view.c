/*
 * fxt view: opens a trace in the Perfetto viewer. The viewer is a page that runs in the
 * browser. It fetches the trace from this program over the loopback, at the only address
 * that its security policy allows. Nothing leaves the machine.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "commands.h"
#include "call_details.h"
#include "options.h"
#include "reader/trace/index.h"
#include "reader/trace/source.h"
#include "serve.h"

static const char help[] =
        "usage: fxt view [--no-open] [--slow=FUNC[:CALL]] [FILE]\n"
        "\n"
        "Opens a trace in the Perfetto viewer, " FXT_SERVE_ORIGIN ", in the\n"
        "browser; where there is no display, it prints the link. The viewer fetches the\n"
        "trace from this program, at " FXT_SERVE_ADDRESS ", which answers no other page and no\n"
        "other user: it stays on this machine. Ends when the trace was fetched.\n"
        "\n"
        "  --no-open           only print the link\n"
        "  --slow=FUNC[:CALL]  on the slowest call of a function, or the CALL-th\n"
        "                      slowest, as fxt slow counts them: selected, with what\n"
        "                      is around it, its thread pinned\n" FXT_HELP_FILE;

/* ---- where it opens ---- */

#define LINK_BYTES 1024

/* Pins the thread's rows, which have names that end in its number: one command of the
 * viewer's, as JSON. */
#define VIEW_PIN                                                                                           \
	"&startupCommands=%%5B%%7B%%22id%%22%%3A%%22dev.perfetto.PinTracksByRegex%%22%%2C%%22args%%22%%3A" \
	"%%5B%%22%%28%%5E%%7C%%20%%29%" PRIu32 "%%24%%22%%5D%%7D%%5D"

/* Converts a time of the scan to the viewer's. */
static uint64_t view_time(const struct fxt_scan *scan, uint64_t time)
{
	return scan->in_ticks ? fxt_rate_viewer_ns(time, scan->rate.ticks_per_second) : time;
}

/* Adds a call to the link. The viewer ignores a window that reaches beyond the trace. */
static void view_link_to(char *link, size_t room, const struct fxt_scan *scan, const struct fxt_slice *call)
{
	uint64_t around = (call->end - call->start) / 4 + 1;
	uint64_t from = call->start - scan->start > around ? call->start - around : scan->start;
	uint64_t to = scan->end - call->end > around ? call->end + around : scan->end;
	uint64_t start = view_time(scan, call->start);
	int bytes =
	        snprintf(link, room, "&visStart=%" PRIu64 "&visEnd=%" PRIu64 VIEW_PIN, view_time(scan, from),
	                view_time(scan, to), (uint32_t)scan->tables.threads[call->thread].thread);

	/* Selects the call by its time. This is left out if the trace has several clock
	 * rates, because the right one is not known. */
	if (scan->in_ticks)
		bytes += snprintf(link + bytes, room - (size_t)bytes, "&ts=%" PRIu64, start);
	if (scan->in_ticks && !call->is_open)
		snprintf(link + bytes, room - (size_t)bytes, "&dur=%" PRIu64,
		        view_time(scan, call->end) - start);
}

/* The options, and the state while traces are read. */
struct view_command {
	struct fxt_patterns slow;
	uint64_t slow_number;
	bool no_open;
};

/* Writes the link for the options. Returns FXT_DONE, or FXT_FAILED after reporting the
 * reason. */
static int view_make_link(struct view_command *c, char link[LINK_BYTES], const char *path, const char *name,
        const struct fxt_source *source)
{
	struct fxt_call_details details;
	struct fxt_scan scan;
	bool is_found;

	int bytes =
	        snprintf(link, LINK_BYTES, FXT_SERVE_ORIGIN "/#!/?url=http://" FXT_SERVE_ADDRESS "%s", path);

	if (c->slow.count == 0)
		return FXT_DONE;
	fxt_call_details_init(&details);
	fxt_scan_listened(&scan, source, NULL, &details.listener);
	is_found = fxt_call_details_find(&details, name, &scan, &c->slow, c->slow_number, c->slow_number);
	if (is_found)
		view_link_to(link + bytes, LINK_BYTES - (size_t)bytes, &scan,
		        &details.slowest.calls[c->slow_number - 1].slice);
	fxt_call_details_free(&details);
	fxt_scan_free(&scan);
	return is_found ? FXT_DONE : FXT_FAILED;
}

/* ---- the command ---- */

/* Starts the browser in the background. The desktop reports errors. */
static void view_open(const char *link)
{
	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return;
	if (fork() == 0) {
		if (fork() == 0)
			execlp("xdg-open", "xdg-open", link, (char *)NULL);
		_exit(0);
	}
}

static int view(void *state, const char *name, const struct fxt_source *source)
{
	struct view_command *c = state;
	char link[LINK_BYTES], path[FXT_SERVE_PATH_BYTES];
	int error = fxt_serve_make_path(path), listener;

	if (!error && view_make_link(c, link, path, name, source) != FXT_DONE)
		return FXT_FAILED;
	listener = error ? -1 : fxt_serve_listen();
	if (listener < 0) {
		error = error ? error : errno;
		fprintf(stderr, "fxt: %s: cannot be served at " FXT_SERVE_ADDRESS ": %s\n", name,
		        error == EADDRINUSE ? "another program uses it, perhaps another fxt view"
		                            : strerror(error));
		return FXT_FAILED;
	}
	printf("%s is at\n%s\nuntil the browser has fetched it, or Ctrl-C\n", name, link);
	fflush(stdout);
	if (!c->no_open)
		view_open(link);
	error = fxt_serve(listener, path, source);
	close(listener);
	if (error)
		fprintf(stderr, "fxt: %s: cannot be served: %s\n", name, strerror(error));
	return error ? FXT_FAILED : FXT_DONE;
}

enum { OPTION_NO_OPEN = FXT_OPTION_OWN, OPTION_SLOW };

int fxt_command_view(int argc, char **argv)
{
	struct view_command command = {0}, *c = &command;
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	        {"no-open", no_argument, NULL, OPTION_NO_OPEN},
	        {"slow", required_argument, NULL, OPTION_SLOW}, {0}};
	int option;

	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		c->no_open |= option == OPTION_NO_OPEN;
		if (option == OPTION_SLOW &&
		        fxt_call_details_take(&c->slow, argv[0], optarg, &c->slow_number) != FXT_DONE)
			return FXT_FAILED;
	}
	int status = fxt_each_source(argc, argv, view, c);

	fxt_patterns_free(&c->slow);
	return status;
}
