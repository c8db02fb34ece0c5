/* The macros of <fxt/markers.h>, for C and C++. */
#include <fxt/markers.h>

static int zone(int n)
{
	ZoneScoped;
	{
		ZoneScopedN("inner");
		n++;
	}
	for (int i = 0; i < 3; i++) {
		ZoneScopedNC("coloured", 0xff0000);
		if (i == 1)
			continue;
	}
	return n;
}

int main(void)
{
	const char *text = "from a variable";
	nvtxRangeId_t id;
	int n = zone(1);

	nvtxNameOsThreadA(0, "nvtx thread");
	FrameMark;
	FrameMarkNamed("present");
	FrameMarkStart("load");
	FrameMarkEnd("load");
	TracyPlot("queue", n);
	TracyMessageL("a line");
	TracyMessage(text, 4);
	nvtxRangePushA(text);
	nvtxMarkA("here");
	nvtxRangePop();
	id = nvtxRangeStartA("far");
	nvtxRangeEnd(id);
	return n == 2 ? 0 : 1;
}
