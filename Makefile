#: make               libfxtagent.so, fxtrun, fxtctl, fxt and the compilers fxt-cc, fxt-c++ into build/
#: make demo          sets everything up, records a program of ours and prints its report
#: make pictures      draws the pictures in README.md anew (with chromium, tmux and aha)
#: make manual        prints the examples of README.md and the manual pages anew, from the traces in doc/manual
#: make site          the manual as static pages of HTML, with search, in build/site (with mandoc and python3)
#: make test          sets everything up, builds, runs all tests, checks the formatting
#: make mpi           libfxtmpi.so, which records calls of MPI, and fxt-gather; for the MPI that mpicc (MPICC=) compiles for
#: make cross         compiles the agent for aarch64 elsewhere (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross)
#: make soak          ten minutes (SOAK=seconds) of what is hardest on the recording of the heap
#: make torture       deaths at random moments, ROUNDS=200 in every buffering mode; HOW= one kind, SEED= the same again;
#:                    then, without HOW, allocations and system calls of our programs that fail, one after the other,
#:                    a million calls of hooks taken out of code that runs, and put back,
#:                    and the test suites of programs of the world, bare and traced (SUITE= one of them alone);
#:                    and redis under load for a minute, with a snapshot of each slow command;
#:                    and 300 times attaching to busy programs
#: make fuzz          ten minutes (FUZZ=seconds) of any bytes as traces, options, requests and shared memory, by clang's engine
#: make bench         what tracing costs here, beside other tracers; less of it: ROWS=, ROUNDS=, CALLS=;
#:                    RESULTS=FILE keeps the table
#: make install       into PREFIX (default /usr/local), below DESTDIR
#: make uninstall     removes what install put there
#: make deb           Debian packages: programs, agent, pages and completion in fxt; files of CMake and pkg-config in fxt-dev
#: make rpm           the same as RPM packages, fxt and fxt-devel
#: make tarball       a directory that runs from anywhere, as .tar.gz
#: make format        clang-format over all sources; make check-format only complains
#: make deps          installs what building needs (Debian, Ubuntu), else names it
#: make clean
#:
#: V=1                shows the commands
#: O=dir              builds into dir
#: CC=clang           compiles with clang (and clang++)
#: DEBUG=1            structures check themselves, and what is not as it must be ends the program; builds into build-debug
#: SAN=address        programs and unit tests with a sanitizer: address, thread, undefined
#: WERROR=1           warnings are errors; so under CI=true, and in make test

VERSION := 0.1.0
O       ?= build$(addprefix -,$(SAN))$(if $(DEBUG),-debug)
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
MANDIR  ?= $(PREFIX)/share/man
DOCDIR  ?= $(PREFIX)/share/doc/fxt
ifeq ($(origin CXX),default)
CXX     := $(if $(findstring clang,$(CC)),clang++,g++)
endif

CFLAGS   ?= -O2 -g
WERROR   ?= $(filter true,$(CI))
WARN      = -Wall -Wextra $(if $(WERROR),-Werror)
BASE      = -std=gnu11 -D_GNU_SOURCE -DFXT_VERSION='"$(VERSION)"' -I. $(WARN) $(if $(DEBUG),-DFXT_DEBUG) -MMD -MP
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all)
# The agent runs inside foreign programs: nothing exported but EXPORT functions, no stack protector (its helper thread has no
# thread control block of its own), no lazy binding in a hook. It is never sanitized: its host may be, or may not.
AGENT    := -fPIC -fvisibility=hidden -fno-stack-protector -fno-plt -fno-tree-slp-vectorize -ftls-model=initial-exec -fno-exceptions
# Calls from the middle of a function save the 128-bit registers, whatever the user's CFLAGS have (agent/hook/saving.h).
AGENT    += $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),-mno-avx)
# How a user builds a program to be traced; so are our test programs and examples.
TRACED   := -O2 -g -finstrument-functions
# The examples leave out the inside of the standard library, where the compiler can.
LESSON   := $(TRACED) -Iinclude $(if $(findstring clang,$(CC) $(CXX)),,-finstrument-functions-exclude-file-list=/usr/include)

Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)	$(2)";)

