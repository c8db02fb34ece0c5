#include "waits.h"
#include "writer/shared/atomics.h"
#include "function_table.h"
#include "strings.h"

static const struct {
	const char *name;
	enum fxt_wait_subject subject;
} wait_calls[FXT_WAIT_KINDS] = {
#define WAIT_ROW(name, subject, is_purpose) {#name, FXT_WAIT_FOR_##subject},
        FXT_WAITS(WAIT_ROW)
#undef WAIT_ROW
};

_Static_assert(FXT_WAIT_FIRST + FXT_WAIT_KINDS <= FXT_SPAN_INDEX && FXT_SPAN_INDEX < FXT_INDEX_LOCAL, "");

const char *fxt_wait_name(enum fxt_wait wait)
{
	return wait_calls[wait].name;
}

uint64_t fxt_count_calls(const struct fxt_frame *frames, uint64_t count)
{
	uint64_t calls = 0;

	for (uint64_t i = 0; i < count; i++)
		calls += fxt_is_counted(load_relaxed(&frames[i].function));
	return calls;
}

static struct fxt_string wait_indexed(uint64_t ref, unsigned first_bit)
{
	uint32_t index = (uint32_t)fxt_field(ref, first_bit, FXT_SPAN_TEXT_BITS);

	return index ? fxt_string_index(index) : fxt_string_empty();
}

static bool wait_is_for_descriptors(uint64_t ref)
{
	uint64_t call = fxt_field(ref, 0, FXT_FRAME_INDEX_BITS) - FXT_WAIT_FIRST;

	return fxt_is_wait(ref) && !fxt_is_span(ref) && call < FXT_WAIT_KINDS &&
	       wait_calls[call].subject == FXT_WAIT_FOR_DESCRIPTOR;
}

int32_t fxt_wait_descriptor(uint64_t ref)
{
	return wait_is_for_descriptors(ref) ? (int32_t)(ref >> FXT_FRAME_INDEX_BITS) - 1 : -1;
}

bool fxt_wait_has_several(uint64_t ref)
{
	return wait_is_for_descriptors(ref) && ref >> FXT_FRAME_INDEX_BITS == 0;
}

uint64_t fxt_put_wait(uint64_t record[FXT_WAIT_WORDS], enum fxt_event_type type, uint64_t process_koid,
        struct fxt_thread thread, const struct fxt_frame *frame, bool is_abandoned, uint64_t end)
{
	uint64_t ref = load_relaxed(&frame->function), site = load_relaxed(&frame->call_site);
	uint64_t symbol = fxt_field(site, 0, FXT_WAIT_SYMBOL_BITS);
	uint32_t holder = (uint32_t)fxt_field(site, FXT_WAIT_SYMBOL_BITS, 32);
	uint64_t object = ref >> FXT_FRAME_INDEX_BITS;
	uint64_t call = fxt_field(ref, 0, FXT_FRAME_INDEX_BITS) - FXT_WAIT_FIRST;
	struct fxt_argument arguments[4];
	size_t count = 0;

	if (!fxt_is_wait(ref))
		return 0;
	if (fxt_is_span(ref)) {
		arguments[0] = fxt_argument_bool(fxt_string_index(FXT_KNOWN_ABANDONED), true);
		return fxt_put_event(record, FXT_WAIT_WORDS, type, thread,
		        wait_indexed(ref, FXT_SPAN_CATEGORY_BIT), wait_indexed(ref, FXT_SPAN_NAME_BIT),
		        load_relaxed(&frame->start), arguments, is_abandoned, end);
	}
	if (call >= FXT_WAIT_KINDS)
		return 0;
	if (wait_calls[call].subject == FXT_WAIT_FOR_OBJECT)
		arguments[count++] = fxt_argument_pointer(fxt_string_text("object"), object);
	else if (object)
		arguments[count++] = fxt_argument_int32(fxt_string_text("fd"), (int32_t)(object - 1));
	if (symbol >= 1 && symbol <= FXT_STRING_INDEX_MAX)
		arguments[count++] =
		        fxt_argument_string(fxt_string_text("symbol"), fxt_string_index((uint32_t)symbol));
	if (holder)
		arguments[count++] =
		        fxt_argument_koid(fxt_string_text("holder"), fxt_holder_koid(process_koid, holder));
	if (is_abandoned)
		arguments[count++] = fxt_argument_bool(fxt_string_index(FXT_KNOWN_ABANDONED), true);
	return fxt_put_event(record, FXT_WAIT_WORDS, type, thread, fxt_string_text(FXT_WAIT_CATEGORY),
	        fxt_string_text(wait_calls[call].name), load_relaxed(&frame->start), arguments, count, end);
}
