/*
 * Resolves the references in an archive's records. Every provider has tables of its own,
 * strings and threads by index. Provider metadata switches between them, and a provider
 * announced again begins anew. An archive without provider metadata has one provider
 * without a name.
 *
 * Behind the indices, equal strings are one string and equal (process, thread) pairs one
 * thread for the whole archive. Strings and threads have dense ids that never change, so
 * readers can keep their data in arrays. Ids depend on the records and their order alone.
 *
 * Texts point into the archive, which must stay open as long as the tables are in use,
 * unless the texts are copied.
 *
 * The meaning of an index changes along the archive. A reader that will go backwards has
 * the changes noted on the way forward, and then undoes them one by one.
 */
#ifndef FXT_READER_TABLES_H
#define FXT_READER_TABLES_H

#include "cursor.h"
#include "index.h"
#include "index_table.h"
#include "labels.h"
#include "rate.h"
#include "spill.h"

/* Id 0 of strings and of threads stands for a reference to nothing; its text is
 * "(unregistered)", its koids are 0. */
#define FXT_NOTHING 0u

/* The id of the empty string, which index 0 always means. */
#define FXT_EMPTY 1u

struct fxt_provider_tables {
	uint32_t id;
	uint32_t number;      /* its index in fxt_tables.providers */
	bool announced;       /* by provider info, not just used */
	bool initialized;     /* by an initialization record */
	struct fxt_rate rate; /* 10^9 ticks a second without an initialization record, or if
	                         that says 0 */
	uint32_t name;        /* id of a string */
	/* koid, by its process object, else by its first thread record; 0 = unknown */
	uint64_t process;
	bool process_described;
	bool was_full;                           /* a provider event said that its buffer was full */
	bool counts_losses;                      /* an event of the tracer said how many records were lost */
	bool has_slices, has_scheduling;         /* records of these kinds */
	struct fxt_index_table threads, strings; /* ids, by index */
};

struct fxt_koids {
	uint64_t process;
	uint64_t thread;
};

/* The place of a process in a parallel job (writer/shared/job.h). All zeros: in none. */
struct fxt_job_place {
	bool is_known;
	uint32_t rank, size; /* size 0: not known */
	uint32_t host, job;  /* ids of strings; FXT_NOTHING: not known */
};

/* A kernel object as last described. A process and its first thread may have the same koid,
 * so the type belongs to the key. */
struct fxt_object {
	uint64_t koid;
	uint8_t type; /* enum fxt_object_type, or another */
	uint32_t name;
	struct fxt_job_place rank;
	uint64_t row_of; /* for a heap or fault track, the koid of its thread
	                    (writer/format/thread_object.h); 0 = none */
};

/* A change that a record made: to one index, the rate, or the current provider; with the
 * previous value. */
struct fxt_change {
	uint64_t offset; /* of the record */
	uint64_t old;
	uint32_t provider; /* its index in fxt_tables.providers */
	uint32_t what;     /* an index, and which table it is of */
};

/*
 * A function that a userspace object identifies (fxt_naming_identity()): functions of equal
 * names have strings of their own, so that readers can keep them apart by id. Once the
 * trace is read, namesakes.h takes together those that are one function after all.
 */
struct fxt_identity {
	uint32_t id;     /* of a string: the name, or what namesakes.h made of it */
	uint32_t name;   /* id of a string: the name as recorded */
	uint32_t module; /* the same */
	uint32_t file;   /* the same; FXT_NOTHING: not known */
	uint64_t offset; /* in the module; 0: no other function of the module has the name */
	char *text;      /* of `id`, if it differs from the name; owned */
};

/*
 * A span is a duration event of the program's own. Its name and its category identify it.
 * It is not the function of that name: once the trace is read, namesakes.h gives strings of
 * their own to spans that share a name with a function or with each other.
 */
struct fxt_span_name {
	uint32_t name, category; /* ids of strings */
	uint32_t id;             /* of the string that stands for the span; its name if no other has
	                            that */
};

struct fxt_tables {
	struct fxt_provider_tables *provider;   /* of the records being read */
	struct fxt_provider_tables **providers; /* the first is the one without a name */
	struct fxt_span *strings;               /* by id */
	struct fxt_koids *threads;              /* by id */
	struct fxt_object *objects;
	struct fxt_labels labels;        /* of objects, by pointer and by koid */
	struct fxt_identity *identities; /* by id */
	struct fxt_span_name *spans;     /* once settled, those of shared names first */
	size_t provider_count, string_count, thread_count, object_count, identity_count, span_count;
	size_t shared_spans;      /* how many have strings of their own, whose ids are
	                             consecutive, in the order of `spans` */
	uint32_t first_of_shared; /* the first of these ids */
	uint32_t *settled;        /* by string, the string that stands for the same function
	                      (namesakes.h); NULL: each is its own */

