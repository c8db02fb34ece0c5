// Calls with C++'s arguments; see values.h.
#include <stdexcept>
#include <string>
#include "values.h"

namespace shop
{

enum class size : unsigned char { small = 1, large = 200 };

struct order {
	int id;
	std::string name;

	APART int total(int count, const std::string &note);
};

APART int order::total(int count, const std::string &note)
{
	say("\"shop::order::total(int, std::__cxx11::basic_string<char, std::char_traits<char>, "
	    "std::allocator<char> > const&)\" {this=pointer:%p, count=int32:%d, note=\"%s\", "
	    "return=int32:%d}\n",
	        (void *)this, count, note.c_str(), id + count);
	return id + count;
}

APART void fail(int code, size of)
{
	say("\"shop::fail(int, shop::size)\" {code=int32:%d, of=\"%s\", abandoned=true}\n", code,
	        of == size::small ? "small" : "large");
	throw std::runtime_error("failed");
}

APART std::string join(std::string a, std::string b)
{
	say("\"shop::join(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
	    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)\" {a=\"%s\", "
	    "b=\"%s\", "
	    "return=\"%s%s\"}\n",
	        a.c_str(), b.c_str(), a.c_str(), b.c_str());
	return a + b;
}

/* gcc gives the parameters of a pack no names. */
#ifdef __clang__
#define PART "parts"
#else
#define PART "?"
#endif

template <typename... Parts> APART int add(Parts... parts)
{
	int sum = (parts + ...);

	say("\"int shop::add<int, int>(int, int)\" {" PART "=int32:%d, " PART "=int32:%d, return=int32:%d}\n",
	        parts..., sum);
	return sum;
}

} // namespace shop

int main()
{
	shop::order order{7, "order"};

	order.total(3, "short");
	order.total(-3, std::string(100, 'n'));
	shop::add(1, 2);
	shop::join("left and ", std::string(40, 'r'));
	for (int i = 0; i < 3; i++) {
		try {
			shop::fail(i, i % 2 ? shop::size::small : shop::size::large);
		} catch (const std::exception &) {
		}
	}
	return 0;
}
