#include "thread_object.h"
#include "encode.h"
#include "strings.h"

uint64_t fxt_thread_object(uint64_t koid, const char name[FXT_THREAD_NAME_BYTES], uint64_t process_koid,
        uint64_t *record, uint64_t capacity)
{
	struct fxt_argument process = fxt_argument_koid(fxt_string_index(FXT_KNOWN_PROCESS), process_koid);

	return fxt_put_kernel_object(record, capacity, FXT_OBJECT_THREAD, koid,
	        fxt_string_inline(name, strnlen(name, FXT_THREAD_NAME_BYTES)), &process, 1);
}
