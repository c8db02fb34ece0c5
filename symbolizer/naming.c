#include "naming.h"

#include <string.h>
#include "reader/trace/utf8.h"
#include "writer/format/encode.h"

size_t fxt_naming_string(uint64_t *to, uint32_t index, const struct fxt_location *function)
{
	return fxt_put_string(to, FXT_RECORD_MAX_WORDS, index, function->name, function->name_bytes);
}

/* The name stands inside the record; the parts before and behind it stay. */
size_t fxt_naming_event(uint64_t *to, const struct fxt_record *record, const struct fxt_view *view,
        const struct fxt_location *function)
{
	struct fxt_span old = fxt_inline_text(view->event.name);
	size_t before = (size_t)((const uint64_t *)old.data - record->words);
	size_t behind = record->size - before - fxt_words(old.bytes);
	size_t room = (FXT_RECORD_MAX_WORDS - before - behind) * sizeof(uint64_t);
	size_t bytes = fxt_utf8_cut(function->name, function->name_bytes, room);
	size_t words = before + fxt_words(bytes) + behind;
	struct fxt_string name = fxt_string_inline(function->name, bytes);
	uint64_t *at = to;

	memcpy(at, record->words, before * sizeof(*at));
	at[0] &= ~((UINT64_C(0xffff) << 48) | (UINT64_C(0xfff) << 4));
	at[0] |= (uint64_t)words << 4 | (uint64_t)name.ref << 48;
	at = fxt_write_string(at + before, name);
	memcpy(at, record->words + record->size - behind, behind * sizeof(*at));
	return words;
}

static struct fxt_argument module_of(const struct fxt_location *function)
{
	return fxt_argument_string(fxt_string_text("module"), fxt_string_text(function->module));
}

static struct fxt_argument offset_of(const struct fxt_location *function)
{
	return fxt_argument_uint64(fxt_string_text("offset"), function->address);
}

size_t fxt_naming_identity(uint64_t *to, size_t room, uint64_t process, uint64_t address, uint32_t index,
        const struct fxt_location *function)
{
	struct fxt_argument arguments[2];
	size_t count = 0;

	if (!function->module)
		return 0;
	arguments[count++] = module_of(function);
	if (function->is_local)
		arguments[count++] = offset_of(function);
	return fxt_put_userspace_object(
	        to, room, fxt_thread_inline(process, 0), address, fxt_string_index(index), arguments, count);
}

size_t fxt_naming_object(uint64_t *to, uint64_t process, uint64_t address, struct fxt_string name,
        const struct fxt_location *function)
{
	struct fxt_thread owner = fxt_thread_inline(process, 0);
	struct fxt_argument arguments[5];
	size_t count = 0, words;

	if (function->file)
		arguments[count++] =
		        fxt_argument_string(fxt_string_text("file"), fxt_string_text(function->file));
	if (function->line)
		arguments[count++] = fxt_argument_uint32(fxt_string_text("line"), function->line);
	if (function->module)
		arguments[count++] = module_of(function);
	if (function->build_id && function->build_id[0])
		arguments[count++] =
		        fxt_argument_string(fxt_string_text("build_id"), fxt_string_text(function->build_id));
	if (function->module && function->is_local)
		arguments[count++] = offset_of(function);
	words = fxt_put_userspace_object(to, FXT_RECORD_MAX_WORDS, owner, address, name, arguments, count);
	return words ? words
	             : fxt_put_userspace_object(to, FXT_RECORD_MAX_WORDS, owner, address, name, NULL, 0);
}
