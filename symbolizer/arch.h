/*
 * The parts of reading a module's file that depend on the processor. A trace may be read on
 * another machine than the one that recorded it, so all supported processors are compiled
 * in together.
 */
#ifndef FXT_SYMBOLIZER_ARCH_H
#define FXT_SYMBOLIZER_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ENDBR64     "\xf3\x0f\x1e\xfa"
#define BND_PREFIX  0xf2
#define JUMP_BY_RIP "\xff\x25" /* jmp *offset(%rip), 6 bytes */
#define JUMP_BYTES  6

#define BTI_C       0xd503245f
#define ADRP_MASK   0x9f00001f
#define ADRP_X16    0x90000010
#define LDR_MASK    0xffc003ff
#define LDR_X17_X16 0xf9400211 /* ldr x17, [x16, #offset] */

/* Decodes the PLT slot at `code`, which lies at `address`. Returns false if it is no slot
 * that jumps through a GOT entry. */
static inline bool decode_x86_64(const uint8_t *code, size_t bytes, uint64_t address, uint64_t *got)
{
	size_t at = 0;
	int32_t offset;

	if (bytes >= 4 && memcmp(code, ENDBR64, 4) == 0)
		at = 4;
	if (at < bytes && code[at] == BND_PREFIX)
		at++;
	if (bytes - at < JUMP_BYTES || memcmp(code + at, JUMP_BY_RIP, 2) != 0)
		return false;
	memcpy(&offset, code + at + 2, sizeof(offset));
	*got = address + at + JUMP_BYTES + (uint64_t)(int64_t)offset;
	return true;
}

static inline bool decode_aarch64(const uint8_t *code, size_t bytes, uint64_t address, uint64_t *got)
{
	uint32_t words[3];

	if (bytes < sizeof(words))
		return false;
	memcpy(words, code, sizeof(words));
	const unsigned at = words[0] == BTI_C;
	const uint32_t adrp = words[at], ldr = words[at + 1];

	if ((adrp & ADRP_MASK) != ADRP_X16 || (ldr & LDR_MASK) != LDR_X17_X16)
		return false;
	/* A signed immediate of 21 bits; its low two bits stand apart from the others. */
	uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);

	pages = (pages ^ 0x100000) - 0x100000;
	*got = ((address + 4 * at) & ~UINT64_C(0xfff)) + (pages << 12) + (uint64_t)(ldr >> 10 & 0xfff) * 8;
	return true;
}

struct arch {
	unsigned machine;                /* e_machine */
	unsigned relocation_by_resolver; /* fills a GOT entry with a resolver's result */
	bool (*decode_slot)(const uint8_t *code, size_t bytes, uint64_t address, uint64_t *got);
};

/* Returns NULL for an unknown processor. */
static inline const struct arch *arch_of(unsigned machine)
{
	static const struct arch all[] = {
	        {EM_X86_64, R_X86_64_IRELATIVE, decode_x86_64},
	        {EM_AARCH64, R_AARCH64_IRELATIVE, decode_aarch64},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].machine == machine)
			return &all[i];
	return NULL;
}

#endif
