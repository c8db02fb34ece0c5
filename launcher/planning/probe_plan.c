/* Makes plans of probes (probe_plan.h), on the manager's thread. */
#include "probe_plan.h"
#include "arch.h"
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "moved.h"
#include "probe_operands.h"
#include "probe_requests.h"
#include "reached.h"
#include "writer/shared/search.h"

#define NOTE_TYPE 3
#define NOTES     16384
#define BEFORE    16 /* the most bytes that the jump is written before its site */

/* A probe of the file, by its note. */
struct note {
	uint64_t site, semaphore;
	const char *provider, *name, *arguments;
	bool is_wanted;
	unsigned texts; /* arguments that the user calls texts */
};

struct planning {
	Elf *elf;
	struct note *notes;
	size_t note_count;
	struct fxt_probe_plan head;
	struct fxt_probe *probes;
	uint8_t *code;
	char *texts;
	FILE *code_file, *text_file;
	size_t code_bytes, text_bytes;
};

/* ---- notes ---- */

static bool note_read(struct note *note, const char *at, size_t bytes, uint64_t base)
{
	const char *end = at + bytes;
	uint64_t words[3];

	if (bytes < sizeof(words) || end[-1] != 0)
		return false;
	memcpy(words, at, sizeof(words));
	at += sizeof(words);
	*note = (struct note){.provider = at};
	note->name = at = at + strlen(at) + 1;
	if (at >= end)
		return false;
	note->arguments = at = at + strlen(at) + 1;
	if (at >= end)
		return false;
	/* The file may have been moved to other addresses since the note was written. */
	note->site = words[0] + (base ? base - words[1] : 0);
	note->semaphore = words[2] ? words[2] + (base ? base - words[1] : 0) : 0;
	return *note->provider && *note->name;
}

static bool notes_read_section(struct planning *p, Elf_Data *data, uint64_t base)
{
	size_t name, text;
	GElf_Nhdr header;

	for (size_t at = 0, next;
	        p->note_count < NOTES && (next = gelf_getnote(data, at, &header, &name, &text)) > 0;
	        at = next) {
		struct note *notes, note;

		if (header.n_type != NOTE_TYPE || header.n_namesz != 8 ||
		        memcmp((char *)data->d_buf + name, "stapsdt", 8) != 0 ||
		        !note_read(&note, (char *)data->d_buf + text, header.n_descsz, base))
			continue;
		notes = reallocarray(p->notes, p->note_count + 1, sizeof(*notes));
		if (!notes)
			return false;
		p->notes = notes;
		notes[p->note_count++] = note;
	}
	return true;
}

static bool notes_read(struct planning *p)
{
	Elf_Scn *section = NULL, *notes = NULL;
	size_t names;
	uint64_t base = 0;
	Elf_Data *data;

	if (elf_getshdrstrndx(p->elf, &names) != 0)
		return true;
	while ((section = elf_nextscn(p->elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header) || !(name = elf_strptr(p->elf, names, header.sh_name)))
			continue;
		if (strcmp(name, ".stapsdt.base") == 0)
			base = header.sh_addr;
		if (header.sh_type == SHT_NOTE && strcmp(name, ".note.stapsdt") == 0)
			notes = section;
	}
	data = notes ? elf_getdata(notes, NULL) : NULL;
	return !data || notes_read_section(p, data, base);
}

static int notes_compare(const void *a, const void *b)
{
	const struct note *x = a, *y = b;
	int order = strcmp(x->provider, y->provider);

	return order ? order : strcmp(x->name, y->name);
}

/* Lists all probes by name, each once. NULL: memory is short. */
static char *notes_names(struct planning *p)
{
	char *names = NULL;
	size_t bytes;
	FILE *file = open_memstream(&names, &bytes);

	if (!file)
		return NULL;
	if (p->note_count)
		qsort(p->notes, p->note_count, sizeof(*p->notes), notes_compare);
	for (size_t i = 0; i < p->note_count; i++)
		if (i == 0 || notes_compare(&p->notes[i], &p->notes[i - 1]) != 0)
			fprintf(file, "%s%s:%s", i ? ", " : "", p->notes[i].provider, p->notes[i].name);
	if (fclose(file) != 0) {
		free(names);
		return NULL;
	}
	return names;
}

/* ---- sites ---- */

static const struct fxt_file_function *site_function(const struct fxt_reached *r, uint64_t site)
{
	uint64_t at = partition_point(i, r->functions.count, r->functions.list[i].start <= site);

	return at && site < r->functions.list[at - 1].end ? &r->functions.list[at - 1] : NULL;
}

/* True if no jump, call or address leads among the instructions from `start` to the end of
 * the jump or the site. */
static bool site_is_alone(const struct fxt_reached *r, uint64_t start, uint64_t site)
{
	uint64_t end = start + FXT_PLAN_JUMP_BYTES > site ? start + FXT_PLAN_JUMP_BYTES : site + 1;

	for (uint64_t at = start + 1; at < end; at++)
		if (fxt_reached(r, at) & FXT_REACHED_AT_ALL)
			return false;
	return true;
}

