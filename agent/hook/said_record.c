#include "said_record.h"

size_t said_words(const struct said *said)
{
	size_t texts = fxt_string_words(said->category) + fxt_string_words(said->name);
	size_t arguments = fxt_arguments_words(said->arguments, said->count);

	switch (said->kind) {
	case SAID_EVENT:
		return 2 + texts + arguments + fxt_event_has_extra((enum fxt_event_type)said->type);
	case SAID_LOG:
		return 2 + fxt_words(said->bytes);
	case SAID_BLOB:
		return 3 + texts + fxt_words(said->bytes);
	case SAID_BLOB_EVENT:
		return 4 + texts + arguments + fxt_words(said->bytes);
	case SAID_USERSPACE_OBJECT:
		return 2 + texts + fxt_thread_words(said->thread) / 2 + arguments;
	case SAID_KERNEL_OBJECT:
		return 2 + texts + arguments;
	}
	return FXT_IMPOSSIBLE_WORDS;
}

void said_put(uint64_t *position, uint64_t words, const void *context)
{
	const struct said *said = context;

	switch (said->kind) {
	case SAID_EVENT:
		said_put_event(position, words, said);
		break;
	case SAID_LOG:
		fxt_put_log(position, words, said->ticks, said->thread, said->data, said->bytes);
		break;
	case SAID_BLOB:
		fxt_put_large_blob(position, words, said->category, said->name, said->data, said->bytes);
		break;
	case SAID_BLOB_EVENT:
		fxt_put_large_blob_with_metadata(position, words, said->thread, said->category, said->name,
		        said->ticks, said->arguments, said->count, said->data, said->bytes);
		break;
	case SAID_USERSPACE_OBJECT:
		fxt_put_userspace_object(
		        position, words, said->thread, said->extra, said->name, said->arguments, said->count);
		break;
	case SAID_KERNEL_OBJECT:
		fxt_put_kernel_object(
		        position, words, said->type, said->extra, said->name, said->arguments, said->count);
		break;
	}
}
