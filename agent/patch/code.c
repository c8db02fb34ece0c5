/*
 * Reads and changes the program's code (code.h): mapped files, stubs, calls of hooks,
 * functions. Runs on the helper's thread, in a forked child before it records, and (only to
 * forget) on a thread that unloads code. It never touches code except through
 * /proc/self/mem, and never calls libc functions that a sanitizer may interpose.
 */
#include "code.h"
#include <fcntl.h>
#include <string.h>
#include "flow.h"
#include "agent/process/modules.h"
#include "writer/shared/sys.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#define CLOSE_RANGE_UNSHARE_TABLE 2

#define BLOCK_BYTES UINT64_C(4096)
#define BLOCKS      64
#define STUBS       1024
#define FILES       32

static int memory = -1;

/* ---- memory ---- */

bool agent_code_open_shared(void)
{
	long fd = sys_call(SYS_openat, AT_FDCWD, (long)"/proc/self/mem", O_RDWR | O_CLOEXEC, 0);

	memory = fd < 0 ? -1 : (int)fd;
	return memory >= 0;
}

bool agent_code_open(void)
{
	/* Opened in the program's table, the descriptor would be inherited by a child that
	 * another thread forks at this moment, and would write into the parent's memory. */
	if (sys_call(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE_TABLE, 0) != 0)
		return false;
	return agent_code_open_shared();
}

void agent_code_close(void)
{
	if (memory >= 0)
		sys_close(memory);
	memory = -1;
}

bool agent_code_open_for_now(int *kept)
{
	*kept = memory;
	if (agent_code_open_shared())
		return true;
	memory = *kept;
	return false;
}

void agent_code_close_again(int kept)
{
	agent_code_close();
	memory = kept;
}

bool agent_code_read(uint64_t address, void *bytes, size_t count)
{
	return sys_call(SYS_pread64, memory, bytes, count, address) == (long)count;
}

bool agent_code_write(uint64_t address, uint8_t byte)
{
	return sys_call(SYS_pwrite64, memory, &byte, 1, address) == 1;
}

bool agent_code_write_bytes(uint64_t address, const void *bytes, size_t count)
{
	return sys_call(SYS_pwrite64, memory, bytes, count, address) == (long)count;
}

/* ---- mappings ---- */

static struct {
	uint64_t start, end;
} files[FILES];
static uint32_t file_count;

/* Bytes read of tables and stubs. They stay the same as long as their module is loaded. */
static struct {
	uint64_t address;
	bool is_read;
	uint8_t bytes[BLOCK_BYTES];
} blocks[BLOCKS];

/* The targets of stubs. The loader writes such an address when the function is first
 * called, so an entry is valid for one moment only. */
static uint32_t moment;
static struct {
	uint32_t moment;
	uint64_t address, target;
} stubs[STUBS];

void agent_code_begin(void)
{
	moment++;
}

void agent_code_forget(void)
{
	file_count = 0;
	for (int i = 0; i < BLOCKS; i++)
		blocks[i].is_read = false;
}

static uint64_t code_read_number(const char **text, unsigned base)
{
	uint64_t number = 0;

	for (;; ++*text) {
		unsigned digit = (unsigned)**text - '0';

		if (digit > 9)
			digit = (unsigned)**text - 'a' + 10;
		if (digit >= base)
			return number;
		number = number * base + digit;
	}
}

/* Reads a line "start-end r-xp offset device inode path". Returns whether it contains the
 * address. If that is code of a file, adds the range to `files`. */
static bool code_read_line(const char *line, uint64_t address)
{
	uint64_t start = code_read_number(&line, 16), end;
	bool is_code;

	end = (line++, code_read_number(&line, 16));
	if (address - start >= end - start)
		return false;
	line++;
	is_code = memcmp(line, "r-xp ", 5) == 0;
	line += 5;
	code_read_number(&line, 16);
	line++;
	code_read_number(&line, 16);
	line++;
	code_read_number(&line, 16);
	line++;
	if (is_code && code_read_number(&line, 10) != 0) {
		files[file_count % FILES].start = start;
		files[file_count % FILES].end = end;
		file_count++;
	}
	return true;
}

static bool code_is_known_file(uint64_t address)
{
	for (uint32_t i = 0; i < FILES && i < file_count; i++)
		if (address - files[i].start < files[i].end - files[i].start)
			return true;
	return false;
}

/* Uses nothing of libc: a sanitizer's memchr() would look for its own state in this thread,
 * which has none. */
