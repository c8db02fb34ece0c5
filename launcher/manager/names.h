/*
 * The names of one provider, and the declarations that the resolver's files share
 * (resolver.h). resolver.c has the thread and the calls for other threads, resolver_learn.c
 * learns from registrations, and resolver_read.c finds new data in the durable buffer.
 */
#ifndef FXT_LAUNCHER_MANAGER_NAMES_H
#define FXT_LAUNCHER_MANAGER_NAMES_H

#include "resolver.h"
#include "symbolizer/modules.h"
#include "writer/engine/elided.h"

#define FXT_NAMES_READ_BYTES (64 << 10) /* more than the largest record */

/* A function, identified by its address in the process and the module it was registered
 * with. */
struct fxt_name {
	uint64_t address, module;
	struct fxt_location function;
	char text[24];     /* for an address in no module */
	uint64_t mappings; /* number of announced mappings when it was looked up */
	bool was_due;      /* it is, or was, in the list of functions with source positions to
	                    * write */
	struct fxt_name *next_due;
};

/* The decision on a string, for the agent. */
struct fxt_name_decision {
	uint64_t word; /* writer/engine/decisions.h */
	struct fxt_limit limit;
	struct fxt_name *name; /* the function's; NULL: the string is no function, or it has
	                        * no name */
};

/* A text that a thread asks about. */
struct fxt_name_question {
	struct fxt_name_question *next;
	size_t bytes;
	char text[];
};

struct fxt_names {
	struct fxt_names *next;
	struct fxt_names_owner owner; /* buffer NULL: must not be touched any more */
	uint64_t read;                /* bytes of the durable buffer, or of the chunk below,
	                               * that were read */
	uint64_t chunk;               /* offset of the chunk in the rolling buffer */
	void *names;                  /* tree of struct fxt_name */
	struct fxt_name_question *questions, **last_question;
	struct fxt_name *due; /* functions with source positions to write */
	bool is_writing;      /* the thread is writing one of the positions */
	bool is_awaited;      /* a thread waits until all of them are written */
	bool has_ended;
	struct fxt_archive_provider identity; /* a copy of the owner's, used after it has
	                                       * ended */
	uint64_t mappings;                    /* announced so far */
	uint32_t strings; /* indices below it were registered since the durable buffer last
	                   * began anew */
	bool has_failed;  /* memory was short: some names will never be known */
	/* Belongs to the resolver's thread. */
	struct fxt_modules modules;
	/* an announcement is missing: memory was short */
	bool lacks_modules;
	/* changes of the resolver's filter that were decided on */
	uint32_t filter_changes;
	const struct fxt_record_filter *earlier_filter; /* the filter before the latest change */
	struct fxt_name *functions[FXT_DECISIONS];      /* by string index; NULL: no function */
	char *texts[FXT_DECISIONS];                     /* texts of other strings, by index;
	                                                 * NULL: none */
};

/* ---- reading ahead ---- */

/* Copies new data of the durable buffer and returns its size; 0: there is none. Called with
 * the lock held, which keeps the buffer mapped. */
uint64_t fxt_names_copy_new(struct fxt_names *names, uint8_t block[FXT_NAMES_READ_BYTES]);

/* ---- learning; in the thread, without the lock ---- */

/* Learns from a text that is a placeholder or announces a module; other texts teach
 * nothing. Returns the decision on it. */
struct fxt_name_decision fxt_names_learn_text(
        struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_span text);

/* Reads the new registrations of a provider. Returns true if there were any. */
bool fxt_names_read_ahead(struct fxt_resolver *resolver, struct fxt_names *names);

/* Decides again on all known functions of a provider, by the resolver's filter, and has its
 * agent carry the decisions out. Returns true if the filter had changed. */
bool fxt_names_decide_anew(struct fxt_resolver *resolver, struct fxt_names *names);

/* Writes the source position of one function, if any is due. Returns true if it wrote
 * one. */
bool fxt_names_write_object(struct fxt_resolver *resolver, struct fxt_names *names);

/* ---- what is known; with the lock held ---- */

struct fxt_name *fxt_names_find(const struct fxt_names *names, uint64_t address, uint64_t module);

#endif
