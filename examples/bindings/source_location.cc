/*
 * <fxt/trace.h> for C++20: a duration that says where it is in the source, without a macro at
 * each place. std::source_location gives the place of whoever makes the object.
 *
 *     g++ -O2 -std=c++20 source_location.cc -o places
 *     fxtrun --heap=off ./places
 *     fxt report --by=arg:function
 */
#include <fxt/trace.h>
#include <source_location>

/* From here to the end of the block. */
class traced {
public:
	explicit traced(std::source_location place = std::source_location::current())
	{
		FXT_DURATION_BEGIN("places", "traced", "function", place.function_name(), "file",
		        place.file_name(), "line", place.line());
	}
	~traced() { FXT_DURATION_END("places", "traced"); }
	traced(const traced &) = delete;
	traced &operator=(const traced &) = delete;
};

static void inner()
{
	traced here;
}

int main()
{
	traced here;

	for (int i = 0; i < 3; i++)
		inner();
	return 0;
}
