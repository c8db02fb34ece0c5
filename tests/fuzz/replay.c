/*
 * Without a fuzzer: gives a target the inputs that are kept, one test each. `make fuzz`
 * links the engine of clang in its place.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL, block[1 << 12];
	size_t count = 0, got;

	if (!file)
		return 1;
	while ((got = fread(block, 1, sizeof(block), file)) > 0) {
		bytes = realloc(bytes, count + got);
		if (!bytes)
			abort();
		memcpy(bytes + count, block, got);
		count += got;
	}
	fclose(file);
	LLVMFuzzerTestOneInput((const uint8_t *)bytes, count);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (replay_file(argv[i]) != 0) {
			printf("not ok - %s cannot be read\n", argv[i]);
			return 1;
		}
		printf("ok - %s\n", argv[i]);
		fflush(stdout);
	}
	return argc > 1 ? 0 : 1;
}
