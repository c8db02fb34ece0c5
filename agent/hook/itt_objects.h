/*
 * Domains, strings and counters of the ITT API, and the sites of their events (itt.h). Each
 * is made at its first use, and stays. Nothing here takes a lock, so handlers may call it
 * too.
 */
#ifndef FXT_AGENT_ITT_OBJECTS_H
#define FXT_AGENT_ITT_OBJECTS_H

#include "said.h"

/* Powers of two. */
#define ITT_OBJECTS 8192
#define ITT_SITES   8192
#define ITT_OPENS   4096

#define ITT_TEXTS (1u << 20)

/* The program gets pointers to these objects, and passes them to later calls. The API fixes
 * their members. */
struct itt_domain {
	int flags; /* 0: the program calls nothing for it */
	const char *name;
	void *unused[4];
};

struct itt_string {
	const char *text;
	void *unused[4];
};

struct itt_id {
	unsigned long long d1, d2, d3;
};

enum itt_type { ITT_U64 = 1, ITT_S64, ITT_U32, ITT_S32, ITT_U16, ITT_S16, ITT_FLOAT, ITT_DOUBLE };

struct itt_counter {
	const char *name;
	void *wide_name;
	const char *domain;
	void *wide_domain;
	int type; /* enum itt_type */
	void *unused[4];
};

enum itt_state { ITT_FREE, ITT_BEING_MADE, ITT_IS_THERE };

/* Made once for each name. Two threads that make one at the same moment may get two, which
 * does no harm. */
struct itt_object {
	uint32_t state; /* enum itt_state */
	uint32_t kind;  /* enum itt_kind */
	const char *name;
	union {
		struct itt_domain domain;
		struct itt_string string;
		struct itt_counter counter;
	} as;
};

struct itt_site {
	uint32_t state; /* enum itt_state */
	struct fxt_trace_site site;
	uint16_t texts[4];
	uint64_t sum; /* of a counter */
};

/* An async duration that has begun. The call that ends it does not give its name. */
struct itt_open {
	uint64_t id; /* 0: free */
	struct itt_site *site;
};

struct itt_tables {
	struct itt_object objects[ITT_OBJECTS];
	uint64_t text_bytes;
	char texts[ITT_TEXTS];
	struct itt_site sites[ITT_SITES];
	struct itt_open open[ITT_OPENS];
};

/* NULL until itt_make_tables() has returned true. */
extern struct itt_tables *itt_tables;

/* False: there is no memory. */
bool itt_make_tables(void);

/* These return NULL if `name` is NULL, or there is no room. */
void *itt_domain_create(const char *name);
void *itt_string_create(const char *name);
void *itt_counter_create_typed(const char *name, const char *domain, int type);
void *itt_counter_create(const char *name, const char *domain);

/* The site of these two texts, which live as long as the program. NULL: there is no room. */
struct itt_site *itt_site(const char *category, const char *name);

#endif