static void code_find_file(uint64_t address)
{
	static char text[BLOCK_BYTES];
	long fd = sys_call(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), bytes;
	uint64_t offset = 0, line = 1; /* 0: no line, or only the beginning of one */
	bool is_found = false;

	while (fd >= 0 && !is_found && line &&
	        (bytes = sys_call(SYS_pread64, fd, text, sizeof(text), offset)) > 0) {
		line = 0;
		for (uint64_t end = 0; !is_found && end < (uint64_t)bytes; end++) {
			if (text[end] != '\n')
				continue;
			is_found = code_read_line(text + line, address);
			line = end + 1;
		}
		offset += line;
	}
	if (fd >= 0)
		sys_close((int)fd);
}

bool agent_code_is_of_file(uint64_t address)
{
	if (code_is_known_file(address))
		return true;
	code_find_file(address);
	return code_is_known_file(address);
}

/* ---- calls of hooks ---- */

static uint64_t code_relative(uint64_t from, const uint8_t *bytes)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return from + (uint64_t)(int64_t)distance;
}

/* Reads through the cache. */
static bool code_read(uint64_t address, void *bytes, size_t count)
{
	while (count > 0) {
		uint64_t begin = address & ~(BLOCK_BYTES - 1), rest = begin + BLOCK_BYTES - address;
		uint64_t place = begin / BLOCK_BYTES % BLOCKS;
		size_t part = count < rest ? count : rest;

		if (blocks[place].address != begin || !blocks[place].is_read) {
			blocks[place].address = begin;
			blocks[place].is_read = agent_code_read(begin, blocks[place].bytes, BLOCK_BYTES);
			if (!blocks[place].is_read)
				return false;
		}
		memcpy(bytes, blocks[place].bytes + (address - begin), part);
		bytes = (uint8_t *)bytes + part;
		address += part;
		count -= part;
	}
	return true;
}

/* The word at an address, for example in the global offset table; 0: it cannot be read. */
static uint64_t code_word(uint64_t address)
{
	uint64_t word;

	return address % sizeof(word) == 0 && agent_code_read(address, &word, sizeof(word)) ? word : 0;
}

/* The target of a stub, with the instructions endbr64, bnd; jmp *slot(%rip). 0: this is no
 * stub. */
static uint64_t code_read_stub(uint64_t address)
{
	static const uint8_t landing[4] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t bytes[16], *at = bytes;

	if (!code_read(address, bytes, sizeof(bytes)))
		return 0;
	if (memcmp(at, landing, sizeof(landing)) == 0)
		at += sizeof(landing);
	if (*at == 0xf2)
		at++;
	if (at[0] != 0xff || at[1] != 0x25)
		return 0;
	return code_word(code_relative(address + (uint64_t)(at - bytes) + 6, at + 2));
}

/* The target of a stub, cached for this moment. */
static uint64_t code_stub_target(uint64_t address)
{
	uint64_t place = (address >> 4) % STUBS;

	if (stubs[place].address != address || stubs[place].moment != moment) {
		stubs[place].address = address;
		stubs[place].target = code_read_stub(address);
		stubs[place].moment = moment;
	}
	return stubs[place].target;
}

/* Whether the address is the hook's, or a stub's that leads to it. */
static bool code_is_stub(uint64_t address, uint64_t hook)
{
	return address == hook || code_stub_target(address) == hook;
}

/* Matches bytes at `address` that lead to a hook: a call of either, or a jump to the exit
 * hook. */
static bool code_find(
        uint64_t address, const uint8_t *bytes, const uint64_t hooks[2], struct agent_patch_site *patch)
{
	bool is_near = bytes[0] == 0xe8 || bytes[0] == 0xe9;
	bool is_jump = bytes[0] == 0xe9 || (bytes[0] == 0xff && bytes[1] == 0x25);
	uint64_t word = 0;

	if (!is_near && (bytes[0] != 0xff || (bytes[1] != 0x15 && !is_jump)))
		return false;
	if (!is_near && !(word = code_word(code_relative(address + 6, bytes + 2))))
		return false;
	for (int hook = is_jump; hook < 2; hook++)
		if (is_near ? code_is_stub(code_relative(address + 5, bytes + 1), hooks[hook])
		            : word == hooks[hook]) {
			*patch = (struct agent_patch_site){.address = address,
			        .before = bytes[0],
			        .after = is_jump   ? 0xc3
			                 : is_near ? 0xa9
			                           : 0x84,
			        .is_exit = (uint8_t)hook};
			memcpy(patch->rest, bytes + 1, AGENT_CODE_REST);
			return true;
		}
	return false;
}

