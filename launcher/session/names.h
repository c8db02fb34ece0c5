/*
 * The names of one provider, and what the resolver's files share (resolver.h): resolver.c has the thread and
 * what others ask of it, resolver_learn.c learns from registrations, and resolver_read.c finds what is new in
 * the durable buffer.
 */
#ifndef FXT_LAUNCHER_SESSION_NAMES_H
#define FXT_LAUNCHER_SESSION_NAMES_H

#include "resolver.h"
#include "symbolizer/modules.h"
#include "writer/elided.h"

#define FXT_NAMES_READ_BYTES (64 << 10) /* more than the largest record */

/* A function, by its address in the process and the module it was registered with. */
struct fxt_name {
	uint64_t address, module;
	struct fxt_location function;
	char text[24];     /* of an address that is in no module */
	uint64_t mappings; /* announced when it was looked up */
	bool was_due; /* it is, or was, in the list of functions whose source positions are to be written */
	struct fxt_name *next_due;
};

/* What the agent is told of a string. */
struct fxt_name_decision {
	uint64_t word; /* writer/decisions.h */
	struct fxt_limit limit;
	struct fxt_name *name; /* of the function; NULL: it is none, or has none */
};

/* A text somebody asks about. */
struct fxt_name_question {
	struct fxt_name_question *next;
	size_t bytes;
	char text[];
};

struct fxt_names {
	struct fxt_names *next;
	struct fxt_names_owner owner; /* buffer NULL: not to be touched any more */
	uint64_t read;                /* bytes of the durable buffer, or of the chunk below */
	uint64_t chunk;               /* where it begins in the rolling buffer */
	void *names;                  /* tree of struct fxt_name */
	struct fxt_name_question *questions, **last_question;
	struct fxt_name *due; /* functions whose source positions are to be written */
	bool is_writing;      /* the thread writes one of them */
	bool is_awaited;      /* somebody waits until all of them are written */
	bool has_ended;
	struct fxt_archive_provider identity; /* the owner's, once it has ended */
	uint64_t mappings;                    /* announced so far */
	uint32_t strings; /* indices below it were registered, since the durable buffer last began */
	bool has_failed;  /* for want of memory some names will never be known */
	/* The thread's alone. */
	struct fxt_modules modules;
	bool lacks_modules;                         /* there was no memory for an announcement */
	uint32_t filter_changes;                    /* of the resolver, that were decided on */
	const struct fxt_selection *earlier_filter; /* before the latest of them */
	struct fxt_name *functions[FXT_DECISIONS];  /* by string index; NULL: of no function */
};

/* ---- reading ahead ---- */

/* Copies what is new in the durable buffer; 0 bytes: nothing. With the lock held, so that the buffer stays.
 */
uint64_t fxt_names_copy_new(struct fxt_names *names, uint8_t block[FXT_NAMES_READ_BYTES]);

/* ---- learning; in the thread, without the lock ---- */

/* Learns from a text that is a placeholder or announces a module; there is nothing to learn from others.
 * Returns the decision on it. */
struct fxt_name_decision fxt_names_learn_text(
        struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_span text);

/* Reads what is new of a provider's registrations. Returns whether there was any. */
bool fxt_names_read_ahead(struct fxt_resolver *resolver, struct fxt_names *names);

/* Decides anew on all that is known of a provider, by the resolver's filter, and has its agent carry that
 * out. Returns whether the filter was changed. */
bool fxt_names_decide_anew(struct fxt_resolver *resolver, struct fxt_names *names);

/* Writes the source position of one function, if any is due. Returns whether it was. */
bool fxt_names_write_object(struct fxt_resolver *resolver, struct fxt_names *names);

/* ---- what is known; with the lock held ---- */

struct fxt_name *fxt_names_find(const struct fxt_names *names, uint64_t address, uint64_t module);

#endif
