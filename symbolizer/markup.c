#include "markup.h"

#include <string.h>

static bool skip_text(struct fxt_span *rest, const char *text)
{
	if (!fxt_begins_with(*rest, text))
		return false;
	rest->data += strlen(text);
	rest->bytes -= strlen(text);
	return true;
}

static int digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return 16;
}

/* Reads a decimal number, or a hexadecimal one that begins with 0x. */
static bool take_number(struct fxt_span *rest, uint64_t *number)
{
	int base = skip_text(rest, "0x") ? 16 : 10;
	const char *first = rest->data;

	for (*number = 0; rest->bytes > 0 && digit_value(*rest->data) < base; rest->data++, rest->bytes--)
		if (__builtin_mul_overflow(*number, (uint64_t)base, number) ||
		        __builtin_add_overflow(*number, (uint64_t)digit_value(*rest->data), number))
			return false;
	return rest->data > first;
}

static bool parse_pc(struct fxt_span rest, struct fxt_markup *markup)
{
	markup->kind = FXT_MARKUP_PC;
	if (!take_number(&rest, &markup->address))
		return false;
	if (skip_text(&rest, ":") && !take_number(&rest, &markup->module))
		return false;
	return rest.bytes == 0;
}

static bool parse_module(struct fxt_span rest, struct fxt_markup *markup)
{
	static const char kind[] = ":elf:";
	const size_t kind_bytes = sizeof(kind) - 1;

	markup->kind = FXT_MARKUP_MODULE;
	if (!take_number(&rest, &markup->module) || !skip_text(&rest, ":"))
		return false;
	const char *colon = memrchr(rest.data, ':', rest.bytes);

	if (!colon || (size_t)(colon + 1 - rest.data) < kind_bytes ||
	        memcmp(colon + 1 - kind_bytes, kind, kind_bytes) != 0)
		return false;
	markup->path = (struct fxt_span){rest.data, (size_t)(colon + 1 - rest.data) - kind_bytes};
	markup->build_id = (struct fxt_span){colon + 1, (size_t)(rest.data + rest.bytes - colon - 1)};
	for (size_t i = 0; i < markup->build_id.bytes; i++)
		if (digit_value(markup->build_id.data[i]) > 15)
			return false;
	return memchr(markup->path.data, '\0', markup->path.bytes) == NULL;
}

static bool parse_mmap(struct fxt_span rest, struct fxt_markup *markup)
{
	markup->kind = FXT_MARKUP_MMAP;
	if (!take_number(&rest, &markup->address) || !skip_text(&rest, ":") ||
	        !take_number(&rest, &markup->bytes) || !skip_text(&rest, ":load:") ||
	        !take_number(&rest, &markup->module) || !skip_text(&rest, ":"))
		return false;
	while (rest.bytes > 0 && *rest.data != ':') {
		rest.data++;
		rest.bytes--;
	}
	return skip_text(&rest, ":") && take_number(&rest, &markup->module_address) && rest.bytes == 0;
}

bool fxt_markup_parse(struct fxt_span text, struct fxt_markup *markup)
{
	*markup = (struct fxt_markup){0};
	if (!fxt_ends_with(text, "}}}") || !skip_text(&text, "{{{"))
		return false;
	text.bytes -= 3;
	if (skip_text(&text, "pc:"))
		return parse_pc(text, markup);
	if (skip_text(&text, "module:"))
		return parse_module(text, markup);
	return skip_text(&text, "mmap:") && parse_mmap(text, markup);
}
