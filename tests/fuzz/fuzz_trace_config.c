/*
 * Any text as the configuration that a controller sends.
 */
#include "launcher/control/trace_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct fxt_options options;
	static char wrong[256];
	json_t *config = json_loadb((const char *)data, bytes, 0, NULL);

	fxt_options_default(&options);
	if (json_is_object(config))
		fxt_trace_config_read(config, &options, wrong, sizeof(wrong));
	fxt_record_filter_free(&options.filter);
	json_decref(config);
	return 0;
}