/* Moves the instructions around the first of some sites. The jump begins as near to the
 * site as possible, at it or before it, but not before `low`. */
static bool site_move(const struct fxt_reached *r, uint64_t low, const uint64_t *sites, size_t site_count,
        uint64_t *start, struct fxt_moved *moved)
{
	uint64_t site = sites[0];
	const struct fxt_file_function *f = site_function(r, site);
	uint64_t starts[BEFORE] = {0}; /* of the last instructions, by number */
	size_t count = 0, bytes;
	const uint8_t *code;
	uint64_t next; /* where padding behind the function ends */

	if (!f)
		return false;
	code = fxt_code_at(&r->functions, f->start, &bytes);
	next = f + 1 < r->functions.list + r->functions.count ? f[1].start : f->start + bytes;
	for (uint64_t at = f->start; at <= site;) {
		ZydisDecodedInstruction i;

		starts[count++ % BEFORE] = at;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		            &r->decoder, NULL, code + (at - f->start), f->end - at, &i)))
			return false;
		at += i.length;
	}
	if (starts[(count - 1) % BEFORE] != site)
		return false;
	for (size_t n = 1; n <= count && n <= BEFORE && site - starts[(count - n) % BEFORE] < BEFORE; n++) {
		*start = starts[(count - n) % BEFORE];
		if (*start < low)
			return false;
		if (bytes - (*start - f->start) >= FXT_PLAN_JUMP_BYTES && site_is_alone(r, *start, site) &&
		        fxt_move_probes(code + (*start - f->start), bytes - (*start - f->start), *start,
		                next - *start, sites, site_count, moved) == FXT_PLAN_NONE)
			return true;
	}
	return false;
}

/* ---- probes ---- */

static uint32_t planning_text(struct planning *p, const char *text, size_t bytes)
{
	uint32_t at = (uint32_t)p->head.text_bytes;

	fwrite(text, 1, bytes, p->text_file);
	fputc(0, p->text_file);
	p->head.text_bytes += (uint32_t)bytes + 1;
	return at;
}

static bool pair_is_complete(const struct planning *p, const struct note *note, int role, size_t stem)
{
	for (size_t i = 0; i < p->note_count; i++) {
		const struct note *other = &p->notes[i];
		size_t its_stem;
		bool overlaps;

		if (other->is_wanted && strcmp(other->provider, note->provider) == 0 &&
		        fxt_probe_pair(other->provider, other->name, &its_stem, &overlaps) == -role &&
		        its_stem == stem && memcmp(other->name, note->name, stem) == 0)
			return true;
	}
	return false;
}

static uint64_t pair_number(const char *provider, const char *name, size_t stem)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *at = provider; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	hash *= UINT64_C(0x100000001b3);
	for (size_t i = 0; i < stem; i++)
		hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	return hash | 1;
}

static void planning_name(struct planning *p, struct fxt_probe *probe, const struct note *note)
{
	size_t bytes = strlen(note->name), stem;
	bool overlaps;
	int role = fxt_probe_pair(note->provider, note->name, &stem, &overlaps);

	if (role && pair_is_complete(p, note, role, stem)) {
		if (overlaps)
			probe->kind = role > 0 ? FXT_PROBE_ASYNC_BEGIN : FXT_PROBE_ASYNC_END;
		else
			probe->kind = role > 0 ? FXT_PROBE_BEGIN : FXT_PROBE_END;
		bytes = stem;
	}
	probe->pair = pair_number(note->provider, note->name, bytes);
	probe->provider = planning_text(p, note->provider, strlen(note->provider));
	probe->name = planning_text(p, note->name, bytes);
}

static void planning_arguments(struct planning *p, struct fxt_probe *probe, const struct note *note)
{
	probe->count = (uint8_t)fxt_operands_read(p->elf, note->arguments, probe->operands);
	for (unsigned i = 0; i < probe->count; i++) {
		struct fxt_operand *o = &probe->operands[i];
		char argument[32];
		bool is_text = fxt_probe_argument(note->provider, note->name, i, argument, sizeof(argument));

		o->name = planning_text(p, argument, strlen(argument));
		if ((is_text || note->texts >> i & 1) && o->bytes == 8 && o->type != FXT_OPERAND_FLOAT)
			o->type = FXT_OPERAND_TEXT;
	}
}

static void planning_patch(
        struct planning *p, struct fxt_probe *probe, const uint8_t *original, const struct fxt_moved *moved)
{
	struct fxt_plan_entry *patch = &probe->patch;

