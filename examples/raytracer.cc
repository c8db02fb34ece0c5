// A ray tracer: three named threads take the rows of a picture, follow every ray from mirror to mirror, and
// print the picture in letters. This is what `make demo` records: look at how the rays of the mirrors nest
// deeper than those of the sky, and at how the threads share the rows.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>
#include <vector>
#include <pthread.h>

struct vec {
	double x, y, z;
};

static vec operator+(vec a, vec b)
{
	return {a.x + b.x, a.y + b.y, a.z + b.z};
}

static vec operator*(vec a, double k)
{
	return {a.x * k, a.y * k, a.z * k};
}

static double dot(vec a, vec b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec unit(vec a)
{
	return a * (1 / std::sqrt(dot(a, a)));
}

struct sphere {
	vec center;
	double radius, brightness, mirror;

	// Distance from `from` along `to`, or infinity.
	double intersect(vec from, vec to) const
	{
		vec away = from + center * -1;
		double b = dot(away, to), c = dot(away, away) - radius * radius, d = b * b - c;

		if (d < 0)
			return std::numeric_limits<double>::infinity();
		double near = -b - std::sqrt(d), far = -b + std::sqrt(d);
		return near > 1e-6 ? near : far > 1e-6 ? far : std::numeric_limits<double>::infinity();
	}
};

static const sphere scene[] = {
        {{0, 0, 4}, 1.0, 0.9, 0.5},
        {{-1.9, 0.3, 5}, 1.0, 0.6, 0.7},
        {{1.8, -0.1, 3.4}, 0.7, 0.8, 0.3},
        {{0, -101, 4}, 100, 0.7, 0.2},
};
static const vec light = unit({-1, 2, -1.5});

struct painting {
	std::vector<std::string> rows;
	std::atomic<int> next_row;
};

static const int WIDTH = 78, HEIGHT = 30, BOUNCES = 6;

static const sphere *nearest(vec from, vec to, double &distance)
{
	const sphere *found = nullptr;

	distance = std::numeric_limits<double>::infinity();
	for (const sphere &s : scene) {
		double d = s.intersect(from, to);

		if (d < distance) {
			distance = d;
			found = &s;
		}
	}
	return found;
}

static double sky(vec to)
{
	return 0.15 + 0.25 * std::max(0.0, to.y);
}

static bool in_shadow(vec point)
{
	double distance;

	return nearest(point, light, distance) != nullptr;
}

static double trace_ray(vec from, vec to, int bounces)
{
	double distance;
	const sphere *hit = nearest(from, to, distance);

	if (!hit)
		return sky(to);
	vec point = from + to * distance, normal = unit(point + hit->center * -1);
	double lit = in_shadow(point) ? 0.05 : 0.05 + 0.95 * std::max(0.0, dot(normal, light));
	double own = hit->brightness * lit;

	if (bounces == 0)
		return own;
	vec reflected = to + normal * (-2 * dot(to, normal));
	return own * (1 - hit->mirror) + hit->mirror * trace_ray(point, reflected, bounces - 1);
}

static char shade(int column, int row)
{
	static const char letters[] = " .:-=+*#%@";
	vec to = unit({(column - WIDTH / 2.0) / (WIDTH / 3.2), (HEIGHT / 2.0 - row) / (HEIGHT / 1.7), 1.6});
	double brightness = trace_ray({0, 0, 0}, to, BOUNCES);

	return letters[std::min(9, static_cast<int>(brightness * 14))];
}

static void draw_row(painting &picture, int row)
{
	for (int column = 0; column < WIDTH; column++)
		picture.rows[row][column] = shade(column, row);
}

static void draw_rows(painting &picture, int number)
{
	pthread_setname_np(pthread_self(), ("painter " + std::to_string(number)).c_str());
	for (int row; (row = picture.next_row++) < HEIGHT;)
		draw_row(picture, row);
}

int main()
{
	painting picture = {std::vector<std::string>(HEIGHT, std::string(WIDTH, ' ')), {0}};
	std::vector<std::thread> painters;

	for (int i = 1; i <= 3; i++)
		painters.emplace_back(draw_rows, std::ref(picture), i);
	for (std::thread &painter : painters)
		painter.join();
	for (const std::string &row : picture.rows)
		std::puts(row.c_str());
}
