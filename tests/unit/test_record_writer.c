/*
 * Records on their way into an archive get their names: those of functions of this program
 * itself, which its own symbol table has.
 */
#include <fcntl.h>
#include <link.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "launcher/manager/record_writer.h"
#include "writer/shared/atomics.h"
#include "writer/format/encode.h"

#define BUFFER_BYTES (UINT64_C(1) << 20)
#define RATE         UINT64_C(1000000000)

#define TEN     "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONG    HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

/* Functions to be named; the last has a name longer than the room that is left for a late
 * one. */
void function_one(void);
void function_two(void);
void function_long(void) __asm__(LONG);

void function_one(void)
{
}

void function_two(void)
{
}

void function_long(void)
{
}

struct rig {
	struct fxt_buffer_header *buffer;
	struct fxt_collector collector;
	struct fxt_control control;
	struct fxt_archive_writer archive;
	struct fxt_archive_provider identity;
	struct fxt_resolver resolver;
	struct fxt_record_writer writer;
	FILE *file;
};

/* ---- what an agent writes ---- */

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the first is the program */
}

static size_t put_log(uint64_t *to, const char *text)
{
	return fxt_put_log(to, 1000, 1, fxt_thread_inline(1, 1), text, strlen(text));
}

/* The announcement of this program as module 1. */
static size_t put_module(uint64_t *to)
{
	char path[PATH_MAX], build_id[128] = "", text[2 * PATH_MAX], command[PATH_MAX + 64];
	uint64_t base = 0;
	FILE *pipe;
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);
	size_t words;

	assert_true(bytes > 0);
	path[bytes] = 0;
	snprintf(command, sizeof(command), "readelf -n '%s' | sed -n 's/.*Build ID: //p'", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	if (fgets(build_id, sizeof(build_id), pipe))
		build_id[strcspn(build_id, "\n")] = 0;
	pclose(pipe);
	dl_iterate_phdr(find_base, &base);
	snprintf(text, sizeof(text), "{{{module:1:%s:elf:%s}}}", path, build_id);
	words = put_log(to, text);
	snprintf(text, sizeof(text), "{{{mmap:0x%llx:0x10000000:load:1:rx:0x0}}}", (unsigned long long)base);
	return words + put_log(to + words, text);
}

static size_t put_function(uint64_t *to, uint32_t index, void (*function)(void))
{
	char text[64];

	snprintf(text, sizeof(text), "{{{pc:%p:1}}}", (void *)function);
	return fxt_put_string(to, 1000, index, text, strlen(text));
}

/* ---- a session without a program ---- */

static void begin(struct rig *rig, enum fxt_buffering_mode mode)
{
	struct fxt_names_owner owner = {
	        .pid = getpid(), .process_koid = 7, .archive = &rig->archive, .identity = &rig->identity};

	memset(rig, 0, sizeof(*rig));
	rig->buffer = calloc(1, BUFFER_BYTES);
	fxt_buffer_clear(rig->buffer, mode, BUFFER_BYTES);
	rig->control.buffering_mode = mode;
	fxt_collector_init(&rig->collector, rig->buffer, BUFFER_BYTES, &rig->control, NULL, NULL);
	rig->file = tmpfile();
	fxt_archive_begin(&rig->archive, fileno(rig->file), "test", NULL);
	rig->identity.id = 1;
	fxt_archive_name(&rig->identity, "test", 4);
	fxt_resolver_open(&rig->resolver);
	owner.buffer = rig->buffer;
	owner.control = &rig->control;
	owner.mode = mode;
	owner.layout = rig->collector.layout;
	fxt_record_writer_begin(&rig->writer, &rig->collector, &rig->archive, &rig->identity, &rig->resolver,
	        fxt_names_begin(&rig->resolver, &owner));
	assert_int_equal(fxt_copy_open(&rig->collector.copy), 0);
}

/* The provider registers this: the records stand in its durable buffer, or in a chunk of
 * that kind. */
static void register_records(struct rig *rig, const uint64_t *records, size_t words)
{
	uint64_t end = rig->buffer->durable_data_end;
	struct fxt_chunk_header *chunk =
	        (struct fxt_chunk_header *)((uint8_t *)rig->buffer + rig->collector.layout.rolling_offset[0]);

	if (rig->collector.mode == FXT_ONESHOT) {
		memcpy(chunk + 1, records, words * 8);
		*chunk = (struct fxt_chunk_header){.size = (uint32_t)(sizeof(*chunk) + words * 8),
		        .slot = FXT_SLOT_DURABLE,
		        .committed = (uint32_t)(words * 8),
		        .state = FXT_CHUNK_CLOSED};
		return;
	}

	memcpy((uint8_t *)(rig->buffer + 1) + end, records, words * 8);
	store_release(&rig->buffer->durable_data_end, end + words * 8);
}

