/* Functions of every kind that C++ names. */
#include "names.h"
#include "report.h"

static volatile int sum;

HERE(plain) extern "C" int plain(int a)
{
	return sum += a;
}

/* others.cc has one of the same name. */
HERE(helper) static int helper(int a)
{
	return sum += a;
}

HERE(twice) template <class T> T twice(T a)
{
	return (T)(a + a + sum);
}

namespace
{
HERE(hidden) int hidden(int a, const char *text)
{
	return sum += a + *text;
}
} // namespace

namespace shop
{
class Cart
{
      public:
	HERE(constructor) explicit Cart(int count) : count_(count)
	{
		sum = sum + count;
	}
	HERE(count) int count() const
	{
		return count_ + sum;
	}
	virtual int add(int a);
	virtual ~Cart()
	{
	}
	template <class T, int N> struct Shelf {
		HERE(put) static int put(T (&row)[N])
		{
			return sum += row[N - 1];
		}
	};

      private:
	int count_;
};

HERE(add) int Cart::add(int a)
{
	return count_ += a + sum;
}

HERE(plus) Cart operator+(const Cart &a, const Cart &b)
{
	return Cart(a.count() + b.count());
}

inline namespace v2
{
HERE(total) int total(const Cart *carts, unsigned long count)
{
	return sum += carts[count - 1].count();
}
} // namespace v2
} // namespace shop

#ifdef __clang__
#define LAMBDA "call_lambda()::$_0::operator()(int) const"
#else
#define LAMBDA "call_lambda()::{lambda(int)#1}::operator()(int) const"
#endif

static void call_lambda()
{
	/* Read from the same line, so that the name of a function is not put to the test here. */
	HERE(lambda) auto lambda = [](int a) { return sum += a; };

	CALL(lambda_line, LAMBDA, lambda(1));
}

int main()
{
	long row[3] = {1, 2, 3};

	report_modules();
	CALL(plain_line, "plain", plain(1));
	CALL(helper_line, "helper(int)", helper(1));
	CALL(twice_line, "int twice<int>(int)", twice(1));
	CALL(twice_line, "double twice<double>(double)", twice(1.0));
	CALL(hidden_line, "(anonymous namespace)::hidden(int, char const*)", hidden(1, "a"));
	CALL(shop::Cart::constructor_line, "shop::Cart::Cart(int)", shop::Cart cart(1));
	shop::Cart cart(1);
	CALL(shop::Cart::count_line, "shop::Cart::count() const", cart.count());
	CALL(shop::add_line, "shop::Cart::add(int)", cart.add(1));
	CALL(shop::plus_line, "shop::operator+(shop::Cart const&, shop::Cart const&)", cart + cart);
	CALL(shop::total_line, "shop::v2::total(shop::Cart const*, unsigned long)", shop::total(&cart, 1));
	CALL((shop::Cart::Shelf<long, 3>::put_line), "shop::Cart::Shelf<long, 3>::put(long (&) [3])",
	        (shop::Cart::Shelf<long, 3>::put(row)));
	call_lambda();
	call_others();
	call_library();
	return 0;
}
