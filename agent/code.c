#include "code.h"
#include <fcntl.h>
#include <string.h>
#include "modules.h"
#include "writer/sys.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#define CLOSE_RANGE_UNSHARE_TABLE 2

#define CODE_BYTES  (UINT64_C(256) << 10) /* of the longest function that is looked at */
#define BLOCK_BYTES UINT64_C(4096)
#define PARTS       8
#define STUBS       64
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

static struct {
	uint64_t stub, hook;
} stubs[STUBS];

static uint64_t block_address; /* of what is in `block`; 0 = nothing */
static uint8_t block[BLOCK_BYTES];

void agent_code_forget(void)
{
	file_count = 0;
	memset(stubs, 0, sizeof(stubs));
	block_address = 0;
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

/* The word at an address, such as one of the global offset table; 0 if there is none. */
static uint64_t code_word(uint64_t address)
{
	uint64_t word;

	if (address % sizeof(word))
		return 0;
	if (block_address != (address & ~(BLOCK_BYTES - 1))) {
		block_address = address & ~(BLOCK_BYTES - 1);
		if (!agent_code_read(block_address, block, BLOCK_BYTES))
			block_address = 0;
	}
	if (!block_address)
		return 0;
	memcpy(&word, block + address % BLOCK_BYTES, sizeof(word));
	return word;
}

/* Whether the instructions there go on at the hook: endbr64, bnd; jmp *slot(%rip). */
static bool code_is_stub(uint64_t address, uint64_t hook)
{
	static const uint8_t landing[4] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t bytes[16], *at = bytes;
	uint64_t place = (address >> 4) % STUBS;

	if (address == hook)
		return true;
	if (stubs[place].stub == address && stubs[place].hook == hook)
		return true;
	if (!agent_code_read(address, bytes, sizeof(bytes)))
		return false;
	if (memcmp(at, landing, sizeof(landing)) == 0)
		at += sizeof(landing);
	if (*at == 0xf2)
		at++;
	if (at[0] != 0xff || at[1] != 0x25 ||
	        code_word(code_relative(address + (uint64_t)(at - bytes) + 6, at + 2)) != hook)
		return false;
	stubs[place].stub = address;
	stubs[place].hook = hook;
	return true;
}

bool agent_code_find_call(uint64_t return_address, uint64_t hook, struct agent_patch *patch)
{
	uint8_t bytes[6];

	block_address = 0;
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
	return agent_code_read(address, &patch->before, 1) &&
	       agent_code_read(address + 1, patch->rest, AGENT_CODE_REST);
}

/* ---- functions ---- */

/* Finds the part of the unwind table that `address` is in. `is_whole`: it begins as a function does, and is
 * not the unlikely part of one, whose frame is there at its beginning. */
static bool code_find_function(uint64_t address, uint64_t *start, uint64_t *end, bool *is_whole)
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

	if (!table || !agent_code_read(table, &header, sizeof(header)) ||
	        memcmp(header.encodings, usual, sizeof(usual)) != 0 || !header.count)
		return false;
	for (uint64_t high = header.count; high - low > 1;) {
		uint64_t middle = (low + high) / 2;

		if (!agent_code_read(table + sizeof(header) + middle * sizeof(pair), pair, sizeof(pair)))
			return false;
		if (table + (uint64_t)(int64_t)pair[0] <= address)
			low = middle;
		else
			high = middle;
	}
	if (!agent_code_read(table + sizeof(header) + low * sizeof(pair), pair, sizeof(pair)))
		return false;
	entry = table + (uint64_t)(int64_t)pair[1];
	if (!agent_code_read(entry, &description, sizeof(description)) || description.augmentation > 127 ||
	        !agent_code_read(entry + sizeof(description) + description.augmentation, &first, 1))
		return false;
	*start = table + (uint64_t)(int64_t)pair[0];
	*end = *start + description.length;
	/* A first instruction that moves on, or none: nothing is on the stack yet. */
	*is_whole = (first & 0xc0) == 0x40 || (first >= 2 && first <= 4) || first == 0;
	return entry + 8 + (uint64_t)(int64_t)description.start == *start && address - *start < *end - *start;
}

bool agent_code_is_function(uint64_t address)
{
	uint64_t start, end;
	bool is_whole;

	return code_find_function(address, &start, &end, &is_whole) && is_whole && start == address;
}

