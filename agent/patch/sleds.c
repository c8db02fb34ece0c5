/*
 * Makes the bytes of sleds, stubs and thunks (sleds.h).
 */
#include "sleds.h"
#include <stddef.h>
#include <string.h>

#define CALL_BYTES 5u
#define REMAINDERS 256u
#define STUB_BYTES 16u
#define LOW_BYTE   9u /* of the distance from behind an entry's call to its stub */

/*
 * The place of the stub with that remainder, which its own address has too. Two sleds'
 * remainders may differ by 2, and a stub takes 14 bytes, so neighbours are 256 bytes apart.
 */
static uint32_t sled_stub(uint32_t remainder)
{
	return remainder / 2 % (STUB_BYTES / 2) * REMAINDERS + remainder;
}

void agent_sled_make_stubs(uint8_t stubs[AGENT_SLED_STUBS_BYTES], const struct agent_sled_code *to)
{
	static const uint8_t jump[6] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
	uint64_t enter = (uint64_t)(uintptr_t)to->enter;

	for (uint32_t remainder = 0; remainder < REMAINDERS; remainder += 2) {
		uint8_t *at = stubs + sled_stub(remainder);

		memcpy(at, jump, sizeof(jump));
		memcpy(at + sizeof(jump), &enter, sizeof(enter));
	}
}

struct agent_sled_thunk agent_sled_thunk_of(const struct agent_entry *sled, const struct agent_sled_code *to)
{
	const struct agent_sled_thunk exit = {
	        .code = {0xff, 0x35, 32 - 6, 0, 0, 0,  /* push function(%rip) */
	                0xff, 0x25, 40 - 12, 0, 0, 0}, /* jmp *leave(%rip) */
	        .function = sled->function,
	        .leave = (uint64_t)(uintptr_t)to->leave,
	};
	const struct agent_sled_thunk tail = {
	        .code = {0x48, 0x8d, 0x64, 0x24, 0x80,        /* lea -128(%rsp), %rsp */
	                0xff, 0x35, 32 - 11, 0, 0, 0,         /* push function(%rip) */
	                0xff, 0x15, 40 - 17, 0, 0, 0,         /* call *leave(%rip) */
	                0x48, 0x8d, 0xa4, 0x24, 136, 0, 0, 0, /* lea 136(%rsp), %rsp */
	                0xff, 0x25, 48 - 31, 0, 0, 0},        /* jmp *behind(%rip) */
	        .function = sled->function,
	        .leave = (uint64_t)(uintptr_t)to->leave_by_jump,
	        .behind = sled->address + AGENT_SLED_BYTES,
	};

	_Static_assert(sizeof(exit) == AGENT_SLED_THUNK_BYTES &&
	                       offsetof(struct agent_sled_thunk, function) == 32 &&
	                       offsetof(struct agent_sled_thunk, behind) == 48,
	        "as in the instructions");
	return sled->kind == AGENT_SLED_EXIT ? exit : tail;
}

struct agent_sled_switch agent_sled_switch_of(const struct agent_entry *sled)
{
	static const struct agent_sled_switch switches[] = {
	        [AGENT_SLED_ENTRY] = {0, 0xe8, 0xeb},
	        [AGENT_SLED_EXIT] = {0, 0xe9, 0xc3},
	        [AGENT_SLED_TAIL] = {1, 0, 9},
	};
	struct agent_sled_switch found = switches[sled->kind];

	found.address += sled->address;
	return found;
}

static void sled_put_distance(uint8_t *at, uint64_t from, uint64_t to)
{
	int32_t distance = (int32_t)(to - from);

	memcpy(at, &distance, sizeof(distance));
}

void agent_sled_make(
        uint8_t code[AGENT_SLED_BYTES], const struct agent_entry *sled, uint64_t stubs, uint64_t thunk)
{
	static const uint8_t forms[][AGENT_SLED_BYTES] = {
	        [AGENT_SLED_ENTRY] = {0xeb, 9, 0, 0, 0, 0xeb, 4},
	        [AGENT_SLED_EXIT] = {0xc3, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90},
	        [AGENT_SLED_TAIL] = {0xeb, 9, 0xe9, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90},
	};
	uint64_t jump = sled->address + (sled->kind == AGENT_SLED_TAIL ? 2 : 0), behind = jump + CALL_BYTES;

	memcpy(code, forms[sled->kind], AGENT_SLED_BYTES);
	if (sled->kind == AGENT_SLED_ENTRY) {
		sled_put_distance(
		        code + 1, behind, stubs + sled_stub((uint32_t)(behind + LOW_BYTE) % REMAINDERS));
		sled_put_distance(code + 7, behind, sled->function);
	} else {
		sled_put_distance(code + (jump - sled->address) + 1, behind, thunk);
	}
}
