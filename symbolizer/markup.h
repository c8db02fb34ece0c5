/*
 * The symbolizer markup of Fuchsia, as far as traces use it: one element, which is the
 * whole text.
 *
 *   {{{pc:0x55d0c0de1139:3}}}                         an address and its module's id; 0 or none: not known
 *   {{{module:3:/usr/bin/lua:elf:8f3a...}}}           id, path, kind, build ID in lower-case hex, "" for none
 *   {{{mmap:0x55d0c0de0000:0x21000:load:3:rx:0x0}}}   address, bytes, kind, module id, access, address in
 *                                                     the module
 *
 * A path is everything between the id and the last ":elf:", whatever it contains. Only
 * bytes that are not UTF-8 are escaped in it (writer/format/escape.h).
 */
#ifndef FXT_SYMBOLIZER_MARKUP_H
#define FXT_SYMBOLIZER_MARKUP_H

#include <stdbool.h>
#include <stdint.h>
#include "reader/slices/span.h"

struct fxt_markup {
	enum fxt_markup_kind { FXT_MARKUP_PC, FXT_MARKUP_MODULE, FXT_MARKUP_MMAP } kind;
	uint64_t module;
	/* pc and mmap only */
	uint64_t address;
	/* mmap only */
	uint64_t bytes;
	uint64_t module_address;
	/* module only; both lie inside the text that was parsed */
	struct fxt_span path;
	struct fxt_span build_id;
};

/* Returns false if the text is anything else, or a number in it has more than 64 bits. */
bool fxt_markup_parse(struct fxt_span text, struct fxt_markup *markup);

#endif
