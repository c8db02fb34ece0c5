/*
 * Texts and categories of the program's own records (said.h). Texts are registered once as
 * strings of the trace, and a site keeps their indices. Categories have a word each, which
 * sites test before they call the agent.
 *
 * No address of the program's is kept, as its library may be unloaded.
 */
#ifndef FXT_AGENT_SAID_NAMES_H
#define FXT_AGENT_SAID_NAMES_H

#include "agent/base/self.h"
#include "include/fxt/trace.h"

/* The number of times that forked children forgot their parents' texts. */
extern HIDDEN uint32_t agent_said_epoch;

/* The number of the table that indices of texts belong to now; never 0. */
static inline uint32_t agent_said_texts(void)
{
	return agent_said_epoch << 16 ^ (load_relaxed(&agent_engine.generation) + 1);
}

/* Whether the site's texts have their indices. */
static inline bool agent_said_is_known(const struct fxt_trace_site *site)
{
	/* Acquire: the indices were stored before. Pairs with the release in
	 * agent_said_learn(). */
	return load_acquire(&site->texts_of) == agent_said_texts();
}

/* Registers a text as a string of the trace, and returns its index; 0: there is no room, or
 * it is too long. Takes the engine's lock. */
uint16_t agent_said_text(const char *text);

/* Gives the site's texts their indices; 0 = there is no room, and the text is written into
 * each record. Takes the engine's lock. */
void agent_said_learn(struct fxt_trace_site *site, const struct fxt_trace_argument *arguments, size_t count);

/* Returns the word that is 1 while events of the category are recorded. NULL: while
 * anything is. Without locks, at any time. */
const uint32_t *agent_said_category(const char *name);

/* Whether the site's category is recorded. Categories without a word of their own share
 * one, so their sites must ask here. */
bool agent_said_is_wanted(const struct fxt_trace_site *site);

/* Lists a category with its description. */
void agent_said_declare(const char *name, const char *description);

/* Recording has begun or ended, or the manager has changed the categories. */
void agent_said_follow(void);

/* In a forked child. */
void agent_said_forget(void);

#endif