# Every folder is a library of its objects; a program takes from those before it what it needs (CONTRIBUTING.md, "The tree").
writer_src     := $(wildcard writer/*/*.c)
agent_src      := $(wildcard agent/*/*.c)
reader_src     := $(wildcard reader/*/*.c)
perfetto_src   := $(wildcard perfetto/*.c)
symbolizer_src := $(wildcard symbolizer/*.c)
launcher_src   := $(wildcard launcher/*.c launcher/*/*.c)
fxt_src        := $(wildcard fxt/*.c fxt/*/*.c)
unit_src       := $(wildcard tests/unit/test_*.c)
rig_src        := $(filter-out $(unit_src),$(wildcard tests/unit/*.c))
fuzz_src       := $(wildcard tests/fuzz/fuzz_*.c)
program_src    := $(wildcard tests/programs/*.c tests/programs/*.cc)
folders        := $(wildcard writer/*/) $(wildcard agent/*/) $(wildcard reader/*/) perfetto symbolizer launcher $(wildcard launcher/*/) fxt $(wildcard fxt/*/) wrapper examples bench \
                  include/fxt mpi mpi/gather tests/unit tests/fuzz tests/race tests/real tests/programs $(wildcard tests/programs/*/)
formatted      := $(foreach d,$(folders:/=),$(wildcard $(d)/*.[ch] $(d)/*.cc))

# The names under which builds look for a compiler.
compilers := cc gcc clang c++ g++ clang++

pages := $(sort $(wildcard doc/*.[1-9]))
# Pages with examples in them.
exampled := README.md $(wildcard doc/manual/*.md) $(pages)

obj      = $(patsubst %.c,$(O)/obj/%.o,$(1))
pic      = $(patsubst %.c,$(O)/pic/%.o,$(1))
archives = $(patsubst %,$(O)/%.a,$(1))
units    := $(patsubst tests/unit/%.c,$(O)/tests/%,$(unit_src))
fuzzers  := $(patsubst tests/fuzz/%.c,$(O)/tests/%,$(fuzz_src))
programs := $(patsubst tests/%,$(O)/%,$(basename $(program_src)))
examples := $(addprefix $(O)/,$(basename $(wildcard examples/*.c examples/*.cc)))

.SECONDARY:
.DELETE_ON_ERROR:

.PHONY: all
all: $(O)/libfxtagent.so $(O)/fxtrun $(O)/fxtctl $(O)/fxt $(O)/fxt-cc $(O)/fxt-c++ $(O)/compilers

# No version script: programs ask for libc's own versions of the interposed functions, which only an unversioned symbol
# satisfies.
$(O)/libfxtagent.so: $(call pic,$(writer_src) $(agent_src))
	$(call say,LINK,$@)$(CC) -shared -Wl,-z,initfirst,-z,now,-z,relro,-z,defs,-z,separate-code,--exclude-libs,ALL -Wl,--section-start=.agent_thunks=0x800000 -Wl,-soname,libfxtagent.so $(CFLAGS) -o $@ $(filter %.o,$^)

# It has MPI's library with it wherever it is loaded: its functions would otherwise call nothing in a program that loads MPI late.
MPICC   ?= mpicc
.PHONY: mpi
mpi: $(O)/libfxtmpi.so $(O)/fxt-gather
$(O)/fxt-gather: mpi/gather/fxt_gather.c
	$(Q)mkdir -p $(@D)
	$(call say,MPICC,$@)$(MPICC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(CFLAGS) -o $@ $<
$(O)/libfxtmpi.so: $(wildcard mpi/*.[ch]) include/fxt/trace.h
	$(Q)mkdir -p $(@D)
	$(call say,MPICC,$@)$(MPICC) -std=gnu11 -D_GNU_SOURCE -I. $(WARN) -fPIC -fvisibility=hidden $(CFLAGS) $(shell pkg-config --cflags pmix 2>/dev/null) -shared -Wl,--no-as-needed -Wl,-soname,libfxtmpi.so -o $@ $(filter %.c,$^) -lpthread -ldl

# The libraries of Debian that the archives need.
reading_libs   := -ldw -lelf -liberty -lz -lzstd -lm -lpthread
launching_libs := $(reading_libs) -ljansson -lZydis
asking_libs    := $(reading_libs) -lsqlite3 -ledit -lncursesw

$(O)/fxt: $(call obj,fxt/fxt.c) $(call archives,fxt symbolizer perfetto reader writer)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(asking_libs)

$(O)/fxtrun: $(call obj,launcher/fxtrun/fxtrun.c) $(call archives,launcher symbolizer perfetto reader writer)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(launching_libs)

$(O)/fxtctl: $(call obj,launcher/fxtctl/fxtctl.c) $(call archives,launcher symbolizer perfetto reader writer)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ -ljansson

# Compilers that add the option that makes a program recordable; the name chooses the language.
$(O)/fxt-cc: $(call obj,wrapper/fxt_cc.c)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^
$(O)/fxt-c++: $(O)/fxt-cc
	$(Q)ln -sf fxt-cc $@
# What fxtrun --build puts first in $PATH.
$(O)/compilers: $(O)/fxt-cc
	$(Q)mkdir -p $@ && for name in $(compilers); do ln -sf ../fxt-cc $@/$$name; done && touch $@

$(O)/tests/test_%: $(O)/obj/tests/unit/test_%.o $(call archives,tests/rig fxt launcher symbolizer perfetto reader writer)
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ -lcmocka $(launching_libs) $(asking_libs)

# These need the engine alone, so tests/sanitized compiles nothing else.
$(addprefix $(O)/tests/test_,buffer chunk collect engine snapshot strings): $(O)/tests/test_%: $(O)/obj/tests/unit/test_%.o $(call archives,tests/rig writer)
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ -lcmocka -lpthread

# With the kept inputs alone, or with the engine that thinks of others.
fuzz_libs = $(call archives,fxt launcher symbolizer perfetto reader writer)
$(O)/tests/fuzz_%: $(O)/obj/tests/fuzz/fuzz_%.o $(O)/obj/tests/fuzz/replay.o $(fuzz_libs)
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(launching_libs) $(asking_libs)
$(O)/fuzz/fuzz_%: $(O)/obj/tests/fuzz/fuzz_%.o $(fuzz_libs)
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) -fsanitize=fuzzer -o $@ $^ $(launching_libs) $(asking_libs)

# A test of the agent has libc's functions before the agent's, but for those whose objects it names.
$(O)/tests/test_agent_%: $(O)/obj/tests/unit/test_agent_%.o $(call archives,tests/rig agent writer)
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $(filter %.o,$^) -lcmocka -lc $(filter %.a,$^) -lpthread
$(O)/tests/test_agent_jumps: $(call obj,agent/interpose/jumps.c)

$(O)/tests/rig.a: $(call obj,$(rig_src))
$(O)/agent.a: $(call obj,$(agent_src))
$(O)/writer.a: $(call obj,$(writer_src))
$(O)/reader.a: $(call obj,$(reader_src))
$(O)/perfetto.a: $(call obj,$(perfetto_src))
$(O)/symbolizer.a: $(call obj,$(symbolizer_src))
$(O)/launcher.a: $(call obj,$(launcher_src))
$(O)/fxt.a: $(call obj,$(fxt_src))
$(O)/%.a:
	$(Q)mkdir -p $(@D)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

$(O)/obj/%.o: %.c $(O)/flags
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(BASE) $(SANITIZE) $(CFLAGS) -c -o $@ $<

# These have other files inside of them (fxt/embedded.h).
$(O)/obj/fxt/flame_svg.o: fxt/flamegraph.js fxt/flamegraph.css
$(O)/obj/fxt/html/page.o: $(wildcard fxt/html/*.html fxt/html/*.css fxt/html/*.js)

# Its functions are entered with values in any register.
$(O)/pic/agent/hook/prepared.o $(O)/pic/agent/hook/xray.o: AGENT += -mgeneral-regs-only

$(O)/pic/%.o: %.c $(O)/flags
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(BASE) $(AGENT) $(CFLAGS) -c -o $@ $<

# The compiler and the flags of the objects: others build them again. Until a first build is done, says what it lacks.
$(O)/flags: FORCE
	@[ -e $(O)/fxt ] || tools/deps.sh --name build
	@command -v $(firstword $(CC)) >/dev/null || { echo 'make: no compiler $(firstword $(CC)); make deps installs gcc' >&2 && exit 1; }
	@mkdir -p $(@D)
	@echo '$(CC) $(AGENT) $(SANITIZE) $(if $(DEBUG),-DFXT_DEBUG) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(AGENT) $(SANITIZE) $(if $(DEBUG),-DFXT_DEBUG) $(CFLAGS)' >$@

$(O)/programs/%: tests/programs/%.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(WARN) $(TRACED) -MMD -MP -o $@ $< -pthread

$(O)/programs/%: tests/programs/%.cc
	$(Q)mkdir -p $(@D)
	$(call say,CXX,$<)$(CXX) $(WARN) $(TRACED) -MMD -MP -o $@ $< -pthread

$(O)/examples/%: examples/%.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(WARN) $(LESSON) -MMD -MP -o $@ $< -pthread

$(O)/examples/%: examples/%.cc
	$(Q)mkdir -p $(@D)
	$(call say,CXX,$<)$(CXX) $(WARN) $(LESSON) -MMD -MP -o $@ $< -pthread

# Programs of the world; where their sources cannot be had (status 75) their tests are skipped.
suites := bash jq memcached ninja nginx python redis sed xz zstd
$(addprefix $(O)/real/,lua sqlite3 lua_bare sqlite3_bare $(suites)): tests/real/build tests/real/fetch
	$(call say,BUILD,$@)CC=$(CC) CXX=$(CXX) tests/real/build $(@F) $(@D) || [ $$? = 75 ]

$(O)/real/counter.so: tests/real/counter.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) -D_GNU_SOURCE $(WARN) -O2 -fPIC -shared -o $@ $<

# The Perfetto viewer's importer, speedscope, and DuckDB; where they cannot be had (status 75) their tests are skipped.
judges := $(addprefix $(O)/judges/,trace_processor.wasm speedscope/index.html duckdb/libduckdb.so)
$(O)/judges/trace_processor.wasm: tests/judges/fetch
	$(call say,FETCH,$@)tests/judges/fetch importer $(@D) || [ $$? = 75 ]
$(O)/judges/speedscope/index.html: tests/judges/fetch
	$(call say,FETCH,$@)tests/judges/fetch speedscope $(@D) || [ $$? = 75 ]
$(O)/judges/duckdb/libduckdb.so: tests/judges/fetch
	$(call say,FETCH,$@)tests/judges/fetch duckdb $(@D) || [ $$? = 75 ]

include tests/race/race.mk

.PHONY: unit
unit: $(units)
	$(Q)for t in $(units); do $$t || exit 1; done

.PHONY: deps
deps:
	$(Q)tools/deps.sh build

# On a bare system the compiler appears while deps runs; a make of its own sees it.
remake = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) O=$(O)

.PHONY: demo run-demo
demo:
	$(Q)tools/deps.sh build
	$(Q)$(remake) run-demo
run-demo: all $(O)/examples/raytracer
	$(Q)$(O)/fxtrun -o $(O)/demo.fxt $(O)/examples/raytracer
	@echo
	$(Q)$(O)/fxt report --limit=12 $(O)/demo.fxt
	@echo
	@echo "That was examples/raytracer.cc. To see every call of it on a timeline, go to https://ui.perfetto.dev,"
	@echo "choose \"Open trace file\", and give it $(abspath $(O))/demo.fxt"

# Names of files in them are those of nobody's machine.
.PHONY: pictures
pictures: all
	$(Q)tools/deps.sh build pictures
	$(Q)$(CXX) $(LESSON) -ffile-prefix-map="$(CURDIR)=." -o $(O)/cooks examples/threads.cc -pthread
	$(Q)tools/pictures $(O) doc/pictures

.PHONY: manual
manual: all
	$(Q)tests/manual $(O) --write $(exampled)

.PHONY: site
site:
	$(Q)tools/site $(O)/site

.PHONY: test
test:
	$(Q)tools/deps.sh build test
	$(Q)tools/deps.sh viewer || echo "Testing without some of the programs that read our files."
	$(Q)$(remake) WERROR=1 all $(units) $(fuzzers) $(programs) $(examples) $(addprefix $(O)/real/,lua sqlite3 sed ninja redis counter.so) \
	  $(judges)
	$(Q)! echo '#include <stdio.h>' | aarch64-linux-gnu-gcc -E -o /dev/null - 2>/dev/null || $(remake) cross
	$(Q)tests/run $(O)
	$(Q)$(MAKE) --no-print-directory check-format

# With the whole of writer/: both files that depend on the processor, writer/shared/arch.h and agent/base/arch.h.
.PHONY: cross
cross:
	$(Q)$(MAKE) --no-print-directory CC=aarch64-linux-gnu-gcc O=$(O)/aarch64 WERROR=1 $(O)/aarch64/libfxtagent.so

# In four variants.
SOAK ?= 600
.PHONY: soak
soak: all
	$(Q)FXT_BUILD=$(abspath $(O)) FXT_SOAK_SECONDS=$$(($(SOAK) / 4)) bats --filter 'libraries come and go' tests/e2e/heap.bats

# A failure leaves its files in $(O).
.PHONY: torture
torture: all
	$(Q)$(if $(HOW),,tools/deps.sh build test suites && \
	  $(remake) $(patsubst %,$(O)/real/%,$(filter-out stress-ng,$(or $(SUITE),$(suites)))))
	$(Q)$(if $(SUITE),,cd $(O) && nice $(abspath tests/torture) . $(or $(ROUNDS),200) $(or $(SEED),$$$$) $(HOW))
	$(Q)$(if $(HOW)$(SUITE),,nice tests/failures $(O))
	$(Q)$(if $(HOW)$(SUITE),,$(remake) $(O)/tests/test_agent_patch && FXT_PATCHED=1000000 nice $(O)/tests/test_agent_patch)
	$(Q)$(if $(HOW),,nice tests/suites $(O) $(SUITE))
	$(Q)$(if $(HOW)$(SUITE),,nice tests/snapshots $(O))
	$(Q)$(if $(HOW)$(SUITE),,nice tests/attachments $(O))
	$(Q)$(if $(HOW)$(SUITE),,nice tests/library-counts $(O))

# Inputs that fail are left in $(O)/fuzz. Once the fault is mended, they belong among the inputs that are kept.
FUZZ ?= 600
.PHONY: fuzz run-fuzz
fuzz:
	$(Q)$(MAKE) --no-print-directory CC=clang SAN=fuzzer-no-link,address,undefined O=$(O)/fuzzing run-fuzz
run-fuzz: $(patsubst $(O)/tests/%,$(O)/fuzz/%,$(fuzzers))
	$(Q)for f in $^; do name=$${f##*/fuzz_}; mkdir -p $(O)/fuzz/$$name && \
	  nice $$f -max_total_time=$$(($(FUZZ) / $(words $(fuzzers)))) -timeout=20 -rss_limit_mb=1024 -close_fd_mask=2 -print_final_stats=1 \
	    -artifact_prefix=$(O)/fuzz/$$name- $(O)/fuzz/$$name tests/fuzz/$$name || exit 1; done

.PHONY: bench run-bench
bench:
	$(Q)tools/deps.sh build
	$(Q)tools/deps.sh bench || echo "Measuring without them."
	$(Q)$(remake) run-bench
run-bench: all $(addprefix $(O)/bench/,calls_bare calls calls_prepared calls_100000 hooks_empty.so hooks_floor.so heap_floor.so heap_bare heap waits marks) \
            $(addprefix $(O)/real/,lua lua_bare sqlite3 sqlite3_bare)
	$(Q)python3 -B bench/bench.py $(O) $(if $(ROWS),--rows=$(ROWS)) $(if $(ROUNDS),--rounds=$(ROUNDS)) \
	  $(if $(CALLS),--calls=$(CALLS)) $(if $(RESULTS),--results=$(RESULTS))

$(O)/bench/calls_bare: FLAGS := -O2 -g -DFUNCTIONS=10000
$(O)/bench/calls: FLAGS := $(TRACED) -DINSTRUMENTED -DFUNCTIONS=10000
$(O)/bench/calls_prepared: FLAGS := -O2 -g -fpatchable-function-entry=5 -DFUNCTIONS=10000
$(O)/bench/calls_100000: FLAGS := $(TRACED) -DINSTRUMENTED -DFUNCTIONS=100000
$(addprefix $(O)/bench/,calls_bare calls calls_prepared calls_100000): bench/calls.c bench/many.S
	$(Q)mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(WARN) $(FLAGS) -o $@ $^ -pthread
$(O)/bench/heap_bare: bench/heap.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(WARN) -O2 -o $@ $< -pthread
$(O)/bench/marks: bench/marks.c include/fxt/trace.h
	$(Q)mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(WARN) -O2 -g -I. -o $@ $<
$(addprefix $(O)/bench/,heap waits): $(O)/bench/%: bench/%.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(WARN) $(TRACED) -o $@ $< -pthread
$(O)/bench/%.so: bench/%.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(BASE) $(AGENT) -fvisibility=default $(CFLAGS) -shared -o $@ $<

include tools/install.mk

CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14) clang-format)

.PHONY: format check-format
format:
	$(CLANG_FORMAT) -i $(formatted)
check-format:
	$(Q)$(CLANG_FORMAT) --dry-run -Werror $(formatted)

.PHONY: help clean FORCE
help:
	@sed -n 's/^#: \{0,1\}//p' Makefile
clean:
	rm -rf $(O)
FORCE:

-include $(shell find $(O) -path $(O)/real -prune -o -type f -name '*.d' -print 2>/dev/null)
