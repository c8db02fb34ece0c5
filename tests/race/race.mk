# The engine once more, with its fail points (writer/shared/failpoint.h), and the replays that step in there. Included by the
# Makefile behind the definition of `units`.
race_obj := $(patsubst %.c,$(O)/race/%.o,$(writer_src) $(rig_src) tests/race/test_race.c)
units    += $(O)/tests/test_race

$(O)/tests/test_race: $(race_obj)
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ -lcmocka -lpthread

$(O)/race/%.o: %.c $(O)/flags
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(BASE) -DFXT_FAIL_POINTS $(SANITIZE) $(CFLAGS) -c -o $@ $<