bool agent_code_find(uint64_t address, const uint64_t hooks[2], struct agent_patch_site *patch)
{
	uint8_t bytes[6];

	return agent_code_read(address, bytes, sizeof(bytes)) && code_find(address, bytes, hooks, patch);
}

bool agent_code_find_call(
        uint64_t return_address, const uint64_t hooks[2], bool is_exit, struct agent_patch_site *patch)
{
	bool is_found = (agent_code_find(return_address - 5, hooks, patch) && patch->after == 0xa9) ||
	                (agent_code_find(return_address - 6, hooks, patch) && patch->after == 0x84);

	return is_found && patch->is_exit == is_exit;
}

/* ---- functions ---- */

/* An entry of the unwind table. */
struct code_part {
	uint64_t start, end;
	/* begins as a function does; an unlikely part starts with its frame set up */
	bool is_whole;
	bool has_handlers; /* for exceptions */
};

static bool code_find_part(uint64_t address, struct code_part *part)
{
	static const uint8_t usual[4] = {1, 0x1b, 0x03, 0x3b};
	uint64_t table = agent_module_unwind_table(address), entry, low = 0;
	struct {
		uint8_t encodings[4];
		int32_t frames;
		uint32_t count;
	} header;
	int32_t pair[2];
	uint8_t first;
	struct {
		uint32_t bytes, common;
		int32_t start;
		uint32_t length;
		uint8_t augmentation;
	} __attribute__((packed)) description;

	if (!table || !code_read(table, &header, sizeof(header)) ||
	        memcmp(header.encodings, usual, sizeof(usual)) != 0 || !header.count)
		return false;
	for (uint64_t high = header.count; high - low > 1;) {
		uint64_t middle = (low + high) / 2;

		if (!code_read(table + sizeof(header) + middle * sizeof(pair), pair, sizeof(pair)))
			return false;
		if (table + (uint64_t)(int64_t)pair[0] <= address)
			low = middle;
		else
			high = middle;
	}
	if (!code_read(table + sizeof(header) + low * sizeof(pair), pair, sizeof(pair)))
		return false;
	entry = table + (uint64_t)(int64_t)pair[1];
	if (!code_read(entry, &description, sizeof(description)) || description.augmentation > 127 ||
	        !code_read(entry + sizeof(description) + description.augmentation, &first, 1))
		return false;
	part->start = table + (uint64_t)(int64_t)pair[0];
	part->end = part->start + description.length;
	/* The first instruction advances the location, or there is none: nothing is on the
	 * stack yet. */
	part->is_whole = (first & 0xc0) == 0x40 || (first >= 2 && first <= 4) || first == 0;
	part->has_handlers = description.augmentation > 0;
	return entry + 8 + (uint64_t)(int64_t)description.start == part->start &&
	       address - part->start < part->end - part->start;
}

uint64_t agent_code_start(uint64_t address)
{
	struct code_part part;

	return code_find_part(address, &part) ? part.start : 0;
}

bool agent_code_is_function(uint64_t address)
{
	struct code_part part;

	return code_find_part(address, &part) && part.is_whole && part.start == address;
}

/* The state of agent_code_look(): the function, and the unlikely part that it jumps to. */
static struct {
	struct agent_flow flow;
	uint64_t named;
	bool is_named;
	bool is_shared; /* a function that is not excluded is inlined into it */
	bool is_undecided;
	bool is_whole[AGENT_FLOW_PARTS]; /* of each part: it begins as a function does */
	const struct agent_code_questions *questions;
} look;

static bool code_is_hook(const struct agent_instruction *i)
{
	for (int hook = 0; hook < 2; hook++)
		if (i->target ? code_is_stub(i->target, look.questions->hooks[hook])
		              : i->slot && code_word(i->slot) == look.questions->hooks[hook])
			return true;
	return false;
}

/* Whether an address is inside the examined code, and is not the start of a function. */
static bool code_is_label(uint64_t address)
{
	for (uint32_t n = 0; n < look.flow.part_count; n++)
		if (look.is_whole[n] && address == look.flow.parts[n].start)
			return false;
	return agent_flow_place(&look.flow, address) != AGENT_FLOW_BYTES;
}

