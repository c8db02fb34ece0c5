/*
 * A flame graph as one SVG file that needs nothing else: no network, and no script to be looked at. Where
 * scripts run (in a browser that was given the file itself), a click on a box zooms to it, Escape back, and /
 * searches; the address then holds what is shown.
 *
 * Boxes are as wide as their share of all, callers above what they call. A box narrower than one in 4000 is
 * left out, with all below it. Each box is an element of class "b" with the attributes data-total, data-self
 * and data-calls, numbers of ns, calls or bytes, and in a comparison data-before.
 */
#ifndef FXT_FXT_FLAME_SVG_H
#define FXT_FXT_FLAME_SVG_H

#include <stdio.h>
#include "flame_tree.h"

/* `title` says what is drawn, in one line. Whether everything could be written is to be asked of `out`. */
void fxt_flame_svg_write(FILE *out, const struct fxt_flame_tree *tree, const struct fxt_flame_wanted *wanted,
        const char *title);

/* A cost as people read it: "12.345 ms", "17 calls", "1.5 MiB". */
struct fxt_flame_text {
	char text[48];
};
struct fxt_flame_text fxt_flame_text(enum fxt_flame_cost cost, double value);

#endif
