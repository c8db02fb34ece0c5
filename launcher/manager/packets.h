/*
 * Handles the packets that a provider sends (writer/shared/packets.h), by the rules of
 * Fuchsia's trace manager. A packet that breaks a rule aborts the provider. A valid packet
 * that its state does not allow is ignored, and reported once.
 */
#ifndef FXT_LAUNCHER_MANAGER_PACKETS_H
#define FXT_LAUNCHER_MANAGER_PACKETS_H

#include "provider.h"

/* Handles all packets in the ring, on the provider's thread. Must not be called for an
 * aborted provider. */
void fxt_packets_handle(struct fxt_provider *provider);

#endif
