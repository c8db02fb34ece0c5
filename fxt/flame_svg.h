/*
 * A flame graph as one SVG file that needs nothing else: no network, and no script to be looked at. Where
 * scripts run (in a browser that was given the file itself), a click on a box zooms to it, Escape back, and /
 * searches; the address then holds what is shown.
 *
 * Boxes are as wide as their share of all, callers above what they call. A box narrower than one in 1200, a
 * pixel of the picture, is left out with all below it, for a picture of every path of a program has megabytes
 * that nobody can see; the picture says how many there are and of how much. Each box is an element of class
 * "b" with the attributes data-total, data-self and data-calls, numbers of ns, calls or bytes, in a
 * comparison data-before, and data-narrow, what of it is in boxes directly inside that are left out. Where
 * these make up a pixel, they are an element of class "narrow" in their place.
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
