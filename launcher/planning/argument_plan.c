/* Makes argument plans (argument_plan.h), on the manager's thread. */
#include "argument_plan.h"
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch.h"
#include "argument_functions.h"
#include "argument_list.h"
#include "prototypes.h"

struct making {
	struct fxt_argument_requests *requests;
	struct fxt_elf files;
	struct fxt_symbols symbols;
	struct fxt_argument_list list;
};

/* ---- functions by their symbols ---- */

static void prototype_add(struct fxt_argument_list *list, const struct fxt_argument_request *r,
        const struct fxt_prototype *prototype, uint64_t address)
{
	const char *at = prototype->arguments;
	uint8_t integers = 0, floats = 0;

	while (*at && r->wants_arguments) {
		size_t type_bytes = strcspn(at, " "), bytes = strcspn(at, ",");
		struct fxt_planned_value value = {0};
		char type[8], name[32];

		snprintf(type, sizeof(type), "%.*s", (int)type_bytes, at);
		snprintf(name, sizeof(name), "%.*s", (int)(bytes - type_bytes - 1), at + type_bytes + 1);
		at += bytes + (at[bytes] == ',');
		if (!fxt_argument_type_read(type, &value))
			continue;
		value.source = value.type == FXT_VALUE_FLOATING ? FXT_VALUE_VECTOR : FXT_VALUE_GENERAL;
		value.number =
		        value.type == FXT_VALUE_FLOATING ? floats++ : arch_argument_register(integers++);
		if (!r->path || strcmp(r->path, name) == 0)
			fxt_argument_list_add(list, address, FXT_ARGUMENT_BY_PROTOTYPE, value, name);
	}
	if (r->wants_result && prototype->result) {
		struct fxt_planned_value value = {.is_result = 1};

		fxt_argument_type_read(prototype->result, &value);
		value.source = value.type == FXT_VALUE_FLOATING ? FXT_VALUE_VECTOR : FXT_VALUE_GENERAL;
		fxt_argument_list_add(list, address, FXT_ARGUMENT_BY_PROTOTYPE, value, "return");
	}
}

static void making_read_symbols(struct making *m, const char *path)
{
	bool is_c_library = fxt_is_c_library(path);

	for (size_t i = 0; i < m->symbols.count; i++) {
		const struct fxt_symbol *symbol = &m->symbols.table[i];
		const char *readable = fxt_argument_readable(symbol->name);

		for (size_t n = 0; n < m->requests->count; n++) {
			struct fxt_argument_request *r = &m->requests->list[n];
			const struct fxt_prototype *prototype;

			if (!fxt_argument_request_matches(r, symbol->name, readable))
				continue;
			r->has_values |= r->count > 0;
			for (size_t v = 0; v < r->count; v++)
				fxt_argument_list_add(&m->list, symbol->address, FXT_ARGUMENT_BY_HAND,
				        r->by_hand[v], r->names[v]);
			prototype = is_c_library && !r->count ? fxt_prototype_find(symbol->name) : NULL;
			if (prototype)
				prototype_add(&m->list, r, prototype, symbol->address);
			r->has_values |= prototype != NULL;
		}
	}
}

/* ---- the plan ---- */

static void making_open(struct making *m, Elf *elf, const char *path)
{
	const void *note;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &note);
	char build_id[FXT_BUILD_ID_MAX_DIGITS + 1] = "";

	for (ssize_t i = 0; i < bytes && bytes <= FXT_BUILD_ID_MAX_DIGITS / 2; i++)
		snprintf(build_id + 2 * i, 3, "%02x", ((const unsigned char *)note)[i]);
	m->files.module =
	        (struct fxt_elf_file){.elf = elf, .dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL)};
	fxt_elf_open_debug(&m->files, path, build_id);
	if (fxt_symbols_read(&m->symbols, &m->files) != 0)
		m->list.is_short = true;
	making_read_symbols(m, path);
	if (fxt_elf_sources(&m->files, build_id)->dwarf)
		fxt_argument_functions_read(
		        &m->list, m->requests, &m->symbols, fxt_elf_sources(&m->files, build_id)->dwarf);
}

const char *fxt_argument_plan_make(Elf *elf, const char *path, struct fxt_argument_requests *requests,
        struct fxt_argument_plan **plan, size_t *bytes)
{
	struct making *m = calloc(1, sizeof(*m));
	const char *why;
	GElf_Ehdr header;

	*plan = NULL;
	if (!gelf_getehdr(elf, &header) || header.e_machine != ARCH_PLANNED_MACHINE)
		why = "it is for another processor";
	else
		why = m ? NULL : "there is no memory for it";
	if (why) {
		elf_end(elf);
		free(m);
		return why;
	}
	m->requests = requests;
	making_open(m, elf, path);
	why = fxt_argument_list_store(&m->list, plan, bytes);
	fxt_symbols_free(&m->symbols);
	fxt_elf_close(&m->files);
	fxt_argument_list_free(&m->list);
	free(m);
	return why;
}