/* What agent_code_look() is at. */
static struct {
	struct {
		uint64_t start, end;
	} parts[PARTS]; /* the function, and what it jumps to: its unlikely part */
	uint32_t part_count;
	uint64_t named, exit_hook;
	bool is_named;
	bool (*left_out)(uint64_t function);
	struct agent_code_function *function;
} look;

static uint8_t code[CODE_BYTES];

static bool code_is_in_parts(uint64_t address)
{
	for (uint32_t i = 0; i < look.part_count; i++)
		if (address - look.parts[i].start < look.parts[i].end - look.parts[i].start)
			return true;
	return false;
}

/* An address in the instructions: whether hooks may be given it without harm. */
static bool code_may_be_given(uint64_t value)
{
	if (!agent_module_is_code(value))
		return true;
	look.is_named = look.is_named || value == look.named;
	if (look.left_out(value))
		return true;
	return value != look.parts[0].start && code_is_in_parts(value); /* a label */
}

static bool code_add_tail(uint64_t at)
{
	if (look.function->tail_count == AGENT_CODE_TAILS)
		return false;
	look.function->tails[look.function->tail_count++] = at;
	return true;
}

/* A jump in the instructions that leads out of what is looked at. */
static bool code_follow_jump(uint64_t at, uint64_t target, bool is_conditional)
{
	uint64_t start, end;
	bool is_whole;

	if (code_is_in_parts(target) || !agent_module_is_code(target))
		return true;
	if (code_is_stub(target, look.exit_hook))
		return is_conditional || code_add_tail(at);
	if (!code_find_function(target, &start, &end, &is_whole))
		return true; /* code without frames, such as stubs: no function is inlined into it */
	if (is_whole && start == target)
		return true; /* the call of another function, in place of a return */
	if (look.part_count == PARTS)
		return false;
	look.parts[look.part_count].start = start;
	look.parts[look.part_count++].end = end;
	return true;
}

/* What may be an instruction that begins at `at`: of the forms in which compilers load an address relative to
 * the next instruction, and jumps. Addresses as they are may stand in any instruction. */
static bool code_look_at(uint64_t address, const uint8_t *at)
{
	bool is_wide = (at[0] & 0xf8) == 0x48;
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	if (!code_may_be_given(value) || !code_may_be_given((uint32_t)value))
		return false;
	if (is_wide && at[1] == 0x8d && (at[2] & 0xc7) == 0x05) /* lea */
		return code_may_be_given(code_relative(address + 7, at + 3));
	if (is_wide && at[1] == 0x8b && (at[2] & 0xc7) == 0x05) /* mov */
		return code_may_be_given(code_word(code_relative(address + 7, at + 3)));
	if (is_wide && at[1] == 0x0f && (at[2] & 0xf0) == 0x40 && (at[3] & 0xc7) == 0x05) /* cmov */
		return code_may_be_given(code_word(code_relative(address + 8, at + 4)));
	if (at[0] == 0xff && at[1] == 0x35) /* push */
		return code_may_be_given(code_word(code_relative(address + 6, at + 2)));
	if (at[0] == 0xe9)
		return code_follow_jump(address, code_relative(address + 5, at + 1), false);
	if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80)
		return code_follow_jump(address, code_relative(address + 6, at + 2), true);
	if (at[0] == 0xff && at[1] == 0x25 && code_word(code_relative(address + 6, at + 2)) == look.exit_hook)
		return code_add_tail(address);
	return true;
}

static bool code_look_at_part(uint64_t start, uint64_t end)
{
	const uint64_t behind = 16; /* an instruction may begin at the last byte */

	if (end - start > sizeof(code) - behind || !agent_code_read(start, code, end - start))
		return false;
	memset(code + (end - start), 0xcc, behind);
	for (uint64_t i = 0; i < end - start; i++)
		if (!code_look_at(start + i, code + i))
			return false;
	return true;
}

bool agent_code_look(uint64_t address, uint64_t named, uint64_t exit_hook,
        bool (*left_out)(uint64_t function), struct agent_code_function *function)
{
	bool is_whole;

	block_address = 0;
	if (!code_find_function(address, &function->start, &function->end, &is_whole) || !is_whole)
		return false;
	function->tail_count = 0;
	look.parts[0].start = function->start;
	look.parts[0].end = function->end;
	look.part_count = 1;
	look.named = named;
	look.is_named = false;
	look.exit_hook = exit_hook;
	look.left_out = left_out;
	look.function = function;
	for (uint32_t i = 0; i < look.part_count; i++)
		if (!code_look_at_part(look.parts[i].start, look.parts[i].end))
			return false;
	return look.is_named;
}