	/* By id, the texts of strings that were shortened; no data: not this one. NULL:
	 * none was. The shortened text is in `strings` and owned here. */
	struct fxt_span *full;
	size_t full_count; /* later strings are not shortened */

	/* Tables of the same trace that are settled, or NULL: identified functions get
	 * their texts. Must outlive these tables. */
	const struct fxt_tables *settled_by;

	struct fxt_spill *changes; /* of struct fxt_change: where changes are noted, or NULL */
	uint64_t offset;           /* of the record being applied, for `changes`; the caller
	                              sets it */

	uint64_t uncounted_losses; /* of providers that were announced again since, or never */
	bool copies_texts;
	/* Only in a view: the tables it is a view of. Strings and threads belong to them
	 * and can only be looked up. So do providers without an undone change. */
	const struct fxt_tables *viewed;
	size_t provider_room, string_room, thread_room, object_room, identity_room, span_room;
	struct fxt_index provider_index, string_index, thread_index, object_index, identity_index, span_index;
};

void fxt_tables_init(struct fxt_tables *t);

/* The same for a reader that goes back later: texts are copied, and each change is added to
 * `changes`. */
void fxt_tables_init_noting(struct fxt_tables *t, struct fxt_spill *changes);

void fxt_tables_free(struct fxt_tables *t);

/* Takes over what a record registers or switches; other records change nothing. */
void fxt_tables_apply(struct fxt_tables *t, const struct fxt_view *view);

/*
 * Makes a view: tables with indices of their own, to go back with. Strings and threads are
 * those of `t`, which must not change while the view is in use; anything that is not among
 * them is FXT_NOTHING. Several threads may use views of the same tables.
 */
void fxt_tables_view(struct fxt_tables *view, const struct fxt_tables *t);

/* Undoes a change in a view; they come in the reverse of their order. */
void fxt_tables_undo(struct fxt_tables *view, const struct fxt_change *change);

/* The ids of what the current provider's references mean; inline ones get an id when first
 * seen. */
uint32_t fxt_tables_string(struct fxt_tables *t, struct fxt_string string);
uint32_t fxt_tables_thread(struct fxt_tables *t, struct fxt_thread thread);

/* The id of a text. */
uint32_t fxt_tables_intern(struct fxt_tables *t, struct fxt_span text);

/* The id of the function that a userspace object describes: that of its identity if there
 * is one, else that of its name. */
uint32_t fxt_tables_described(struct fxt_tables *t, const struct fxt_view *view);

/* The identity of the function with that name, at that offset in a module; NULL: the trace
 * has none. */
struct fxt_identity *fxt_tables_find_identity(
        const struct fxt_tables *t, uint32_t name, uint32_t module, uint64_t offset);

/* The identity with that id; NULL for other strings. */
struct fxt_identity *fxt_tables_identity(const struct fxt_tables *t, uint32_t id);

/* The string that stands for a function, once the tables are settled. */
static inline uint32_t fxt_tables_settled(const struct fxt_tables *t, uint32_t id)
{
	return t->settled ? t->settled[id] : id;
}

/* Shortens the names of C++ functions (cxx_names.h): the texts in `strings` are then for
 * people. Names are still found by their full text, and functions in full and in short. */
void fxt_tables_shorten(struct fxt_tables *t);

/* The text of a string as it was before it was shortened. */
static inline struct fxt_span fxt_tables_full(const struct fxt_tables *t, uint32_t id)
{
	return id < t->full_count && t->full[id].data ? t->full[id] : t->strings[id];
}

/* The id of the name as recorded, of a function or span; others are their own. */
uint32_t fxt_tables_recorded(const struct fxt_tables *t, uint32_t id);

/* The text of a string, for a function or span its name as recorded. */
static inline struct fxt_span fxt_tables_plain(const struct fxt_tables *t, uint32_t id)
{
	return fxt_tables_full(t, fxt_tables_recorded(t, id));
}

/* Notes that durations of this category have this name. */
void fxt_tables_add_span(struct fxt_tables *t, uint32_t name, uint32_t category);

