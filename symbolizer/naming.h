/*
 * Encoders of records that name functions, with names in place of placeholders. The
 * rewriting of a whole archive (records.h) and the writing of a new one share them.
 *
 * Each writes one record at `to`, which has room for FXT_RECORD_MAX_WORDS words, and
 * returns the record's size in words.
 */
#ifndef FXT_SYMBOLIZER_NAMING_H
#define FXT_SYMBOLIZER_NAMING_H

#include "image.h"
#include "reader/trace/cursor.h"
#include "writer/format/parts.h"

/* Writes the string record that registers a function's name (the format's section on string
 * records). */
size_t fxt_naming_string(uint64_t *to, uint32_t index, const struct fxt_location *function);

/* Writes an event record with the name as inline text. A name that does not fit is cut. */
size_t fxt_naming_event(uint64_t *to, const struct fxt_record *record, const struct fxt_view *view,
        const struct fxt_location *function);

/*
 * Writes the userspace-object record that says which function a string index means: pointer
 * = its address in the process, name = the index, and the arguments module and, if the
 * module may have several functions of that name, offset (fxt_location.address). It follows
 * the string record. Without it readers could not tell functions of equal names apart.
 * Returns 0 for a function in no module, and if the record would be larger than `room`
 * words.
 */
size_t fxt_naming_identity(uint64_t *to, size_t room, uint64_t process, uint64_t address, uint32_t index,
        const struct fxt_location *function);

/*
 * Writes the userspace-object record with a function's source position: pointer = its
 * address in the process, name, and as far as they are known the arguments file, line,
 * module, build_id, and offset as above. A record that would be too large has no arguments.
 */
size_t fxt_naming_object(uint64_t *to, uint64_t process, uint64_t address, struct fxt_string name,
        const struct fxt_location *function);

#endif
