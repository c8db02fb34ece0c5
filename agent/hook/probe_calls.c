/* Records probes (probe_calls.h), on the program's threads and in the middle of its code.
 * So it keeps all registers. The agent has no AVX code: the halves that SSE code changes
 * are enough. */
#include "probe_calls.h"
#include <stddef.h>
#include <string.h>
#include "agent/base/arch.h"
#include "agent/base/safe_copy.h"
#include "events.h"
#include "said.h"
#include "saving.h"
#include "writer/format/format.h"

#if ARCH_HAS_THUNKS

/* The most bytes of all texts of a probe together. */
#define TEXT_BYTES 1024

/* clang-format off */
__asm__(
	".text\n"
	".hidden agent_probe_pass\n .globl agent_probe_pass\n"
	"agent_probe_pass:\n"
	"	ret\n"

	/* ---- above the return address: the probe, and 128 bytes of the function's ---- */
	".hidden agent_probe_enter\n .globl agent_probe_enter\n"
	".p2align 4\n"
	"agent_probe_enter:\n"
	"	.cfi_startproc\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	PUSH("r15") PUSH("r14") PUSH("r13") PUSH("r12") PUSH("r11") PUSH("r10") PUSH("r9") PUSH("r8")
	PUSH("rdi") PUSH("rsi") PUSH("rbp") PUSH("rsp") PUSH("rbx") PUSH("rdx") PUSH("rcx") PUSH("rax")
	"	lea 280(%rsp), %rax\n"                  /* the function's own stack pointer */
	"	mov %rax, 32(%rsp)\n"
	"	mov %rsp, %rdi\n"
	"	mov 144(%rsp), %rsi\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register 6\n"
	"	cld\n"
	"	sub $256, %rsp\n"
	"	and $-16, %rsp\n"
	STORE_VECTORS
	"	mov %rsp, %rdx\n"
	"	call agent_probe_record\n"
	LOAD_VECTORS
	"	mov %rbp, %rsp\n"
	"	.cfi_def_cfa_register 7\n"
	POP("rax") POP("rcx") POP("rdx") POP("rbx")
	"	lea 8(%rsp), %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	POP("rbp") POP("rsi") POP("rdi") POP("r8") POP("r9") POP("r10") POP("r11") POP("r12") POP("r13")
	POP("r14") POP("r15")
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n");
/* clang-format on */

enum { RSP = 4, RBP = 5 };

/* The registers at a site, and the room for texts. General registers have their numbers'
 * order; vector registers have two words each. */
struct site {
	const struct agent_probe *probe;
	const uint64_t *general, *vector;
	char texts[TEXT_BYTES];
	size_t text_bytes;
};

/* ---- arguments ---- */

/* True if an operand lies on the thread's stack, and can be read without the kernel. An
 * operand elsewhere may have an invalid address: perhaps the program itself never reads
 * it. */
static bool operand_is_on_stack(const struct site *s, const struct fxt_operand *o, uint64_t address)
{
	uint64_t low = s->general[RSP] - 128;

	if (o->index != FXT_OPERAND_NONE)
		return false;
	return (o->base == RSP && address >= low) || (o->base == RBP && o->value < 0 && address >= low &&
	                                                     s->general[RBP] - low < UINT64_C(1) << 20);
}

static bool operand_read_memory(const struct site *s, const struct fxt_operand *o, uint64_t *word)
{
	uint64_t address = (uint64_t)o->value;

	if (o->base == FXT_OPERAND_MODULE)
		address += s->probe->base;
	else if (o->base == FXT_OPERAND_THREAD)
		address += (uint64_t)(uintptr_t)__builtin_thread_pointer();
	else if (o->base < 16)
		address += s->general[o->base];
	if (o->index < 16)
		address += s->general[o->index] * o->scale;
	*word = 0;
	if (!operand_is_on_stack(s, o, address))
		return agent_copy(address, word, o->bytes) == o->bytes;
	memcpy(word, (const void *)(uintptr_t)address, o->bytes);
	return true;
}

static bool operand_read(const struct site *s, const struct fxt_operand *o, uint64_t *word)
{
	switch (o->place) {
	case FXT_OPERAND_CONSTANT:
		*word = (uint64_t)o->value + (o->base == FXT_OPERAND_MODULE ? s->probe->base : 0);
		return true;
	case FXT_OPERAND_REGISTER:
		*word = s->general[o->base & 15] >> o->shift;
		return true;
	case FXT_OPERAND_VECTOR:
		*word = s->vector[2 * (o->base & 15)];
		return true;
	case FXT_OPERAND_MEMORY:
		return operand_read_memory(s, o, word);
	default:
		return false;
	}
}

static struct fxt_trace_value value_text(const char *text, size_t bytes)
{
	return (struct fxt_trace_value){FXT_TRACE_STRING, (uint32_t)bytes, (uint64_t)(uintptr_t)text};
}

static struct fxt_trace_value value_number(uint32_t type, uint64_t word)
{
	return (struct fxt_trace_value){type, 0, word};
}

/* Copies a text. One that cannot be read is "?". */
static struct fxt_trace_value value_of_text(struct site *s, uint64_t address)
{
	size_t room = TEXT_BYTES - s->text_bytes;
	char *to = s->texts + s->text_bytes;
	long bytes;

	if (!address)
		return value_number(FXT_TRACE_NULL, 0);
	bytes = room < AGENT_TEXT_LEAST ? -1 : agent_copy_text(address, 0, to, room);
	if (bytes < 0)
		return value_text("?", 1);
	s->text_bytes += (size_t)bytes;
	return value_text(to, (size_t)bytes);
}

static struct fxt_trace_value value_of_float(uint64_t word, unsigned bytes)
{
	double number;
	float single;

	if (bytes == 4) {
		memcpy(&single, &word, sizeof(single));
		number = (double)single;
		memcpy(&word, &number, sizeof(word));
	}
	return value_number(FXT_TRACE_DOUBLE, word);
}

static struct fxt_trace_value value_of(struct site *s, const struct fxt_operand *o)
{
	unsigned unused_bits = 64 - 8 * o->bytes;
	uint64_t word;

	if (!operand_read(s, o, &word))
		return value_text("?", 1);
	switch (o->type) {
	case FXT_OPERAND_TEXT:
		return value_of_text(s, word);
	case FXT_OPERAND_FLOAT:
		return value_of_float(word, o->bytes);
	case FXT_OPERAND_SIGNED:
		word = (uint64_t)((int64_t)(word << unused_bits) >> unused_bits);
		return o->bytes < 8 ? value_number(FXT_TRACE_INT32, (uint32_t)word)
		                    : value_number(FXT_TRACE_INT64, word);
	default:
		word = word << unused_bits >> unused_bits;
		return value_number(o->bytes < 8 ? FXT_TRACE_UINT32 : FXT_TRACE_UINT64, word);
	}
}

/* ---- durations ---- */

#define BEGUN       32
#define OVERLAPPING 4

/* The open durations of this thread. Those beyond BEGUN are only counted, as if they ended
 * in order. */
static __thread struct {
	uint32_t texts_of; /* the table of texts that the indices are valid for */
	uint32_t count, more;
	struct begun {
		uint64_t pair;
		uint16_t texts[2]; /* category and name */
	} begun[BEGUN];
	struct overlapping {
		uint64_t pair, id; /* id 0: free */
	} overlapping[OVERLAPPING];
} durations __attribute__((tls_model("initial-exec")));

static void durations_forget_others(void)
{
	if (durations.texts_of == agent_said_texts())
		return;
	/* These durations belong to another trace. */
	durations.count = durations.more = 0;
	memset(durations.overlapping, 0, sizeof(durations.overlapping));
	durations.texts_of = agent_said_texts();
}

static void duration_begin(
        struct agent_probe *probe, const struct fxt_trace_argument *arguments, size_t count)
{
	fxt_trace_agent.event(&probe->site, FXT_EVENT_DURATION_BEGIN, 0, arguments, count);
	durations_forget_others(); /* after the event: the first one of a trace makes its texts */
	if (durations.count < BEGUN)
		durations.begun[durations.count++] =
		        (struct begun){probe->plan->pair, {probe->texts[0], probe->texts[1]}};
	else
		durations.more++;
}

/* Ends a duration inside another one that ends. It has had no end of its own. */
static void duration_end_inner(struct begun *begun)
{
	struct fxt_trace_site site = {.texts = begun->texts, .texts_of = durations.texts_of};

	fxt_trace_agent.event(&site, FXT_EVENT_DURATION_END, 0, NULL, 0);
}

/* Takes the duration that a probe ends off the list. Returns the type of the probe's
 * event. */
static uint32_t duration_end(const struct agent_probe *probe)
{
	uint32_t found = durations.count;

	if (durations.more) {
		durations.more--;
		return FXT_EVENT_DURATION_END;
	}
	while (found && durations.begun[found - 1].pair != probe->plan->pair)
		found--;
	if (!found)
		return FXT_EVENT_INSTANT;
	while (durations.count > found)
		duration_end_inner(&durations.begun[--durations.count]);
	durations.count--;
	return FXT_EVENT_DURATION_END;
}

/* Returns the entry of an overlapping duration, else a free entry, else NULL. */
static struct overlapping *overlapping_find(uint64_t pair)
{
	struct overlapping *found = NULL;

	for (struct overlapping *o = durations.overlapping; o < durations.overlapping + OVERLAPPING; o++)
		if (o->id ? o->pair == pair : !found)
			found = o;
	return found;
}

static void overlapping_begin(
        struct agent_probe *probe, const struct fxt_trace_argument *arguments, size_t count)
{
	struct overlapping *o;
	uint64_t id = agent_new_flow();

	durations_forget_others();
	o = overlapping_find(probe->plan->pair);
	if (o && o->id) /* it was left without its end */
		fxt_trace_agent.event(&probe->site, FXT_EVENT_ASYNC_END, o->id, NULL, 0);
	fxt_trace_agent.event(&probe->site, FXT_EVENT_ASYNC_BEGIN, id, arguments, count);
	durations_forget_others(); /* the first event of a child begins its trace */
	o = overlapping_find(probe->plan->pair);
	if (o)
		*o = (struct overlapping){probe->plan->pair, id};
}

static void overlapping_end(
        struct agent_probe *probe, const struct fxt_trace_argument *arguments, size_t count)
{
	struct overlapping *o;
	uint64_t id;

	durations_forget_others();
	o = overlapping_find(probe->plan->pair);
	id = o ? o->id : 0;
	if (o)
		o->id = 0;
	fxt_trace_agent.event(
	        &probe->site, id ? FXT_EVENT_ASYNC_END : FXT_EVENT_INSTANT, id, arguments, count);
}

/* ---- a probe ---- */

/* On top of the code above and agent_probe_record(): half of it reads the arguments, and
 * then the event is written. */
#define STACK_BYTES 4096

static __attribute__((noinline)) void probe_record(
        const uint64_t *general, struct agent_probe *probe, const uint64_t *vector)
{
	struct fxt_trace_argument arguments[FXT_PROBE_ARGUMENTS];
	const struct fxt_probe *plan = probe->plan;
	struct site s;

	s.probe = probe;
	s.general = general;
	s.vector = vector;
	s.text_bytes = 0;
	for (unsigned i = 0; i < plan->count; i++)
		arguments[i] = (struct fxt_trace_argument){
		        probe->plan_texts + plan->operands[i].name, value_of(&s, &plan->operands[i])};
	switch (plan->kind) {
	case FXT_PROBE_BEGIN:
		duration_begin(probe, arguments, plan->count);
		break;
	case FXT_PROBE_END:
		durations_forget_others();
		fxt_trace_agent.event(&probe->site, duration_end(probe), 0, arguments, plan->count);
		break;
	case FXT_PROBE_ASYNC_BEGIN:
		overlapping_begin(probe, arguments, plan->count);
		break;
	case FXT_PROBE_ASYNC_END:
		overlapping_end(probe, arguments, plan->count);
		break;
	default:
		fxt_trace_agent.event(&probe->site, FXT_EVENT_INSTANT, 0, arguments, plan->count);
	}
}

/* Called by the code above. */
__attribute__((used)) void agent_probe_record(
        const uint64_t *general, struct agent_probe *probe, const uint64_t *vector)
{
	if (load_relaxed(probe->site.on) && agent_said_is_possible(&probe->site, true, STACK_BYTES))
		probe_record(general, probe, vector);
}

#endif
