/*
 * Records that name functions, with the names in place of the placeholders: the encoders that the rewriting
 * of a whole archive (records.h) and the writing of a new one share.
 *
 * Each writes one record at `to`, room for FXT_RECORD_MAX_WORDS words, and returns its size in words.
 */
#ifndef FXT_SYMBOLIZER_NAMING_H
#define FXT_SYMBOLIZER_NAMING_H

#include "image.h"
#include "reader/trace/cursor.h"
#include "writer/parts.h"

/* The string record that registers a function's name (the format's section on string records). */
size_t fxt_naming_string(uint64_t *to, uint32_t index, const struct fxt_location *function);

/* An event record whose name is its inline text. A name for which it has no room is cut. */
size_t fxt_naming_event(uint64_t *to, const struct fxt_record *record, const struct fxt_view *view,
        const struct fxt_location *function);

/*
 * The userspace-object record that tells where a function stands in the source: pointer = its address in the
 * process, name, and as far as they are known the arguments file, line, module and build_id. One that would
 * be too large has no arguments.
 */
size_t fxt_naming_object(uint64_t *to, uint64_t process, uint64_t address, struct fxt_string name,
        const struct fxt_location *function);

#endif
