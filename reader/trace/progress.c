#include "progress.h"

bool (*fxt_progress)(const char *doing, uint64_t done, uint64_t all);
