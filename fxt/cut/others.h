/*
 * Decides on all records except slices of one record, which keep.h has decided on before.
 */
#ifndef FXT_FXT_CUT_OTHERS_H
#define FXT_FXT_CUT_OTHERS_H

#include "keep.h"

void fxt_keep_others(struct fxt_keep *k, const struct fxt_archive *archive);

#endif
