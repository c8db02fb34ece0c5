# fxt: make help tells what there is.

CC       ?= cc
O        ?= build
PREFIX   ?= /usr/local
VERSION  := 0.1.0

CFLAGS   ?= -O2 -g
WARN     := -Wall -Wextra -Werror
BASE     := -std=gnu11 -D_GNU_SOURCE -DFXT_VERSION='"$(VERSION)"' -I. $(WARN) -MMD -MP $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all)
# The agent runs inside foreign programs: nothing exported but agent.map, no stack protector (its helper thread has no
# thread control block of its own), no lazy binding in a hook.
AGENT    := -fPIC -fvisibility=hidden -fno-stack-protector -fno-plt -ftls-model=initial-exec -fno-exceptions

Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)	$(2)";)

writer_src     := $(wildcard writer/*.c)
agent_src      := $(wildcard agent/*.c)
reader_src     := $(filter-out reader/fxt.c,$(wildcard reader/*.c))
symbolizer_src := $(wildcard symbolizer/*.c)
launcher_src   := $(filter-out launcher/fxtrun.c,$(wildcard launcher/*.c))
unit_src       := $(wildcard tests/unit/test_*.c)

obj   = $(patsubst %.c,$(O)/obj/%.o,$(1))
pic   = $(patsubst %.c,$(O)/pic/%.o,$(1))
units := $(patsubst tests/unit/%.c,$(O)/tests/%,$(unit_src))

.PHONY: all
all: $(O)/libfxtagent.so $(O)/fxtrun $(O)/fxt

$(O)/libfxtagent.so: $(call pic,$(writer_src) $(agent_src)) agent/agent.map
	$(call say,LINK,$@)$(CC) -shared -Wl,-z,now,-z,relro,-z,defs,--version-script=agent/agent.map -Wl,-soname,libfxtagent.so $(CFLAGS) -o $@ $(filter %.o,$^)

$(O)/fxt: $(call obj,reader/fxt.c $(reader_src) $(symbolizer_src) $(writer_src))
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(if $(SAN),-fsanitize=$(SAN)) -o $@ $^ -ldw -lelf -liberty

$(O)/fxtrun: $(call obj,launcher/fxtrun.c $(launcher_src) $(symbolizer_src) $(reader_src) $(writer_src))
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(if $(SAN),-fsanitize=$(SAN)) -o $@ $^ -ldw -lelf -liberty -lpthread

$(O)/tests/%: $(O)/obj/tests/unit/%.o $(call obj,$(launcher_src) $(symbolizer_src) $(reader_src) $(writer_src))
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(if $(SAN),-fsanitize=$(SAN)) -o $@ $^ -lcmocka -ldw -lelf -liberty -lpthread

$(O)/obj/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(BASE) $(CFLAGS) -c -o $@ $<

$(O)/pic/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(filter-out -fsanitize=%,$(BASE)) $(AGENT) $(CFLAGS) -c -o $@ $<

.PHONY: unit
unit: $(units)
	$(Q)for t in $(units); do $$t || exit 1; done

.PHONY: clean
clean:
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
