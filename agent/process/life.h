/* The parts of the agent's life that a launcher causes in a running process (attach.h). */
#ifndef FXT_AGENT_LIFE_H
#define FXT_AGENT_LIFE_H

/* Begins to record, or begins anew after agent_life_detach(). The other threads are
 * stopped. Both return 0 or an errno value, as attach.h says. */
int agent_life_attach(const char *socket);
int agent_life_detach(void);

#endif
