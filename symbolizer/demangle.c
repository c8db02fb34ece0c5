#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>
#include "reader/trace/utf8.h"

/* libiberty's own limit would refuse symbols of more than 1 KB, which templates exceed.
 * Without a limit the stack is the bound: 16 KB of nested types still fit in a stack of 8
 * MB. */
#define MANGLED_MAX_BYTES 16384

/* The text that libiberty delivers piece by piece. 200 bytes of symbol can expand to
 * terabytes of name, so a longjmp() leaves libiberty when the room is full. Nothing leaks:
 * its callback variants keep all their state on the stack. */
struct pieces {
	char *text;
	size_t bytes;
	jmp_buf full;
};

static void append_piece(const char *piece, size_t bytes, void *opaque)
{
	struct pieces *pieces = opaque;
	size_t room = FXT_NAME_ROOM - pieces->bytes;

	memcpy(pieces->text + pieces->bytes, piece, bytes < room ? bytes : room);
	if (bytes >= room) {
		pieces->bytes = FXT_NAME_ROOM;
		longjmp(pieces->full, 1);
	}
	pieces->bytes += bytes;
}

static bool demangle_pieces(const char *mangled, struct pieces *pieces)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(pieces->full))
		return true;
	/* Try Rust first: its older symbols are valid C++ too, except for a hash at the
	 * end. */
	if (rust_demangle_callback(mangled, options, append_piece, pieces))
		return true;
	pieces->bytes = 0;
	return cplus_demangle_v3_callback(mangled, options | DMGL_NO_RECURSE_LIMIT, append_piece, pieces);
}

/*
 * Returns the length of the suffix at `text` if it only keeps static functions of one name
 * apart: ".0" of gcc's nested functions, ".lto_priv.0" and ".8" from link-time optimization
 * of gcc and clang, which joins files, ".llvm.HASH" from clang's when it works in parts. A
 * number behind another suffix belongs to that suffix.
 */
static size_t distinguishing_suffix(const char *text, bool first_suffix)
{
	static const char *const prefixes[] = {".lto_priv.", ".llvm.", "."};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes) - !first_suffix; i++) {
		size_t prefix = strlen(prefixes[i]);
		size_t digits =
		        strncmp(text, prefixes[i], prefix) == 0 ? strspn(text + prefix, "0123456789") : 0;

		if (digits > 0 && (text[prefix + digits] == '\0' || strchr(".@", text[prefix + digits])))
			return prefix + digits;
	}
	return 0;
}

/* Copies the symbol unchanged except for its "@VERSION", which is removed. */
static size_t copy_symbol(const char *symbol, char *name, size_t room)
{
	size_t bytes = 0;
	bool first_suffix = true;

	while (*symbol && bytes < room && (*symbol != '@' || bytes == 0)) {
		size_t skipped =
		        bytes > 0 && *symbol == '.' ? distinguishing_suffix(symbol, first_suffix) : 0;

		if (skipped) {
			symbol += skipped;
			continue;
		}
		if (*symbol == '.')
			first_suffix = false;
		name[bytes++] = *symbol++;
	}
	return bytes;
}

size_t fxt_demangle(const char *symbol, char name[FXT_NAME_ROOM])
{
	size_t bytes = copy_symbol(symbol, name, FXT_NAME_ROOM);

	if (bytes <= MANGLED_MAX_BYTES) {
		char mangled[MANGLED_MAX_BYTES + 1];
		struct pieces pieces = {.text = name};

		memcpy(mangled, name, bytes);
		mangled[bytes] = '\0';
		if (demangle_pieces(mangled, &pieces))
			bytes = pieces.bytes;
		else
			memcpy(name, mangled, bytes);
	}
	fxt_utf8_repair(name, bytes);
	return fxt_utf8_cut(name, bytes, FXT_STRING_MAX_BYTES);
}