/* The collector takes them. */
static void take(struct rig *rig, const uint64_t *records, size_t words)
{
	fxt_copy_append(&rig->collector.copy, records, words * 8);
	assert_int_equal(fxt_copy_flush(&rig->collector.copy), 0);
	fxt_record_writer_flush(&rig->writer);
}

/* ---- holding the resolver's thread ---- */

static int held[2], release_pipe[2];

static void hold_here(int signal)
{
	char byte = (char)signal;

	if (write(held[1], &byte, 1) == 1 && read(release_pipe[0], &byte, 1) != 1)
		abort();
}

/* Stops the resolver's thread where it does not have the lock. */
static void hold(struct rig *rig)
{
	char byte;

	signal(SIGUSR1, hold_here);
	assert_int_equal(pipe(held), 0);
	assert_int_equal(pipe(release_pipe), 0);
	pthread_mutex_lock(&rig->resolver.lock);
	pthread_kill(rig->resolver.thread, SIGUSR1);
	assert_int_equal(read(held[0], &byte, 1), 1);
	pthread_mutex_unlock(&rig->resolver.lock);
}

static void let_go(void)
{
	if (write(release_pipe[1], "", 1) != 1)
		abort();
}

/* In a thread: lets the resolver go once somebody has asked it for a name. */
static void *let_go_when_asked(void *argument)
{
	struct fxt_resolver *resolver = argument;
	bool is_asked = false;

	while (!is_asked) {
		pthread_mutex_lock(&resolver->lock);
		is_asked = resolver->has_work;
		pthread_mutex_unlock(&resolver->lock);
		sched_yield();
	}
	let_go();
	return NULL;
}

/* The program has used more than half of its other buffer: it must not be made to wait. */
static void fill_other_buffer(struct rig *rig)
{
	rig->buffer->rolling_data_end[0] = rig->buffer->rolling_data_end[1] =
	        rig->collector.layout.rolling_bytes;
}

static void end(struct rig *rig)
{
	fxt_record_writer_end(&rig->writer);
	fxt_resolver_close(&rig->resolver);
	fxt_archive_end(&rig->archive);
	fxt_copy_close(&rig->collector.copy);
	fclose(rig->file);
	free(rig->buffer);
}

/* The words of the string record found last. */
static size_t found_words, needed_words;
/* Of the record behind it that says which function it is. */
static size_t identity_words;
/* Records that say nothing but what provider the next ones are of, which is known. */
static unsigned idle_sections;

/* The text of the string record of that index in the file, and how often there is one;
 * counts the records of userspace objects too. */
static unsigned find_string(const struct rig *rig, uint32_t index, char text[1000], unsigned *objects)
{
	static uint64_t words[1 << 16];
	ssize_t bytes = pread(fileno(rig->file), words, sizeof(words), 0);
	unsigned found = 0;

	*objects = 0;
	idle_sections = 0;
	for (size_t at = 0; at < (size_t)bytes / 8; at += words[at] >> 4 & 0xfff) {
		assert_true((words[at] >> 4 & 0xfff) > 0);
		*objects += (words[at] & 15) == FXT_RECORD_USERSPACE_OBJECT;
		idle_sections += words[at] == 0x0000000000120010;
		if ((words[at] & 15) != FXT_RECORD_STRING || (words[at] >> 16 & 0x7fff) != index)
			continue;
		size_t length = words[at] >> 32 & 0x7fff;

		assert_true(length < 1000);
		memcpy(text, words + at + 1, length);
		text[length] = 0;
		found_words = words[at] >> 4 & 0xfff;
		needed_words = 1 + (length + 7) / 8;
		identity_words = 0;
		if ((words[at + found_words] & 15) == FXT_RECORD_USERSPACE_OBJECT)
			identity_words = words[at + found_words] >> 4 & 0xfff;
		found++;
	}
	return found;
}

static void expect_name(const struct rig *rig, uint32_t index, const char *name)
{
	char text[1000];
	unsigned objects;

	assert_int_equal(find_string(rig, index, text, &objects), 1);
	assert_string_equal(text, name);
}

/* ---- tests ---- */

