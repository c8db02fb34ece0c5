#include "thread_object.h"
#include "encode.h"
#include "strings.h"

uint64_t fxt_thread_object(
        const struct fxt_thread_slot *slot, uint64_t process_koid, uint64_t *record, uint64_t capacity)
{
	struct fxt_argument process = fxt_argument_koid(fxt_string_index(FXT_KNOWN_PROCESS), process_koid);

	return fxt_put_kernel_object(record, capacity, FXT_OBJECT_THREAD, slot->koid,
	        fxt_string_inline(slot->name, strnlen(slot->name, sizeof(slot->name))), &process, 1);
}
