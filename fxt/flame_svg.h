/*
 * A flame graph as one self-contained SVG file: it needs no network, and can be viewed
 * without scripts. If scripts run (in a browser that opened the file itself), a click on a
 * box zooms to it, Escape zooms back, and / searches. The address then holds the current
 * view.
 *
 * A box is as wide as its share of the whole; callers are above their callees. A box
 * narrower than 1/1200 of the picture, one pixel, is left out with everything below it,
 * because a picture of every path of a program would have megabytes that are too small to
 * see. The picture shows how many boxes are left out and their total.
 *
 * Each box is an element of class "b" with the attributes data-total, data-self and
 * data-calls: numbers of ns, calls or bytes. In a comparison it also has data-before.
 * data-narrow is the part of the cost in its direct children that are left out. If these
 * add up to a pixel, an element of class "narrow" takes their place.
 */
#ifndef FXT_FXT_FLAME_SVG_H
#define FXT_FXT_FLAME_SVG_H

#include <stdio.h>
#include "flame_tree.h"

/* `title` is one line that says what is drawn. The caller checks `out` for write errors. */
void fxt_flame_svg_write(FILE *out, const struct fxt_flame_tree *tree, const struct fxt_flame_wanted *wanted,
        const char *title);

/* A cost formatted for people: "12.345 ms", "17 calls", "1.5 MiB". */
struct fxt_flame_text {
	char text[48];
};
struct fxt_flame_text fxt_flame_text(enum fxt_flame_cost cost, double value);

#endif
