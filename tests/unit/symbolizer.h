/*
 * Helpers of the symbolizer's tests: they make raw archives as an agent and a manager
 * would, have them finished, and decode the results by themselves.
 *
 * Tests run in the root of the sources; `directory` is an empty one of their own.
 */
#ifndef FXT_TESTS_UNIT_SYMBOLIZER_H
#define FXT_TESTS_UNIT_SYMBOLIZER_H

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "symbolizer/rewrite.h"
#include "writer/format/encode.h"

#define PROVIDER 7
#define PROCESS  4711
#define THREAD   4712
#define SOURCES  "tests/programs/symbols"

static char directory[] = "/tmp/fxt-symbolizer.XXXXXX";

static inline int make_directory(void **state)
{
	(void)state;
	strcpy(strchr(directory, '.'), ".XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

/* Runs a shell command, which must succeed. */
__attribute__((format(printf, 1, 2))) static inline void run(const char *format, ...)
{
	char command[4096];
	va_list values;

	va_start(values, format);
	assert_true(vsnprintf(command, sizeof(command), format, values) < (int)sizeof(command));
	va_end(values);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

static inline int remove_directory(void **state)
{
	(void)state;
	run("rm -rf %s", directory);
	return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

/* A path in the directory; the four last results are good. */
static inline const char *in_directory(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", directory, name);
	return path;
}

/* The first line that a shell command prints. */
static inline void first_line(char *line, size_t room, const char *command)
{
	FILE *pipe = popen(command, "r");

	assert_non_null(pipe);
	if (!fgets(line, (int)room, pipe))
		line[0] = '\0';
	pclose(pipe);
	line[strcspn(line, "\n")] = '\0';
}

static inline void build_id_of(const char *path, char *digits, size_t room)
{
	char command[PATH_MAX + 100];

	snprintf(command, sizeof(command), "readelf -n '%s' 2>/dev/null | sed -n 's/.*Build ID: //p'", path);
	first_line(digits, room, command);
}

static inline uint64_t address_of(const char *path, const char *symbol)
{
	char command[PATH_MAX + 100], line[100];

	snprintf(command, sizeof(command), "nm '%s' | grep ' %s$'", path, symbol);
	first_line(line, sizeof(line), command);
	if (line[0] == '\0')
		fail_msg("nm knows no %s in %s", symbol, path);
	return strtoull(line, NULL, 16);
}

/* Builds slot.so, which calls an indirect function, `chosen`, by a PLT slot, with the tools
 * of that prefix. Returns the slot's address. */
static inline uint64_t build_slot(const char *tools, const char *options)
{
	char command[2 * PATH_MAX + 100], line[100];
	FILE *source = fopen(in_directory("slot.c"), "w");

	assert_non_null(source);
	fputs("static int one(void) { return 1; }\n"
	      "static int (*choose(void))(void) { return one; }\n"
	      "static int chosen(void) __attribute__((ifunc(\"choose\")));\n"
	      "int call(void) { return chosen() + 1; }\n",
	        source);
	fclose(source);
	run("cd %s && %sgcc -O1 -fPIC -shared -nostdlib -Wl,--build-id %s slot.c -o slot.so", directory,
	        tools, options);
	snprintf(command, sizeof(command), "%sobjdump -d '%s' | sed -n 's/ <\\*ABS\\*+0x.*@plt>:$//p'", tools,
	        in_directory("slot.so"));
	first_line(line, sizeof(line), command);
	if (line[0] == '\0')
		fail_msg("slot.so has no slot");
	return strtoull(line, NULL, 16);
}

/* ---- making raw archives ---- */

struct raw {
	size_t count;
	uint64_t words[1 << 20];
};

#define RAW_WORDS (sizeof((struct raw){0}.words) / 8)

#define PUT(raw, record, ...)                                                                  \
	do {                                                                                   \
		size_t put_words = fxt_put_##record(                                           \
		        (raw)->words + (raw)->count, RAW_WORDS - (raw)->count, ##__VA_ARGS__); \
		assert_true(put_words > 0);                                                    \
		(raw)->count += put_words;                                                     \
	} while (0)

static inline void put_string(struct raw *raw, uint32_t index, const char *text)
{
	PUT(raw, string, index, text, strlen(text));
}

/* {{{pc:ADDRESS:MODULE}}} as a string record. */
static inline void put_pc(struct raw *raw, uint32_t index, uint64_t address, unsigned module)
{
	char text[64];

	snprintf(text, sizeof(text), "{{{pc:0x%" PRIx64 ":%u}}}", address, module);
	put_string(raw, index, text);
}

__attribute__((format(printf, 2, 3))) static inline void put_log(struct raw *raw, const char *format, ...)
{
	char text[2 * PATH_MAX];
	va_list values;

	va_start(values, format);
	assert_true(vsnprintf(text, sizeof(text), format, values) < (int)sizeof(text));
	va_end(values);
	PUT(raw, log, 1, fxt_thread_inline(PROCESS, THREAD), text, strlen(text));
}

static inline void put_module(struct raw *raw, unsigned id, const char *path)
{
	char build_id[200];

	build_id_of(path, build_id, sizeof(build_id));
	put_log(raw, "{{{module:%u:%s:elf:%s}}}", id, path, build_id);
}

static inline void put_mapping(
        struct raw *raw, unsigned id, uint64_t address, uint64_t bytes, uint64_t module_address)
{
	put_log(raw, "{{{mmap:0x%" PRIx64 ":0x%" PRIx64 ":load:%u:rx:0x%" PRIx64 "}}}", address, bytes, id,
	        module_address);
}

/* An archive of one provider and one thread. */
static inline struct raw *begin_raw(void)
{
	static struct raw raw;

	raw.count = 0;
	PUT(&raw, magic);
	PUT(&raw, provider_info, PROVIDER, "test", 4);
	PUT(&raw, provider_section, PROVIDER);
	PUT(&raw, initialization, 1000000000);
	PUT(&raw, thread, 1, PROCESS, THREAD);
	return &raw;
}

/* ---- having them finished ---- */

struct finished {
	int status;
	struct fxt_rewrite_result result;
	char error[512];
	char told[4096]; /* on the standard error */
	size_t count;
	uint64_t words[1 << 20];
};

static inline size_t read_whole(const char *path, void *bytes, size_t room)
{
	int fd = open(path, O_RDONLY);
	ssize_t count = fd < 0 ? -1 : read(fd, bytes, room);

	assert_true(count >= 0 && (size_t)count < room);
	close(fd);
	return (size_t)count;
}

static inline void write_whole(const char *path, const void *bytes, size_t count)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0 && write(fd, bytes, count) == (ssize_t)count);
	close(fd);
}

static inline struct finished *finish_bytes(
        const void *bytes, size_t count, const struct fxt_rewrite_options *options)
{
	static struct finished finished;
	int standard_error = dup(STDERR_FILENO);

	memset(&finished, 0, sizeof(finished));
	write_whole(in_directory("raw.fxt"), bytes, count);
	int in = open(in_directory("raw.fxt"), O_RDONLY);
	int out = open(in_directory("finished.fxt"), O_RDWR | O_CREAT | O_TRUNC, 0644);
	int told = open(in_directory("told"), O_RDWR | O_CREAT | O_TRUNC, 0644);

	assert_true(in >= 0 && out >= 0 && told >= 0);
	dup2(told, STDERR_FILENO);
	finished.status = fxt_rewrite_archive(
	        in, out, options, &finished.result, finished.error, sizeof(finished.error));
	dup2(standard_error, STDERR_FILENO);
	close(standard_error);
	close(in);
	close(out);
	close(told);
	read_whole(in_directory("told"), finished.told, sizeof(finished.told));
	size_t size = read_whole(in_directory("finished.fxt"), finished.words, sizeof(finished.words));

	assert_int_equal(size % 8, 0);
	finished.count = size / 8;
	return &finished;
}

static const struct fxt_rewrite_options with_symbols = {.symbols = true};

static inline struct finished *finish(const struct raw *raw)
{
	struct finished *f = finish_bytes(raw->words, raw->count * 8, &with_symbols);

	assert_int_equal(f->status, 0);
	return f;
}

/* ---- taking apart what came out, by the text of the format ---- */

static inline uint64_t bits(uint64_t word, unsigned first, unsigned last)
{
	return word << (63 - last) >> (63 - last + first);
}

static inline uint64_t describe_of(uint64_t header)
{
	return bits(header, 0, 3) == 15 ? bits(header, 4, 35) : bits(header, 4, 15);
}

/* Steps to the next record; NULL at the end. Fails if the archive is not made of whole
 * records. */
static inline const uint64_t *next_record(const struct finished *f, const uint64_t *record)
{
	const uint64_t *end = f->words + f->count;
	const uint64_t *next = record ? record + describe_of(*record) : f->words;

	if (next == end)
		return NULL;
	assert_true(describe_of(*next) > 0 && describe_of(*next) <= (uint64_t)(end - next));
	return next;
}

#define EACH_RECORD(f, record)                         \
	const uint64_t *record = next_record(f, NULL); \
	record;                                        \
	record = next_record(f, record)

/* The text that string `index` had last, with a terminator; the four last results are
 * good. */
static inline const char *string_of(const struct finished *f, unsigned index)
{
	static char texts[4][32768];
	static unsigned next;
	char *text = texts[next++ % 4];

	strcpy(text, "(not registered)");
	for (EACH_RECORD(f, record))
		if (bits(*record, 0, 3) == 2 && bits(*record, 16, 30) == index) {
			assert_true((bits(*record, 32, 46) + 7) / 8 + 1 == bits(*record, 4, 15));
			memcpy(text, record + 1, bits(*record, 32, 46));
			text[bits(*record, 32, 46)] = '\0';
		}
	return text;
}

struct object {
	unsigned count; /* of records for this pointer; the last one is described */
	/* of further ones, which say no more than what a string index means */
	unsigned identities, identity;
	uint64_t process, offset;
	unsigned name;
	uint32_t line;
	char file[PATH_MAX], module[PATH_MAX], build_id[200];
};

static inline void take_argument(struct object *object, const uint64_t *argument)
{
	const char *name = (const char *)(argument + 1);
	unsigned type = (unsigned)bits(*argument, 0, 3);
	char *text = NULL;

	assert_true(bits(*argument, 31, 31)); /* the name is inline */
	switch (bits(*argument, 16, 30)) {
	case 4:
		if (memcmp(name, "file", 4) == 0)
			text = object->file;
		else if (memcmp(name, "line", 4) == 0 && type == 2)
			object->line = (uint32_t)bits(*argument, 32, 63);
		else
			fail_msg("unexpected argument %.4s", name);
		break;
	case 6:
		if (memcmp(name, "offset", 6) == 0) {
			assert_int_equal(type, 4);
			object->offset = argument[2];
		} else {
			assert_memory_equal(name, "module", 6);
			text = object->module;
		}
		break;
	case 8:
		assert_memory_equal(name, "build_id", 8);
		text = object->build_id;
		break;
	default:
		fail_msg("unexpected argument %.8s", name);
	}
	if (text) {
		assert_int_equal(type, 6);
		assert_true(bits(*argument, 47, 47) && bits(*argument, 32, 46) < PATH_MAX);
		memcpy(text, argument + 2, bits(*argument, 32, 46));
	}
}

/* The userspace object of an address. */
static inline struct object object_of(const struct finished *f, uint64_t pointer)
{
	struct object object = {0};

	for (EACH_RECORD(f, record)) {
		if (bits(*record, 0, 3) != 6 || record[1] != pointer)
			continue;
		struct object before = object;

		object = (struct object){.count = object.count + 1,
		        .identities = object.identities,
		        .identity = object.identity,
		        .process = record[2]};
		assert_int_equal(bits(*record, 16, 23), 0);
		object.name = (unsigned)bits(*record, 24, 39);
		const uint64_t *argument = record + 3;

		for (unsigned left = (unsigned)bits(*record, 40, 43); left > 0; left--) {
			take_argument(&object, argument);
			argument += bits(*argument, 4, 15);
		}
		assert_ptr_equal(argument, record + bits(*record, 4, 15));
		if (object.module[0] && !object.build_id[0] && before.count > 0) {
			assert_string_equal(object.module, before.module);
			assert_int_equal(object.offset, before.offset);
			before.identities++;
			before.identity = object.name;
			object = before;
		}
	}
	return object;
}

#endif
