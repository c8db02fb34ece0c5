/*
 * Any bytes as a trace: checked, scanned in small blocks and ranges, walked by two workers,
 * and read as a heap.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "file.h"
#include "reader/trace/archive.h"
#include "reader/trace/check.h"
#include "reader/stats/functions.h"
#include "reader/heap/heap.h"
#include "reader/stats/paths.h"
#include "reader/slices/scan.h"

enum { WORKERS = 2 };

static void fuzz_scan(const uint8_t *data, size_t bytes)
{
	struct fxt_scan_sizes sizes = {256, 512, 256};
	struct fxt_functions *threads;
	struct fxt_thread_times pastimes;
	struct fxt_source source;
	struct fxt_paths paths;
	struct fxt_scan scan;
	char error[256];
	bool complete;
	int fd = fuzz_file(data, bytes);

	if (fxt_source_open_fd(&source, fd, "trace", error, sizeof(error)) == 0) {
		fxt_thread_times_init(&pastimes);
		fxt_scan_listened(&scan, &source, &sizes, &pastimes.listener);
		fxt_thread_times_finish(&pastimes, &scan);
		threads = fxt_functions_read(&scan, NULL, &pastimes, WORKERS, &complete);
		for (size_t i = 0; i < scan.thread_count; i++)
			fxt_functions_free(&threads[i]);
		free(threads);
		fxt_paths_read(&paths, &scan, FXT_PATHS_BY_PROCESS, &pastimes, WORKERS);
		fxt_paths_free(&paths);
		fxt_thread_times_free(&pastimes);
		fxt_scan_free(&scan);
		fxt_source_close(&source);
	}
	close(fd);
}

static void fuzz_archive(const uint8_t *data, size_t bytes)
{
	uint64_t *words = calloc(bytes / 8 + 1, 8);
	struct fxt_archive archive = {.words = words, .bytes = bytes};
	struct fxt_verdict verdict;
	struct fxt_heap heap;

	if (!words)
		abort();
	memcpy(words, data, bytes);
	fxt_check_archive(&archive, &verdict);
	fxt_verdict_free(&verdict);
	fxt_heap_read(&heap, &archive, 0, true);
	fxt_heap_free(&heap);
	free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes == 0)
		return 0;
	fuzz_archive(data, bytes);
	fuzz_scan(data, bytes);
	return 0;
}
