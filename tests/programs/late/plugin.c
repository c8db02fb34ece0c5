/* Loaded while the program is recorded. */
int plugged(int number);

int plugged(int number)
{
	return number + 1;
}
