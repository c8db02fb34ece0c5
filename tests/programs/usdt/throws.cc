/* Probes around exceptions: where they land must stay as it is. Prints what the trace has to
 * say. */
#include <cstdio>
#include <cstdlib>
#include <sys/sdt.h>

struct noted {
	int number;
	~noted()
	{
		STAP_PROBE1(unit, destroyed, number);
		std::printf("instant\tunit\tdestroyed\targ1=int32:%d\n", number);
	}
};

__attribute__((noinline)) static int fails(int n)
{
	noted note{n};

	if (n % 3 == 0)
		throw n;
	if (n % 5 == 0)
		throw 1.5;
	return n;
}

__attribute__((noinline)) static int tries(int n)
{
	int result = 0;

	try {
		noted note{100 + n};

		STAP_PROBE1(unit, tries, n);
		std::printf("instant\tunit\ttries\targ1=int32:%d\n", n);
		result = fails(n);
	} catch (int caught) {
		STAP_PROBE1(unit, caught_int, caught);
		std::printf("instant\tunit\tcaught_int\targ1=int32:%d\n", caught);
	} catch (...) {
		STAP_PROBE(unit, caught);
		std::printf("instant\tunit\tcaught\n");
	}
	return result;
}

/* Jumps by a table lead among the probes. */
__attribute__((noinline)) static int chooses(int n)
{
	switch (n % 6) {
	case 0:
		STAP_PROBE(unit, zero);
		std::printf("instant\tunit\tzero\n");
		return n;
	case 1:
		STAP_PROBE1(unit, one, n);
		std::printf("instant\tunit\tone\targ1=int32:%d\n", n);
		return n + 1;
	case 2:
		STAP_PROBE(unit, two);
		std::printf("instant\tunit\ttwo\n");
		return 2 * n;
	case 3:
		STAP_PROBE(unit, three);
		std::printf("instant\tunit\tthree\n");
		return 3 * n;
	case 4:
		STAP_PROBE(unit, four);
		std::printf("instant\tunit\tfour\n");
		return n ^ 4;
	default:
		std::abort();
	}
}

int main()
{
	int sum = 0;

	for (int i = 1; i < 20; i++) {
		sum += tries(i);
		if (i % 6 != 5)
			sum += chooses(i);
	}
	std::fprintf(stderr, "sum %d\n", sum);
}
