/*
 * follow: a child by fork, which becomes a new image, which has a child by fork. All of
 * them call a function of their own: main, in_child, in_image, in_child_of_image.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL __attribute__((noinline))

static volatile int sum;

CALL static void in_child(void)
{
	sum++;
}

CALL static void in_image(void)
{
	sum++;
}

CALL static void in_child_of_image(void)
{
	sum++;
}

int main(int argc, char **argv)
{
	int is_image = argc > 1 && !strcmp(argv[1], "image");

	if (is_image)
		in_image();
	if (fork() == 0) {
		if (is_image) {
			in_child_of_image();
			_exit(0);
		}
		in_child();
		execl("/proc/self/exe", argv[0], "image", NULL);
	}
	return wait(NULL) < 0;
}
