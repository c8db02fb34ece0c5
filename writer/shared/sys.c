#include "sys.h"

uint32_t sys_confinement;