	patch->code = p->head.code_bytes;
	patch->code_bytes = moved->code_bytes;
	patch->moved = moved->taken;
	patch->original_bytes = moved->taken < FXT_PLAN_JUMP_BYTES ? FXT_PLAN_JUMP_BYTES : moved->taken;
	patch->constant = moved->constant;
	memcpy(patch->fixups, moved->fixups, moved->fixup_count);
	memcpy(patch->original, original, patch->original_bytes);
	fwrite(moved->code, 1, moved->code_bytes, p->code_file);
	p->head.code_bytes += moved->code_bytes;
}

/* Adds the probes of one jump, which goes to `start`. */
static void planning_add(struct planning *p, const struct note *notes, uint64_t start,
        const uint8_t *original, const struct fxt_moved *moved)
{
	for (unsigned i = 0; i < moved->call_count; i++) {
		struct fxt_probe *probe = &p->probes[p->head.count++];

		*probe = (struct fxt_probe){.semaphore = notes[i].semaphore, .call = moved->calls[i]};
		probe->patch.address = start;
		probe->patch.function = notes[i].site;
		if (i == 0)
			planning_patch(p, probe, original, moved);
		planning_name(p, probe, &notes[i]);
		planning_arguments(p, probe, &notes[i]);
	}
}

static int notes_compare_sites(const void *a, const void *b)
{
	const struct note *x = a, *y = b;

	if (x->is_wanted != y->is_wanted)
		return y->is_wanted - x->is_wanted;
	return x->site < y->site ? -1 : x->site > y->site;
}

/* Adds all wanted probes. Sorts the notes by site, wanted ones first. */
static void planning_add_all(struct planning *p, const struct fxt_reached *r, uint64_t *sites, size_t wanted)
{
	uint64_t low = 0;

	qsort(p->notes, p->note_count, sizeof(*p->notes), notes_compare_sites);
	for (size_t i = 0; i < wanted; i++)
		sites[i] = p->notes[i].site;
	for (size_t i = 0; i < wanted;) {
		struct fxt_moved moved;
		uint64_t start;
		size_t bytes;

		if (sites[i] < low || !site_move(r, low, sites + i, wanted - i, &start, &moved)) {
			p->head.left_out++;
			i++;
			continue;
		}
		planning_add(p, &p->notes[i], start, fxt_code_at(&r->functions, start, &bytes), &moved);
		low = start + (moved.taken < FXT_PLAN_JUMP_BYTES ? FXT_PLAN_JUMP_BYTES : moved.taken);
		i += moved.call_count;
	}
}

/* ---- the file ---- */

static const char *planning_run(struct planning *p, size_t wanted)
{
	struct fxt_reached reached;
	const char *why = fxt_reached_read(&reached, p->elf);
	uint64_t *sites = calloc(wanted, sizeof(*sites));

	p->probes = calloc(wanted, sizeof(*p->probes));
	p->code_file = open_memstream((char **)&p->code, &p->code_bytes);
	p->text_file = open_memstream(&p->texts, &p->text_bytes);
	if (!why && (!sites || !p->probes || !p->code_file || !p->text_file))
		why = "memory is short";
	if (!why)
		planning_add_all(p, &reached, sites, wanted);
	fxt_reached_free(&reached);
	free(sites);
	if (p->code_file && fclose(p->code_file) != 0)
		why = "memory is short";
	if (p->text_file && fclose(p->text_file) != 0)
		why = "memory is short";
	return why;
}

static const char *planning_store(const struct planning *p, struct fxt_probe_plan **plan, size_t *bytes)
{
	size_t probe_bytes = p->head.count * sizeof(*p->probes);
	uint8_t *at;

	*bytes = sizeof(p->head) + probe_bytes + p->head.code_bytes + p->head.text_bytes;
	*plan = malloc(*bytes);
	if (!*plan)
		return "memory is short";
	at = mempcpy(*plan, &p->head, sizeof(p->head));
	at = mempcpy(at, p->probes, probe_bytes);
	at = mempcpy(at, p->code, p->head.code_bytes);
	memcpy(at, p->texts, p->head.text_bytes);
	return NULL;
}

const char *fxt_probe_plan_make(Elf *elf, const char *const *values, unsigned value_count,
        struct fxt_probe_plan **plan, size_t *bytes, char **names)
{
	struct planning p = {.elf = elf, .head = {.magic = FXT_PROBE_PLAN_MAGIC}};
	size_t wanted = 0;
	const char *why = NULL;

	*plan = NULL;
	*names = NULL;
	if (!notes_read(&p) || !(*names = notes_names(&p)))
		why = "memory is short";
	for (size_t i = 0; i < p.note_count; i++) {
		struct note *note = &p.notes[i];

		note->is_wanted =
		        fxt_probe_is_wanted(values, value_count, note->provider, note->name, &note->texts);
		wanted += note->is_wanted;
	}
	if (!why && wanted)
		why = planning_run(&p, wanted);
	if (!why && p.head.count + p.head.left_out)
		why = planning_store(&p, plan, bytes);
	free(p.notes);
	free(p.probes);
	free(p.code);
	free(p.texts);
	return why;
}
