#include "code.h"
#include <fcntl.h>
#include <string.h>
#include "flow.h"
#include "modules.h"
#include "writer/sys.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#define CLOSE_RANGE_UNSHARE_TABLE 2

#define BLOCK_BYTES UINT64_C(4096)
#define BLOCKS      32
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
	/* A descriptor in the program's table would be inherited by a child that another thread forks just
	 * now, and writes into the memory of its parent. */
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

bool agent_code_read(uint64_t address, void *bytes, size_t count)
{
	return sys_call(SYS_pread64, memory, bytes, count, address) == (long)count;
}

bool agent_code_write(uint64_t address, uint8_t byte)
{
	return sys_call(SYS_pwrite64, memory, &byte, 1, address) == 1;
}

/* ---- what is mapped ---- */

static struct {
	uint64_t start, end;
} files[FILES];
static uint32_t file_count;

/* What was read of memory just now. Of a module that stays, as it does while the engine's lock is held; but
 * the loader writes addresses when a function is called first. */
static uint32_t moment;

static struct {
	uint32_t moment;
	uint64_t address;
	uint8_t bytes[BLOCK_BYTES];
} blocks[BLOCKS];

static struct {
	uint32_t moment;
	uint64_t address, target;
} stubs[STUBS];

void agent_code_forget(void)
{
	file_count = 0;
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

/* "start-end r-xp offset device inode path": whether it is the line of that address; then it goes into
 * `files` if it is code of a file. */
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

/* By nothing of libc: a sanitizer's memchr() would look for its own in this thread, which has none. */
static void code_find_file(uint64_t address)
{
	static char text[BLOCK_BYTES];
	long fd = sys_call(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), bytes;
	uint64_t offset = 0, line = 1; /* 0: there was none, or not the end of one */
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

/* Reads what may have been read this moment. */
static bool code_read(uint64_t address, void *bytes, size_t count)
{
	while (count > 0) {
		uint64_t begin = address & ~(BLOCK_BYTES - 1), rest = begin + BLOCK_BYTES - address;
		uint64_t place = begin / BLOCK_BYTES % BLOCKS;
		size_t part = count < rest ? count : rest;

		if (blocks[place].address != begin || blocks[place].moment != moment) {
			blocks[place].moment = 0;
			if (!agent_code_read(begin, blocks[place].bytes, BLOCK_BYTES))
				return false;
			blocks[place].address = begin;
			blocks[place].moment = moment;
		}
		memcpy(bytes, blocks[place].bytes + (address - begin), part);
		bytes = (uint8_t *)bytes + part;
		address += part;
		count -= part;
	}
	return true;
}

/* The word at an address, such as one of the global offset table; 0 if there is none. */
static uint64_t code_word(uint64_t address)
{
	uint64_t word;

	return address % sizeof(word) == 0 && code_read(address, &word, sizeof(word)) ? word : 0;
}

/* Where the instructions of a stub go on, which are endbr64, bnd; jmp *slot(%rip); 0 if that is none. */
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

/* Whether an instruction there is the hook's, or a stub of it. */
static bool code_is_stub(uint64_t address, uint64_t hook)
{
	uint64_t place = (address >> 4) % STUBS;

	if (address == hook)
		return true;
	if (stubs[place].address != address || stubs[place].moment != moment) {
		stubs[place].address = address;
		stubs[place].target = code_read_stub(address);
		stubs[place].moment = moment;
	}
	return stubs[place].target == hook;
}

bool agent_code_find_call(uint64_t return_address, uint64_t hook, struct agent_patch *patch)
{
	uint8_t bytes[6];

	moment++;
	if (!agent_code_read(return_address - sizeof(bytes), bytes, sizeof(bytes)))
		return false;
	if (bytes[1] == 0xe8 && code_is_stub(code_relative(return_address, bytes + 2), hook))
		*patch = (struct agent_patch){.address = return_address - 5, .before = 0xe8, .after = 0xa9};
	else if (bytes[0] == 0xff && bytes[1] == 0x15 &&
	         code_word(code_relative(return_address, bytes + 2)) == hook)
		*patch = (struct agent_patch){.address = return_address - 6, .before = 0xff, .after = 0x84};
	else
		return false;
	memcpy(patch->rest, bytes + (patch->before == 0xe8 ? 2 : 1), AGENT_CODE_REST);
	return true;
}

bool agent_code_find_jump(uint64_t address, struct agent_patch *patch)
{
	*patch = (struct agent_patch){.address = address, .after = 0xc3, .is_exit = 1};
	return agent_code_read(address, &patch->before, 1) && patch->before != patch->after &&
	       agent_code_read(address + 1, patch->rest, AGENT_CODE_REST);
}

/* ---- functions ---- */

/* A part of the unwind table. */
struct code_part {
	uint64_t start, end;
	bool is_whole;     /* it begins as a function does; the unlikely part of one has its frame there */
	bool has_handlers; /* of exceptions */
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
	/* A first instruction that moves on, or none: nothing is on the stack yet. */
	part->is_whole = (first & 0xc0) == 0x40 || (first >= 2 && first <= 4) || first == 0;
	part->has_handlers = description.augmentation > 0;
	return entry + 8 + (uint64_t)(int64_t)description.start == part->start &&
	       address - part->start < part->end - part->start;
}

bool agent_code_is_function(uint64_t address)
{
	struct code_part part;

	return code_find_part(address, &part) && part.is_whole && part.start == address;
}

/* What agent_code_look() is at: the function, and what it jumps to, its unlikely part. */
static struct {
	struct agent_flow flow;
	uint64_t named;
	bool is_named;
	const struct agent_code_questions *questions;
	struct agent_code_function *function;
} look;

static bool code_is_hook(const struct agent_instruction *i)
{
	for (int hook = 0; hook < 2; hook++)
		if (i->target ? code_is_stub(i->target, look.questions->hooks[hook])
		              : i->slot && code_word(i->slot) == look.questions->hooks[hook])
			return true;
	return false;
}

/* An address in the instructions, found at that byte: hooks may be given it. */
static void code_see(uint64_t value, uint32_t place)
{
	bool is_left_out;

	if (!agent_module_is_code(value))
		return;
	look.is_named = look.is_named || value == look.named;
	is_left_out = look.questions->left_out(value);
	if (!is_left_out && value != look.flow.parts[0].start &&
	        agent_flow_place(&look.flow, value) != AGENT_FLOW_BYTES)
		return; /* a label */
	agent_flow_mark(&look.flow, place, is_left_out ? AGENT_FLOW_LEFT_OUT : AGENT_FLOW_RECORDED);
	look.function->is_shared = look.function->is_shared || !is_left_out;
}

static bool code_add_tail(uint64_t at)
{
	if (look.function->tail_count == AGENT_CODE_TAILS)
		return false;
	look.function->tails[look.function->tail_count++] = at;
	return true;
}

static bool code_add_part(const struct code_part *found)
{
	struct agent_flow_part *part = agent_flow_add(&look.flow, found->start, found->end);
	uint8_t *code;

	if (!part)
		return false;
	look.flow.has_handlers = look.flow.has_handlers || found->has_handlers;
	code = look.flow.code + part->first;
	if (!agent_code_read(part->start, code, part->end - part->start))
		return false;
	look.questions->restore(part->start, code, part->end - part->start);
	return true;
}

/* A jump in the instructions that leads out of what is looked at. */
static bool code_follow_jump(uint64_t at, uint64_t target, bool is_conditional)
{
	struct code_part part;

	if (agent_flow_place(&look.flow, target) != AGENT_FLOW_BYTES || !agent_module_is_code(target))
		return true;
	if (code_is_stub(target, look.questions->hooks[1]))
		return is_conditional || code_add_tail(at);
	if (!code_find_part(target, &part))
		return true; /* code without frames, such as stubs: no function is inlined into it */
	if (part.is_whole && part.start == target)
		return true; /* the call of another function, in place of a return */
	return code_add_part(&part);
}

/* What may be an instruction that begins at `at`: of the forms in which compilers load an address relative to
 * the next instruction, and jumps. Addresses as they are may stand in any instruction. */
static bool code_look_at(uint64_t address, uint32_t place)
{
	const uint8_t *at = look.flow.code + place;
	bool is_wide = (at[0] & 0xf8) == 0x48;
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	code_see(value, place);
	if (value >> 32)
		code_see((uint32_t)value, place);
	if (is_wide && at[1] == 0x8d && (at[2] & 0xc7) == 0x05) /* lea */
		code_see(code_relative(address + 7, at + 3), place);
	if (is_wide && at[1] == 0x8b && (at[2] & 0xc7) == 0x05) /* mov */
		code_see(code_word(code_relative(address + 7, at + 3)), place);
	if (is_wide && at[1] == 0x0f && (at[2] & 0xf0) == 0x40 && (at[3] & 0xc7) == 0x05) /* cmov */
		code_see(code_word(code_relative(address + 8, at + 4)), place);
	if (at[0] == 0xff && at[1] == 0x35) /* push */
		code_see(code_word(code_relative(address + 6, at + 2)), place);
	if (at[0] == 0xe9)
		return code_follow_jump(address, code_relative(address + 5, at + 1), false);
	if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80)
		return code_follow_jump(address, code_relative(address + 6, at + 2), true);
	if (at[0] == 0xff && at[1] == 0x25 &&
	        code_word(code_relative(address + 6, at + 2)) == look.questions->hooks[1])
		return code_add_tail(address);
	return true;
}

/* Leaves the tails of functions that are left out alone. */
static void code_keep_tails(struct agent_code_function *function)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < function->tail_count; i++)
		if (agent_flow_is_left_out(&look.flow, function->tails[i]))
			function->tails[kept++] = function->tails[i];
	function->tail_count = kept;
}

bool agent_code_look(uint64_t address, uint64_t named, const struct agent_code_questions *questions,
        struct agent_code_function *function)
{
	struct code_part whole;

	*function = (struct agent_code_function){0};
	look.named = named;
	look.is_named = false;
	look.questions = questions;
	look.function = function;
	moment++;
	agent_flow_begin(&look.flow);
	if (!code_find_part(address, &whole) || !whole.is_whole || !code_add_part(&whole))
		return false;
	function->start = whole.start;
	function->end = whole.end;
	for (uint32_t n = 0; n < look.flow.part_count; n++) {
		const struct agent_flow_part *part = &look.flow.parts[n];

		for (uint64_t at = part->start; at < part->end; at++)
			if (!code_look_at(at, part->first + (uint32_t)(at - part->start)))
				return false;
	}
	if (!look.is_named)
		return false;
	if (function->is_shared) {
		if (!agent_flow_follow(&look.flow, code_is_hook))
			return false;
		agent_flow_tell(&look.flow, code_is_hook, questions->tell);
		code_keep_tails(function);
	}
	return true;
}
