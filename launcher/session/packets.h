/*
 * The packets that a provider sends (writer/packets.h), after the rules of Fuchsia's trace manager. A
 * packet that breaks a rule aborts the provider; a valid packet that its state does not allow is said, once,
 * and ignored.
 */
#ifndef FXT_LAUNCHER_SESSION_PACKETS_H
#define FXT_LAUNCHER_SESSION_PACKETS_H

#include "provider.h"

/* Handles what is in the ring by now, in the provider's thread. Not of an aborted one. */
void fxt_packets_handle(struct fxt_provider *provider);

#endif
