/* Separate from selection.c because fxtctl, which names no functions, needs these words and
 * nothing else of this folder. */
#include "selection.h"

const char *const fxt_selection_words[FXT_SELECTION_KINDS] = {
        [FXT_SELECTION_INCLUDE] = "include",
        [FXT_SELECTION_EXCLUDE] = "exclude",
        [FXT_SELECTION_ONLY_UNDER] = "only-under",
        [FXT_SELECTION_NOT_UNDER] = "not-under",
        [FXT_SELECTION_MIN_DURATION] = "min-duration",
        [FXT_SELECTION_MAX_CALLS] = "max-calls",
        [FXT_SELECTION_TRIGGER] = "trigger",
        [FXT_SELECTION_BEGIN_TRIGGER] = "trigger",
};
