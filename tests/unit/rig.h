/*
 * Helpers of the engine's tests: an engine on memory of its own, between pages that fault,
 * and a manager that takes its buffers.
 */
#ifndef FXT_TESTS_UNIT_RIG_H
#define FXT_TESTS_UNIT_RIG_H

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "decoder.h"
#include "writer/engine/chunk.h"
#include "writer/collect/collect.h"
#include "writer/format/encode.h"
#include "writer/engine/engine.h"
#include "writer/engine/local_names.h"
#include "writer/engine/shadow_stack.h"
#include "writer/engine/strings.h"
#include "writer/engine/threads.h"

#define RIG_RATE UINT64_C(3000000000) /* ticks a second: three a nanosecond, so that starts can collide */

/* Under the thread sanitizer a test takes about ten times as long, so long tests do a tenth of
 * their work. */
#ifdef __SANITIZE_THREAD__
#define TENTH(n) ((n) / 10)
#else
#define TENTH(n) (n)
#endif

struct rig {
	struct fxt_engine e;
	uint8_t *buffer;
	uint64_t buffer_bytes;
	struct fxt_control *control;
	struct fxt_collector collector;
	struct trace trace;
	uint32_t packets; /* of the provider, taken so far */
	pthread_t manager;
	uint32_t over;
};

/* Memory between two pages that fault. */
void *guarded_map(size_t bytes);
void guarded_unmap(void *memory, size_t bytes);

/* The memory that a manager shares with its provider, without an engine. */
void rig_map(struct rig *rig, enum fxt_buffering_mode mode, uint64_t bytes, enum fxt_on_full on_full);

/* The same with an engine that records; both end with rig_end, which terminates an engine
 * that is there. */
void rig_begin(struct rig *rig, enum fxt_buffering_mode mode, uint64_t bytes, enum fxt_on_full on_full);
void rig_end(struct rig *rig);

/* Sends the provider a packet. */
void rig_reply(struct rig *rig, struct fxt_packet packet);

/* The provider's next packet; false: there is none. */
bool rig_receive(struct rig *rig, struct fxt_packet *packet);

/* Saves what was handed over, and says so; then what is committed of the buffer that fills
 * now. */
unsigned rig_save(struct rig *rig);

/* A thread that saves whatever is handed over, until it is stopped; the rest is saved
 * then. */
void rig_start_manager(struct rig *rig);
void rig_stop_manager(struct rig *rig);

/* Does what a manager does at the end of the process: the rest goes into the trace. */
void rig_collect(struct rig *rig, enum fxt_ending ending);

#endif