/* Gives strings of their own to the spans that `is_shared` says share their names. Their
 * texts take at most `most_bytes`. Called once. */
void fxt_tables_settle_spans(struct fxt_tables *t, const bool *is_shared, uint64_t most_bytes);

/* The string that stands for a span, once the tables are settled. */
uint32_t fxt_tables_find_span(const struct fxt_tables *t, uint32_t name, uint32_t category);

/* A provider by its id, NULL if it has not appeared. */
struct fxt_provider_tables *fxt_tables_provider(const struct fxt_tables *t, uint32_t id);

/* The place of a process in a parallel job. */
struct fxt_job_place fxt_tables_place(const struct fxt_tables *t, uint64_t process);

/* The id of an object's name; FXT_NOTHING if no record described it. */
uint32_t fxt_tables_object_name(const struct fxt_tables *t, enum fxt_object_type type, uint64_t koid);

/* The same, its name; no bytes if no record described it. */
static inline struct fxt_span fxt_tables_object_text(
        const struct fxt_tables *t, enum fxt_object_type type, uint64_t koid)
{
	uint32_t name = fxt_tables_object_name(t, type, koid);

	return name == FXT_NOTHING ? (struct fxt_span){"", 0} : t->strings[name];
}

/* Puts koids in order, and each of them there once; returns how many are left. */
size_t fxt_sort_koids(uint64_t *koids, size_t count);

/* Finds a koid among koids in order; NULL: it is not there. */
const uint64_t *fxt_find_koid(const uint64_t *koids, size_t count, uint64_t koid);

/* The text of a reference, or of an inline string; adds nothing to the tables. */
static inline struct fxt_span fxt_tables_text(struct fxt_tables *t, struct fxt_string string)
{
	if (string.ref & FXT_STRING_INLINE_BIT)
		return fxt_inline_text(string);
	/* before the table is read, which looking up may move */
	uint32_t id = fxt_tables_string(t, string);

	return t->strings[id];
}

/* Finds an argument of a view by name. */
bool fxt_tables_argument(
        struct fxt_tables *t, const struct fxt_view *view, const char *name, struct fxt_argument *argument);

/* True if a userspace object is a block of the heap: it has the path that allocated it. */
bool fxt_tables_is_block(struct fxt_tables *t, const struct fxt_view *view);

/*
 * The name of the object that a pointer or koid argument means, for a record of this
 * process; no bytes if no record described it. A view of the tables knows the names that
 * objects have at the end of the trace, so it has none for an object that had several.
 */
struct fxt_span fxt_tables_label(
        const struct fxt_tables *t, uint64_t process, const struct fxt_argument *argument);

/* The missing records that an event of the tracer reports. */
struct fxt_loss_event {
	uint64_t records;
	bool is_overwritten; /* else lost */
};

/* True if an event of the tracer's category counts losses; *loss is then set. The tables
 * note that its provider counts them. */
bool fxt_tables_loss(struct fxt_tables *t, const struct fxt_view *view, struct fxt_loss_event *loss);

/*
 * How many providers lost records without a count. A full buffer (the format's section on
 * provider events) tells that records may be missing, and not how many. Each such provider
 * stands for one record at least. A provider of scheduling records that has no slices lost
 * no calls, so it does not count.
 */
uint64_t fxt_tables_uncounted_losses(const struct fxt_tables *t);

/* "at least ", if a number of lost records is a lower bound; else "". */
static inline const char *fxt_tables_least(const struct fxt_tables *t)
{
	return fxt_tables_uncounted_losses(t) > 0 ? "at least " : "";
}

/* The id of the string registered for an index; 0 is the empty string. */
static inline uint32_t fxt_provider_string(const struct fxt_provider_tables *provider, uint64_t index)
{
	return __builtin_expect(index == 0, 0) ? FXT_EMPTY : fxt_index_entry(&provider->strings, index);
}

/* The id of the thread registered for an index, which is not 0. */
static inline uint32_t fxt_provider_thread(const struct fxt_provider_tables *provider, uint64_t index)
{
	return fxt_index_entry(&provider->threads, index);
}

/* A time in nanoseconds, rounded down; UINT64_MAX for what 64 bits do not hold. */
static inline uint64_t fxt_provider_ns(const struct fxt_provider_tables *provider, uint64_t ticks)
{
	return fxt_rate_ns(&provider->rate, ticks);
}

#endif
