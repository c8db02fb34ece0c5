/*
 * Decides on all records that are no slices of one record; those that are were decided on before.
 */
#ifndef FXT_FXT_CUT_OTHERS_H
#define FXT_FXT_CUT_OTHERS_H

#include "keep.h"

void fxt_keep_others(struct fxt_keep *k, const struct fxt_archive *archive);

#endif
