/* Every macro of <fxt/trace.h> with every type of argument. Built as C and as C++. */
#define FXT_PLAIN_NAMES
#include <fxt/trace.h>
#include <stdint.h>
#include <stdio.h>
#ifdef __cplusplus
#include <string>
enum colour : unsigned char { RED, GREEN };
enum class size_of : int64_t { HUGE_ONE = INT64_MIN };
#endif

FXT_CATEGORY("app", "what the program does");

static int evaluated;

static int count(int value)
{
	evaluated++;
	return value;
}

static void nested(int depth)
{
	FXT_DURATION("app", "nested", "depth", depth);
	if (depth)
		nested(depth - 1);
}

static void values(void)
{
	char text[8] = "in here";
	const char *none = NULL;

	FXT_INSTANT("app", "integers", FXT_SCOPE_THREAD, "short", (short)-1, "unsigned char",
	        (unsigned char)255, "int", -2147483647 - 1, "unsigned", 4294967295u, "long", INT64_MIN,
	        "unsigned long", UINT64_MAX);
	FXT_INSTANT("app", "others", FXT_SCOPE_PROCESS, "float", 0.5f, "double", -1e300, "literal", "text",
	        "array", text, "pointer", (void *)0x1234, "no text", none);
	FXT_INSTANT("app", "chosen", FXT_SCOPE_GLOBAL, "n", FXT_TA_NULL(), "b", FXT_TA_BOOL(2), "i",
	        FXT_TA_INT32(-1), "u", FXT_TA_UINT32(1), "l", FXT_TA_INT64(-1), "ul", FXT_TA_UINT64(1), "d",
	        FXT_TA_DOUBLE(1), "s", FXT_TA_STRING(""), "c", FXT_TA_CHAR_ARRAY("abcdefgh", 8), "p",
	        FXT_TA_POINTER(text - text), "k", FXT_TA_KOID(7), "blob", FXT_TA_BLOB("\1\2", 2));
#ifdef __cplusplus
	std::string string("standard");

	FXT_INSTANT("app", "C++", FXT_SCOPE_THREAD, "string", string, "temporary", std::string("of ") + text,
	        "nullptr", nullptr, "bool", true, "enum", GREEN, "class", size_of::HUGE_ONE);
	FXT_DURATION("app", "kept", "string", string);
#endif
	FXT_INSTANT("app", "fifteen", FXT_SCOPE_THREAD, "1", 1, "2", 2, "3", 3, "4", 4, "5", 5, "6", 6, "7",
	        7, "8", 8, "9", 9, "10", 10, "11", 11, "12", 12, "13", 13, "14", 14, "15", count(15));
}

static void events(void)
{
	FXT_COUNTER("app", "counter", 5, "value", 1.5, "other", count(2));
	FXT_DURATION_BEGIN("app", "by hand", "a", 1);
	FXT_DURATION_END("app", "by hand", "z", 26);
	FXT_ASYNC_BEGIN("app", "async", 6);
	FXT_ASYNC_INSTANT("app", "async", 6, "at", "half");
	FXT_ASYNC_END("app", "async", 6);
	{
		FXT_DURATION("app", "sends");
		FXT_FLOW_BEGIN("app", "flow", 7, "a", 1);
	}
	{
		FXT_DURATION("app", "forwards");
		FXT_FLOW_STEP("app", "flow", 7);
	}
	{
		FXT_DURATION("app", "receives");
		FXT_FLOW_END("app", "flow", 7);
	}
	FXT_BLOB_EVENT("app", "blob", "\x01\x23\x45", 3, "a", 1);
	FXT_BLOB_ATTACHMENT("app", "attachment", "\x67\x89", 2);
	FXT_USERSPACE_OBJECT(&evaluated, "the counter", "bytes", sizeof(evaluated));
	FXT_KERNEL_OBJECT(99, 1, "a process", "a", 1);
	FXT_LOG("a line");
	FXT_THREAD_NAME("worker");
	FXT_ALERT("app", "alarm");
	TRACE_INSTANT("app", "plain", TRACE_SCOPE_THREAD, "a", TA_INT32(1));
}

int main(void)
{
	values();
	events();
	nested(2);
	printf("%d %d %d %d\n", evaluated, FXT_ENABLED(), FXT_CATEGORY_ENABLED("app"),
	        FXT_NONCE() != FXT_NONCE());
	return 0;
}
