#include "thread_object.h"
#include <string.h>
#include "encode.h"
#include "escape.h"
#include "writer/engine/strings.h"

uint64_t fxt_thread_object(uint64_t koid, const char name[FXT_THREAD_NAME_BYTES], uint64_t process_koid,
        uint64_t *record, uint64_t capacity)
{
	struct fxt_argument process = fxt_argument_koid(fxt_string_index(FXT_KNOWN_PROCESS), process_koid);
	char valid[FXT_VALID_NAME_BYTES];
	size_t bytes = fxt_escape(valid, sizeof(valid), name, strnlen(name, FXT_THREAD_NAME_BYTES));

	return fxt_put_kernel_object(
	        record, capacity, FXT_OBJECT_THREAD, koid, fxt_string_inline(valid, bytes), &process, 1);
}

uint64_t fxt_heap_track_object(uint64_t koid, const char name[FXT_THREAD_NAME_BYTES], uint64_t process_koid,
        uint64_t *record, uint64_t capacity)
{
	static const char suffix[] = ": heap", row_of[] = FXT_ROW_OF;
	char row_name[FXT_VALID_NAME_BYTES + sizeof(suffix)];
	size_t bytes = fxt_escape(row_name, FXT_VALID_NAME_BYTES, name, strnlen(name, FXT_THREAD_NAME_BYTES));
	struct fxt_argument arguments[] = {
	        fxt_argument_koid(fxt_string_index(FXT_KNOWN_PROCESS), process_koid),
	        fxt_argument_koid(fxt_string_inline(row_of, sizeof(row_of) - 1), koid)};

	memcpy(row_name + bytes, suffix, sizeof(suffix) - 1);
	return fxt_put_kernel_object(record, capacity, FXT_OBJECT_THREAD, fxt_heap_track_koid(koid),
	        fxt_string_inline(row_name, bytes + sizeof(suffix) - 1), arguments, 2);
}
