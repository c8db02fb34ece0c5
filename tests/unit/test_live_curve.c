/*
 * A curve of what lives against all the moments that it was made of.
 */
#include "trace.h"

#include "random.h"
#include "reader/heap/live_curve.h"

#define MOMENTS 300000

static struct fxt_live_point moments[MOMENTS];

/* Every point is one of the moments, in their order. Returns the moments' highest, which is
 * among the points.
 */
static uint64_t is_of_moments(const struct fxt_live_curve *curve, size_t count)
{
	uint64_t highest = 0, most = 0;
	size_t at = 0;

	assert_true(curve->count <= FXT_LIVE_CURVE_POINTS);
	for (size_t i = 0; i < curve->count; i++, at++) {
		while (at < count && memcmp(&moments[at], &curve->points[i], sizeof(*moments)) != 0)
			at++;
		assert_true(at < count);
		most = curve->points[i].bytes > most ? curve->points[i].bytes : most;
	}
	for (size_t i = 0; i < count; i++)
		highest = moments[i].bytes > highest ? moments[i].bytes : highest;
	assert_int_equal(most, highest);
	return highest;
}

static void curve_of(struct fxt_live_curve *curve, size_t count)
{
	*curve = (struct fxt_live_curve){0};
	for (size_t i = 0; i < count; i++)
		fxt_live_curve_add(curve, moments[i]);
}

static void few_moments_are_all_there(void **state)
{
	struct fxt_live_curve curve;

	(void)state;
	for (size_t i = 0; i < FXT_LIVE_CURVE_POINTS; i++)
		moments[i] = (struct fxt_live_point){.ns = i * i, .bytes = i % 7, .objects = i % 3};
	curve_of(&curve, FXT_LIVE_CURVE_POINTS);
	assert_int_equal(curve.count, FXT_LIVE_CURVE_POINTS);
	assert_memory_equal(curve.points, moments, sizeof(*moments) * FXT_LIVE_CURVE_POINTS);
	free(curve.points);
}

/* Keeps each peak and each valley that is the highest or the lowest of a thousandth of the
 * time, for many moments, in bursts and far apart. */
static void of_many_the_extremes_stay(void **state)
{
	struct fxt_live_curve curve;
	uint64_t ns = UINT64_C(1) << 50;

	(void)state;
	for (size_t i = 0; i < MOMENTS; i++) {
		ns += random_below(1000) ? 1 + random_below(50) : 1000000;
		moments[i] = (struct fxt_live_point){
		        .ns = ns, .bytes = 1000000 + random_below(1000000), .objects = i};
	}
	moments[MOMENTS / 3].bytes = UINT64_C(5) << 40;
	moments[MOMENTS / 2].bytes = 0;
	curve_of(&curve, MOMENTS);
	assert_int_equal(is_of_moments(&curve, MOMENTS), UINT64_C(5) << 40);
	assert_true(curve.count > FXT_LIVE_CURVE_POINTS / 8);
	assert_memory_equal(&curve.points[curve.count - 1], &moments[MOMENTS - 1], sizeof(*moments));
	size_t valleys = 0;

	for (size_t i = 0; i < curve.count; i++)
		valleys += curve.points[i].bytes == 0;
	assert_int_equal(valleys, 1);
	/* Within each step with dropped points, the highest point is the real one. */
	for (size_t i = 0, at = 0; i + 1 < curve.count;) {
		uint64_t step = curve.points[i].ns >> curve.step_bits, had = 0, has = 0;

		for (; at < MOMENTS && moments[at].ns >> curve.step_bits <= step; at++)
			if (moments[at].ns >> curve.step_bits == step)
				had = moments[at].bytes > had ? moments[at].bytes : had;
		for (; i < curve.count && curve.points[i].ns >> curve.step_bits == step; i++)
			has = curve.points[i].bytes > has ? curve.points[i].bytes : has;
		assert_int_equal(has, had);
	}
	free(curve.points);
}

/* Thinning out comes to an end however close the moments are. */
static void all_at_once(void **state)
{
	struct fxt_live_curve curve;

	(void)state;
	for (size_t i = 0; i < MOMENTS; i++)
		moments[i] = (struct fxt_live_point){.ns = UINT64_MAX, .bytes = i ^ 0x1000, .objects = i};
	curve_of(&curve, MOMENTS);
	is_of_moments(&curve, MOMENTS);
	free(curve.points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(few_moments_are_all_there),
	        cmocka_unit_test(of_many_the_extremes_stay),
	        cmocka_unit_test(all_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
