#include "windows.h"

#include <inttypes.h>
#include <stdlib.h>
#include "fxt/call_details.h"
#include "fxt/options.h"
#include "reader/trace/text.h"
#include "reader/slices/walk.h"

int fxt_windows_add(struct fxt_windows *windows, const char *command, const char *text)
{
	struct fxt_window *window = &windows->items[windows->count];

	if (windows->count == FXT_WINDOWS_MAX)
		return fxt_bad_usage(command, "more than %d calls to be around", FXT_WINDOWS_MAX);
	*window = (struct fxt_window){.text = text, .function = strdup(text)};
	if (!window->function)
		fxt_out_of_memory();
	windows->count++;
	int status = fxt_call_details_take(&window->functions, command, window->function, &window->number);

	window->is_outlier = status == FXT_DONE && strcmp(window->function, "slow") == 0;
	return status;
}

static int windows_too_few(const char *name, const struct fxt_window *window, size_t count)
{
	fflush(stdout);
	if (window->is_outlier)
		fprintf(stderr, "fxt: %s: the page has no more than %zu slow call%s\n", name, count,
		        fxt_plural(count));
	else
		fprintf(stderr, "fxt: %s: '%s' has no more than %zu call%s\n", name,
		        fxt_patterns_text(&window->functions), count, fxt_plural(count));
	return FXT_FAILED;
}

/* Finds the window's call by its number among the slowest of its functions. */
static int windows_find_call(struct fxt_window *window, const char *name, const struct fxt_scan *scan)
{
	bool *names = fxt_query_filter_names(&window->functions, scan);
	struct fxt_slowest slowest;
	char error[1024];

	if (!names) {
		fxt_query_filter_explain(&window->functions, scan, error, sizeof(error));
		fxt_report_name(name, error);
		return FXT_FAILED;
	}
	fxt_unfold(scan, names);

	bool is_whole = fxt_slowest_read(
	        &slowest, scan, names, true, NULL, (size_t)window->number, fxt_walk_workers(scan));
	int status = fxt_report_changed(name, is_whole);

	if (slowest.count < window->number)
		status = windows_too_few(name, window, slowest.count);
	else
		window->call = slowest.calls[window->number - 1].slice;
	free(names);
	fxt_slowest_free(&slowest);
	return status;
}

static int windows_find_outlier(
        struct fxt_window *window, const char *name, const struct fxt_outliers *outliers)
{
	if (window->number > outliers->count)
		return windows_too_few(name, window, outliers->count);
	window->call = outliers->items[window->number - 1].slowest;
	return FXT_DONE;
}

int fxt_windows_find(struct fxt_windows *windows, const char *name, const struct fxt_scan *scan,
        const struct fxt_outliers *outliers)
{
	int status = FXT_DONE;

	for (size_t i = 0; i < windows->count && status != FXT_FAILED; i++) {
		struct fxt_window *window = &windows->items[i];
		int found = window->is_outlier ? windows_find_outlier(window, name, outliers)
		                               : windows_find_call(window, name, scan);
		uint64_t around = (window->call.end - window->call.start) / 10;

		window->from = window->call.start > around ? window->call.start - around : 0;
		window->to = window->call.end < UINT64_MAX - around ? window->call.end + around : UINT64_MAX;
		status = found > status ? found : status;
	}
	return status;
}

void fxt_windows_free(struct fxt_windows *windows)
{
	for (size_t i = 0; i < windows->count; i++) {
		free(windows->items[i].function);
		fxt_patterns_free(&windows->items[i].functions);
	}
	*windows = (struct fxt_windows){0};
}
