/*
 * An argument plan: which arguments and return values of one file's functions are recorded,
 * and where they are (fxtrun --args, --returns). The manager makes it from the file's debug
 * information, or from a table of prototypes (launcher/planning/argument_plan.h). The agent
 * reads the values (agent/hook/arguments.h).
 *
 *     struct fxt_argument_plan
 *     struct fxt_planned_call[calls]           in the order of their addresses
 *     struct fxt_planned_value[values]
 *     struct fxt_planned_enumerator[enumerators]
 *     char[text_bytes]                         texts, each ended by a zero byte
 *
 * All addresses are the file's own; the agent adds the module's base.
 */
#ifndef FXT_WRITER_ARGUMENT_PLAN_H
#define FXT_WRITER_ARGUMENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FXT_ARGUMENT_PLAN_MAGIC UINT64_C(0x7367726174786600)

enum {
	FXT_PLANNED_STEPS = 4,   /* the most loads from memory for a value */
	FXT_PLANNED_VALUES = 14, /* the most of a call; "abandoned" may be added to them */
};

/* The source of a value. */
enum fxt_value_source {
	FXT_VALUE_NOWHERE,  /* it is not known: "?" */
	FXT_VALUE_GENERAL,  /* a general register, by its number in DWARF */
	FXT_VALUE_VECTOR,   /* a vector register, by its number from 0 */
	FXT_VALUE_STACK,    /* an address, `offset` bytes above the end of the return
	                    * address */
	FXT_VALUE_CONSTANT, /* it is `offset` in all calls */
};

enum fxt_value_type {
	FXT_VALUE_SIGNED,
	FXT_VALUE_UNSIGNED,
	FXT_VALUE_BOOL,
	FXT_VALUE_FLOATING,
	FXT_VALUE_POINTER,
	FXT_VALUE_TEXT,   /* the address of a text that a zero byte ends */
	FXT_VALUE_STRING, /* the address of a std::string of libstdc++ */
	FXT_VALUE_ENUM,
	FXT_VALUE_TYPES
};

struct fxt_planned_value {
	uint32_t name; /* offset in the texts */
	uint32_t enumerator;
	uint32_t enumerators;
	int32_t offset; /* for FXT_VALUE_STACK and FXT_VALUE_CONSTANT */
	uint8_t source; /* enum fxt_value_source */
	uint8_t number; /* of the register */
	uint8_t type;   /* enum fxt_value_type */
	uint8_t bytes;  /* of the value: 1, 2, 4 or 8 */
	uint8_t is_result;
	uint8_t shift;  /* the bits of the register below the value */
	uint8_t steps;  /* the number of loads: each takes the value so far as an address */
	uint16_t limit; /* for FXT_VALUE_TEXT: the bytes of its array; 0: it is in none */
	int32_t offsets[FXT_PLANNED_STEPS]; /* each load adds its own to the address
	                                     * first */
	int32_t last;                       /* added to the value of the last load */
};

struct fxt_planned_enumerator {
	int64_t value;
	uint64_t name; /* offset in the texts */
};

struct fxt_planned_call {
	uint64_t address;
	uint32_t value, values;
};

struct fxt_argument_plan {
	uint64_t magic;
	uint32_t calls, values, enumerators, text_bytes;
};

static inline const struct fxt_planned_call *fxt_planned_calls(const struct fxt_argument_plan *plan)
{
	return (const struct fxt_planned_call *)(plan + 1);
}

static inline const struct fxt_planned_value *fxt_planned_values(const struct fxt_argument_plan *plan)
{
	return (const struct fxt_planned_value *)(fxt_planned_calls(plan) + plan->calls);
}

static inline const struct fxt_planned_enumerator *fxt_planned_enumerators(
        const struct fxt_argument_plan *plan)
{
	return (const struct fxt_planned_enumerator *)(fxt_planned_values(plan) + plan->values);
}

static inline const char *fxt_planned_texts(const struct fxt_argument_plan *plan)
{
	return (const char *)(fxt_planned_enumerators(plan) + plan->enumerators);
}

/* Whether a plan has that many bytes, and nothing in it leads out of it. */
static inline bool fxt_argument_plan_is_whole(const struct fxt_argument_plan *plan, uint64_t bytes)
{
	if (bytes < sizeof(*plan) || plan->magic != FXT_ARGUMENT_PLAN_MAGIC || !plan->text_bytes ||
	        bytes != sizeof(*plan) + plan->calls * sizeof(struct fxt_planned_call) +
	                         plan->values * sizeof(struct fxt_planned_value) +
	                         plan->enumerators * sizeof(struct fxt_planned_enumerator) +
	                         plan->text_bytes ||
	        fxt_planned_texts(plan)[plan->text_bytes - 1] != 0)
		return false;
	for (uint32_t i = 0; i < plan->calls; i++) {
		const struct fxt_planned_call *c = &fxt_planned_calls(plan)[i];

		if (c->values > FXT_PLANNED_VALUES || c->value > plan->values ||
		        c->values > plan->values - c->value)
			return false;
	}
	for (uint32_t i = 0; i < plan->values; i++) {
		const struct fxt_planned_value *v = &fxt_planned_values(plan)[i];

		if (v->name >= plan->text_bytes || v->enumerator > plan->enumerators ||
		        v->enumerators > plan->enumerators - v->enumerator || v->number > 16 ||
		        v->type >= FXT_VALUE_TYPES || v->bytes > 8 || v->steps > FXT_PLANNED_STEPS ||
		        v->shift > 56)
			return false;
	}
	for (uint32_t i = 0; i < plan->enumerators; i++)
		if (fxt_planned_enumerators(plan)[i].name >= plan->text_bytes)
			return false;
	return true;
}

#endif
