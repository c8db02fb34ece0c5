#include "nearest.h"

enum { LONGEST = 64 }; /* bytes of the words that are compared */

/* Counts letters that are wrong, missing, superfluous, or swapped with a neighbour. */
static unsigned nearest_edit_distance(struct fxt_span a, struct fxt_span b)
{
	unsigned before[LONGEST + 1], last[LONGEST + 1], row[LONGEST + 1];

	for (unsigned j = 0; j <= b.bytes; j++)
		last[j] = before[j] = j;
	for (unsigned i = 1; i <= a.bytes; i++) {
		row[0] = i;
		for (unsigned j = 1; j <= b.bytes; j++) {
			bool differs = a.data[i - 1] != b.data[j - 1];

			row[j] = last[j - 1] + differs;
			if (last[j] + 1 < row[j])
				row[j] = last[j] + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] &&
			        a.data[i - 2] == b.data[j - 1] && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		memcpy(before, last, sizeof(before));
		memcpy(last, row, sizeof(last));
	}
	return last[b.bytes];
}

struct fxt_nearest fxt_nearest(struct fxt_span word)
{
	/* A third of the letters may be wrong, and one in a short word. */
	return (struct fxt_nearest){.word = word, .distance = 2 + (unsigned)(word.bytes / 3)};
}

void fxt_nearest_consider(struct fxt_nearest *n, struct fxt_span candidate)
{
	if (n->word.bytes == 0 || n->word.bytes > LONGEST || candidate.bytes > LONGEST ||
	        candidate.bytes == 0)
		return;
	unsigned distance = nearest_edit_distance(n->word, candidate);
	bool begins = candidate.bytes > n->word.bytes && n->word.bytes > 1 &&
	              memcmp(candidate.data, n->word.data, n->word.bytes) == 0;

	/* A word that is a beginning of the candidate counts as one wrong letter. */
	if (begins && distance > 1)
		distance = 1;
	if (distance < n->distance && distance < candidate.bytes) {
		n->distance = distance;
		n->best = candidate;
	}
}

const char *fxt_nearest_option(const char *given, const struct option *options)
{
	struct fxt_nearest nearest = fxt_nearest((struct fxt_span){given + 2, strcspn(given + 2, "=")});

	for (; options->name; options++)
		fxt_nearest_consider(&nearest, fxt_span(options->name));
	return nearest.best.data;
}
