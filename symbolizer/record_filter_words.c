/* Separate from filter.c because fxtctl, which names no functions, needs these words and
 * nothing else of this folder. */
#include "record_filter.h"

const char *const fxt_record_filter_words[FXT_RECORD_FILTER_KINDS] = {
        [FXT_RECORD_FILTER_INCLUDE] = "include",
        [FXT_RECORD_FILTER_EXCLUDE] = "exclude",
        [FXT_RECORD_FILTER_ONLY_UNDER] = "only-under",
        [FXT_RECORD_FILTER_NOT_UNDER] = "not-under",
        [FXT_RECORD_FILTER_MIN_DURATION] = "min-duration",
        [FXT_RECORD_FILTER_MAX_CALLS] = "max-calls",
        [FXT_RECORD_FILTER_TRIGGER] = "trigger",
        [FXT_RECORD_FILTER_BEGIN_TRIGGER] = "trigger",
};