/* An address found at that byte of the instructions. Hooks may get it as an argument. */
static void code_add(uint64_t value, uint32_t place)
{
	enum agent_code_answer answer;
	bool is_excluded;

	if (!agent_module_is_code(value))
		return;
	look.is_named = look.is_named || value == look.named;
	answer = look.questions->ask(value);
	is_excluded = answer == AGENT_CODE_EXCLUDED;
	if (!is_excluded && code_is_label(value))
		return;
	agent_flow_mark(&look.flow, place, is_excluded ? AGENT_FLOW_EXCLUDED : AGENT_FLOW_RECORDED);
	look.is_shared = look.is_shared || !is_excluded;
	look.is_undecided = look.is_undecided || answer == AGENT_CODE_UNDECIDED;
}

static bool code_add_part(const struct code_part *found)
{
	struct agent_flow_part *part = agent_flow_add(&look.flow, found->start, found->end);
	uint8_t *code;

	if (!part)
		return false;
	look.is_whole[part - look.flow.parts] = found->is_whole;
	look.flow.has_handlers = look.flow.has_handlers || found->has_handlers;
	code = look.flow.code + part->first;
	if (!agent_code_read(part->start, code, part->end - part->start))
		return false;
	look.questions->restore(part->start, code, part->end - part->start);
	return true;
}

/* A jump in the instructions that leads out of the examined code. */
static bool code_follow_jump(uint64_t target)
{
	struct code_part part;

	if (agent_flow_place(&look.flow, target) != AGENT_FLOW_BYTES || !agent_module_is_code(target))
		return true;
	if (code_stub_target(target) || !code_find_part(target, &part))
		return true; /* stubs, or code without frames: no function is inlined into it */
	if (part.is_whole && part.start == target)
		return true; /* a tail call of another function */
	return code_add_part(&part);
}

/* Examines a possible instruction at `place`: the forms in which compilers load an address
 * relative to the next instruction, and jumps. An absolute address may stand in any
 * instruction. */
static bool code_look_at(uint64_t address, uint32_t place)
{
	const uint8_t *at = look.flow.code + place;
	bool is_wide = (at[0] & 0xf8) == 0x48;
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	code_add(value, place);
	if (!(address >> 32) && value >> 32)
		code_add((uint32_t)value, place); /* code above 4 GiB has no such short address */
	if (is_wide && at[1] == 0x8d && (at[2] & 0xc7) == 0x05) /* lea */
		code_add(code_relative(address + 7, at + 3), place);
	if (is_wide && at[1] == 0x8b && (at[2] & 0xc7) == 0x05) /* mov */
		code_add(code_word(code_relative(address + 7, at + 3)), place);
	/* cmov */
	if (is_wide && at[1] == 0x0f && (at[2] & 0xf0) == 0x40 && (at[3] & 0xc7) == 0x05)
		code_add(code_word(code_relative(address + 8, at + 4)), place);
	if (at[0] == 0xff && at[1] == 0x35) /* push */
		code_add(code_word(code_relative(address + 6, at + 2)), place);
	if (at[0] == 0xe9)
		return code_follow_jump(code_relative(address + 5, at + 1));
	if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80)
		return code_follow_jump(code_relative(address + 6, at + 2));
	return true;
}

static void code_report_part(const struct agent_flow_part *part)
{
	const struct agent_code_questions *questions = look.questions;
	struct agent_patch_site patch;

	for (uint64_t at = part->start; at < part->end; at++)
		if (code_find(
		            at, look.flow.code + part->first + (at - part->start), questions->hooks, &patch))
			questions->tell(at, !look.is_shared || agent_flow_is_excluded(&look.flow, at));
}

bool agent_code_look(uint64_t address, uint64_t named, const struct agent_code_questions *questions)
{
	struct code_part whole;

	look.named = named;
	look.is_named = look.is_shared = look.is_undecided = false;
	look.questions = questions;
	if (!agent_flow_begin(&look.flow) || !code_find_part(address, &whole) || !whole.is_whole ||
	        !code_add_part(&whole))
		return false;
	for (uint32_t n = 0; n < look.flow.part_count; n++) {
		const struct agent_flow_part *part = &look.flow.parts[n];

		for (uint64_t at = part->start; at < part->end; at++)
			if (!code_look_at(at, part->first + (uint32_t)(at - part->start)))
				return false;
	}
	if (!look.is_named || look.is_undecided ||
	        (look.is_shared && !agent_flow_follow(&look.flow, code_is_hook)))
		return false;
	for (uint32_t n = 0; n < look.flow.part_count; n++)
		if (n == 0 || !look.is_whole[n]) /* else another function's, which only looks jumped to */
			code_report_part(&look.flow.parts[n]);
	return true;
}
