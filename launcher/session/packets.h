/*
 * The packets of a provider (writer/shared.h; fuchsia-facts: FIFO packets), and the orders it is given. A
 * packet that breaks a rule aborts the provider: it is told to quit, the reason is said, and nothing more is
 * taken from it. A valid packet at the wrong time is said, once, and ignored.
 */
#ifndef FXT_LAUNCHER_SESSION_PACKETS_H
#define FXT_LAUNCHER_SESSION_PACKETS_H

#include "provider.h"

/* Handles what is in the ring by now. In the provider's thread. */
void fxt_packets_handle(struct fxt_provider *provider);

/* Gives an order, in place of one that was not carried out yet. */
void fxt_packets_order(
        struct fxt_provider *provider, enum fxt_session_command order, enum fxt_start_mode mode);

#endif
