/*
 * What the recorder tells the Perfetto UI of a session, in packets (launcher/session/description.h), for a
 * trace of several sessions: what is about processes stays, under the numbers that these have now. What is
 * about the machine and the recording is that of the first trace, since the UI has room for one. Where the
 * view opens is left to the UI.
 */
#ifndef FXT_FXT_MERGE_DESCRIPTIONS_H
#define FXT_FXT_MERGE_DESCRIPTIONS_H

#include "koids.h"
#include "reader/trace/cursor.h"
#include "symbolizer/protobuf.h"

/* Appends to `blob` what a blob of that name is to hold in the merged trace; nothing: it is left out. */
void fxt_merge_description(
        struct fxt_span data, const struct fxt_merge_koids *koids, bool is_first, struct fxt_message *blob);

#endif
