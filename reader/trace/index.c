#include "index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void (*fxt_end_without_memory)(void);

void fxt_out_of_memory(void)
{
	if (fxt_end_without_memory)
		fxt_end_without_memory();
	fprintf(stderr, "fxt: out of memory\n");
	exit(2);
}

void *fxt_resize(void *memory, size_t count, size_t bytes)
{
	void *moved = reallocarray(memory, count, bytes);

	if (!moved)
		fxt_out_of_memory();
	return moved;
}

void *fxt_allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		fxt_out_of_memory();
	return memory;
}

void *fxt_resize_zeroed(void *memory, size_t *count, size_t larger, size_t bytes)
{
	memory = fxt_resize(memory, larger, bytes);
	memset((char *)memory + *count * bytes, 0, (larger - *count) * bytes);
	*count = larger;
	return memory;
}

uint64_t fxt_hash_keys[2];

__attribute__((constructor)) static void index_make_hash_keys(void)
{
	if (getrandom(fxt_hash_keys, sizeof(fxt_hash_keys), GRND_NONBLOCK) != sizeof(fxt_hash_keys)) {
		/* Early after boot the kernel has no random numbers yet. The addresses of
		 * this program and of its stack are random too. */
		fxt_hash_keys[0] = (uint64_t)(uintptr_t)&fxt_hash_keys * UINT64_C(0x9e3779b97f4a7c15);
		fxt_hash_keys[1] =
		        (uint64_t)(uintptr_t)__builtin_frame_address(0) * UINT64_C(0xd6e8feb86659fd93);
	}
	fxt_hash_keys[1] |= 1;
}

uint32_t fxt_hash_bytes(const void *data, size_t bytes)
{
	const char *at = data;
	uint64_t hash = bytes;
	uint64_t word;

	for (; bytes >= 8; at += 8, bytes -= 8) {
		memcpy(&word, at, 8);
		hash = fxt_hash_mix(hash ^ word);
	}
	word = 0;
	if (bytes > 0)
		memcpy(&word, at, bytes);
	return fxt_hash_word(hash ^ word);
}

static void index_insert(struct fxt_index *index, struct fxt_index_slot slot)
{
	size_t at = slot.hash & (index->capacity - 1);

	while (index->slots[at].id_plus_1 != 0)
		at = (at + 1) & (index->capacity - 1);
	index->slots[at] = slot;
}

void fxt_index_add(struct fxt_index *index, uint32_t hash, uint32_t id)
{
	if (2 * (index->count + 1) > index->capacity) {
		struct fxt_index larger = {.capacity = index->capacity ? 2 * index->capacity : 4};

		larger.slots = fxt_allocate(larger.capacity * sizeof(*larger.slots));
		larger.count = index->count;
		for (size_t i = 0; i < index->capacity; i++)
			if (index->slots[i].id_plus_1 != 0)
				index_insert(&larger, index->slots[i]);
		free(index->slots);
		*index = larger;
	}
	index_insert(index, (struct fxt_index_slot){hash, id + 1});
	index->count++;
}

void fxt_index_free(struct fxt_index *index)
{
	free(index->slots);
	*index = (struct fxt_index){0};
}