/* Whatever the mode, at an end everything can be waited for. */
static void names_at_the_end(void **state)
{
	static const enum fxt_buffering_mode modes[] = {FXT_ONESHOT, FXT_CIRCULAR, FXT_STREAMING};

	(void)state;
	for (size_t m = 0; m < 3; m++) {
		uint64_t records[4000];
		struct rig rig;
		size_t words;
		char text[1000];
		unsigned objects;

		begin(&rig, modes[m]);
		words = put_module(records);
		words += put_function(records + words, 10, function_one);
		words += put_function(records + words, 11, function_two);
		words += put_function(records + words, 12, function_long);
		register_records(&rig, records, words);
		fill_other_buffer(&rig);
		rig.writer.nobody_waits = true;
		take(&rig, records, words);
		expect_name(&rig, 10, "function_one");
		expect_name(&rig, 11, "function_two");
		expect_name(&rig, 12, LONG);
		assert_false(rig.writer.left_placeholders);
		fxt_record_writer_end(&rig.writer);
		fxt_resolver_close(&rig.resolver);
		find_string(&rig, 10, text, &objects);
		assert_int_equal(objects, 6); /* who it is, and its place in the source */
		end(&rig);
	}
}

/* A program that registers one function with a late name: no lookup can have finished. */
static void take_late(struct rig *rig, void (*function)(void), char text[1000])
{
	uint64_t records[4000];
	unsigned objects;
	size_t words = put_module(records);

	begin(rig, FXT_STREAMING);
	hold(rig);
	words += put_function(records + words, 10, function);
	register_records(rig, records, words);
	fill_other_buffer(rig);
	take(rig, records, words);
	assert_int_equal(find_string(rig, 10, text, &objects), 1);
	assert_int_equal(strncmp(text, "{{{pc:", 6), 0);
	let_go();
	fxt_record_writer_end(&rig->writer);
	assert_int_equal(find_string(rig, 10, text, &objects), 1);
}

/* It gets its room, and fills it: the record is as long as its contents, and what follows
 * says nothing. */
static void late_names(void **state)
{
	struct rig rig;
	char text[1000];

	(void)state;
	take_late(&rig, function_one, text);
	assert_string_equal(text, "function_one");
	assert_int_equal(found_words, needed_words);
	assert_true(identity_words > 0);
	assert_int_equal(idle_sections, 65 - needed_words - identity_words);
	assert_true(fxt_archive_is_roomy(&rig.archive));
	assert_false(rig.writer.left_placeholders);
	end(&rig);
}

/* A name that does not fit into the room stays a placeholder, and that is reported. */
static void late_and_long(void **state)
{
	struct rig rig;
	char text[1000];

	(void)state;
	take_late(&rig, function_long, text);
	assert_int_equal(strncmp(text, "{{{pc:", 6), 0);
	assert_true(rig.writer.left_placeholders);
	end(&rig);
}

/* While the program has much room left its records wait for a name that is not known yet,
 * and no room is left for it in the record. */
static void names_while_there_is_room(void **state)
{
	uint64_t records[4000];
	struct rig rig;
	size_t words = put_module(records);
	pthread_t thread;

	(void)state;
	begin(&rig, FXT_STREAMING);
	hold(&rig);
	rig.resolver.has_work = false; /* its thread is held, and no other is there */
	assert_int_equal(pthread_create(&thread, NULL, let_go_when_asked, &rig.resolver), 0);
	words += put_function(records + words, 10, function_one);
	register_records(&rig, records, words);
	take(&rig, records, words);
	pthread_join(thread, NULL);
	expect_name(&rig, 10, "function_one");
	assert_int_equal(found_words, needed_words);
	end(&rig);
}

/* Rates are patched wherever an initialization record stands. */
static void rates(void **state)
{
	uint64_t record[2], file[64];
	struct rig rig;
	unsigned found = 0;

	(void)state;
	begin(&rig, FXT_STREAMING);
	for (int i = 0; i < 3; i++)
		take(&rig, record, fxt_put_initialization(record, 2, RATE));
	assert_int_equal(fxt_archive_set_rate(&rig.archive, RATE + 5), 0);
	assert_true(pread(fileno(rig.file), file, sizeof(file), 0) > 0);
	for (size_t at = 0; at < rig.archive.bytes / 8; at += file[at] >> 4 & 0xfff)
		if ((file[at] & 15) == FXT_RECORD_INITIALIZATION) {
			assert_int_equal(file[at + 1], RATE + 5);
			found++;
		}
	assert_int_equal(found, 3);
	end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(names_at_the_end),
	        cmocka_unit_test(late_names),
	        cmocka_unit_test(late_and_long),
	        cmocka_unit_test(names_while_there_is_room),
	        cmocka_unit_test(rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
