/*
 * Session descriptions for the Perfetto UI, which the manager writes as packets
 * (launcher/manager/description.h), for a trace of several sessions. Packets about
 * processes stay, under the processes' new numbers. Packets about the machine and the
 * recording are the first trace's, because the UI has room for one. The view that opens is
 * left to the UI.
 */
#ifndef FXT_FXT_MERGE_DESCRIPTIONS_H
#define FXT_FXT_MERGE_DESCRIPTIONS_H

#include "koids.h"
#include "reader/trace/cursor.h"
#include "perfetto/protobuf.h"

/* Appends to `blob` the contents that the blob has in the merged trace. If nothing is
 * appended, the blob is left out. */
void fxt_merge_description(
        struct fxt_span data, const struct fxt_merge_koids *koids, bool is_first, struct fxt_message *blob);

#endif
