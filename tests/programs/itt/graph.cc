/* A flow graph of oneTBB, which carries calls of the ITT API: runs ten bodies. Then it prints
 * what of INTEL_LIBITTNOTIFY64 its environment and a child's have. */
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <oneapi/tbb/flow_graph.h>

int main()
{
	oneapi::tbb::flow::graph graph;
	oneapi::tbb::flow::function_node<int, int> node(graph, 1, [](int number) { return number; });

	for (int i = 0; i < 10; i++)
		node.try_put(i);
	graph.wait_for_all();
	for (char **entry = environ; *entry; entry++)
		if (std::strncmp(*entry, "INTEL", 5) == 0)
			return 1;
	return std::system("! env | grep INTEL");
}
