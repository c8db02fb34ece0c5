/* Allocates a gigabyte, and frees it again block by block; prints the bytes. Sizes from 16 bytes to 64 KiB,
 * as many bytes in small blocks as in large ones. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	size_t total = 0;

	for (size_t size = 16; total < (size_t)1 << 30; size = size == 65536 ? 16 : 2 * size)
		for (size_t bytes = 0; bytes < 65536 * 4; bytes += size) {
			void *volatile block = malloc(size);

			free(block);
			total += size;
		}
	printf("%zu\n", total);
	return 0;
}
