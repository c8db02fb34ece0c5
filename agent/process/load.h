/*
 * Modules that are loaded: what the agent writes into them so that their calls are recorded.
 * unload.c does the opposite.
 */
#ifndef FXT_AGENT_LOAD_H
#define FXT_AGENT_LOAD_H

/* Looks at all modules, and from then on at those that are loaded. Called by the
 * constructor, when the modules are recorded. */
void agent_load_prepare(void);

#endif
