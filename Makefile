# libslimpack: plans the steps of variable-length LLM training.
#
#   make            libraries into lib/, program into build/slimpack
#   make demo       builds, and plans a generated batch
#   make check      all tests; make check-full: more of them; make bench: all measurements
#   make check-abi, check-oom, analyse: the ABI of 1.0; failing allocations; clang-tidy and cppcheck
#   make check-asan, make check-tsan: the tests, or the threaded ones, under sanitizers
#   make fuzz       FUZZ_RUNS=20000 FUZZ_SECONDS=20: random inputs to what reads inputs, under sanitizers
#   make soak       SOAK_CASES=1000000 SOAK_FIRST=0: random plans, held against all invariants
#   make install    PREFIX=/usr/local DESTDIR= LIBDIR= INCLUDEDIR= BINDIR= MANDIR= DATADIR= PYTHON=python3 PYTHONDIR=
#
# V=1 shows commands, WERROR=1 makes warnings errors, B=dir builds elsewhere,
# libraries included: make B=build-asan CFLAGS='-g -fsanitize=address'.

CFLAGS  ?= -O3 -g
B       ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
BINDIR  ?= $(PREFIX)/bin
INCLUDEDIR ?= $(PREFIX)/include
PYTHON  ?= python3
# The folder below PREFIX where that python looks for packages of its own accord.
PYTHONDIR ?= $(shell $(or $(PYTHON),false) src/python/where.py '$(PREFIX)' 2>/dev/null)

# ---- what is built from what

version_part = $(shell sed -n 's/^.define SP_VERSION_$(1) \([0-9]*\).*/\1/p' include/slimpack.h)
MAJOR   := $(call version_part,MAJOR)
VERSION := $(MAJOR).$(call version_part,MINOR).$(call version_part,PATCH)

LIB_SRC := $(sort $(filter-out src/cli/%,$(wildcard src/*/*.c)))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)

# The page of `slimpack report`: report.html with the parts that it includes, as C.
PAGE     := $(wildcard src/cli/report.html src/cli/report/*)
PAGE_SRC := $(B)/src/cli/report_page.c
PAGE_OBJ := $(PAGE_SRC:.c=.o)

# A build elsewhere keeps its libraries to itself.
ifeq ($(B),build)
L := lib
else
L := $(B)/lib
endif
ARCHIVE := $(L)/libslimpack.a
SHARED  := $(L)/libslimpack.so.$(VERSION)
PROGRAM := $(B)/slimpack

WARN    := -Wall -Wextra -Wpedantic -Wshadow $(if $(WERROR),-Werror)
LIB_WARN := -Wconversion -Wvla -Walloca $(if $(findstring sanitize,$(CFLAGS)),,-Wframe-larger-than=17408)
ALL_CFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L $(WARN) -Isrc -Iinclude $(CPPFLAGS) $(CFLAGS)
LIBS    := -lm -lpthread

# The program's JSON is jansson's; without it the program says so.
HAVE_JANSSON := $(shell echo 'int json_null(void); int main(void) { return json_null(); }' | \
    $(CC) -x c - -ljansson -o /dev/null 2>/dev/null && echo 1)
JANSSON_CFLAGS := $(if $(HAVE_JANSSON),-DSP_HAVE_JANSSON)
JANSSON_LIBS   := $(if $(HAVE_JANSSON),-ljansson)

# Objects remember how they were built: other flags build them again, and so does
# the first WERROR=1 after a build that let warnings pass.
BUILT_WITH := $(strip $(CC) $(CXX) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS))
HOW     := $(B)/flags $(if $(WERROR),$(B)/werror)
lenient  = $(if $(WERROR),,@rm -f $(B)/werror)

Q   := $(if $(V),,@)
say  = $(if $(V),:,printf '  %-6s %s\n')

.PHONY: all lib demo check check-full check-abi check-oom analyse coverage measured check-valgrind check-build check-run check-asan check-tsan threaded print-tests bench deps deps-check install install-python uninstall \
    soak fuzz fuzz-try fuzz-run fuzz-seeds docs clean force
.DELETE_ON_ERROR:

all: lib $(PROGRAM)
	@:
lib: $(ARCHIVE) $(L)/libslimpack.so

# ---- library and program

ifneq ($(BUILT_WITH),$(strip $(file <$(B)/flags)))
$(B)/flags: force
endif
$(B)/flags:
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(BUILT_WITH))' > $@

$(B)/werror:
	@mkdir -p $(@D) && touch $@

$(LIB_OBJ): $(B)/%.o: %.c $(HOW)
	@mkdir -p $(@D)
	$(lenient)
	@$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(LIB_WARN) -fPIC -fvisibility=hidden -MMD -MP -c $< -o $@

# Objects remember whether JSON was there, so that it can be installed later.
$(B)/jansson-$(HAVE_JANSSON):
	@mkdir -p $(@D) && rm -f $(B)/jansson-* && touch $@

$(CLI_OBJ): $(B)/%.o: %.c $(B)/jansson-$(HAVE_JANSSON) $(HOW)
	@mkdir -p $(@D)
	$(lenient)
	@$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(JANSSON_CFLAGS) -MMD -MP -c $< -o $@

# A string for each line: compilers need not take long ones. ?? would be a trigraph.
$(PAGE_SRC): $(PAGE) Makefile
	@mkdir -p $(@D)
	@$(say) PAGE $<
	$(Q){ echo '#include "page.h"' && echo 'const char *const cli_page_lines[] = {' && \
	    awk '/^@include / { while ((getline part < ("src/cli/" $$2)) > 0) print part; next } { print }' \
	        src/cli/report.html | \
	    sed -e 's/[\\"?]/\\&/g' -e 's/^/    "/' -e 's/$$/\\n",/' && echo '    NULL };'; } > $@

$(PAGE_OBJ): $(PAGE_SRC) $(HOW)
	$(lenient)
	@$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -Isrc/cli -MMD -MP -c $< -o $@

$(ARCHIVE): $(LIB_OBJ)
	@mkdir -p $(@D)
	@$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

# A shared object exports what lib/slimpack.map lists and nothing else.
$(SHARED): $(LIB_OBJ) lib/slimpack.map
	@mkdir -p $(@D)
	@$(say) LINK $@
	$(Q)$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-soname,libslimpack.so.$(MAJOR) \
	    -Wl,--version-script,lib/slimpack.map $(if $(findstring sanitize,$(LDFLAGS)),,-Wl,-z,defs) -o $@ $(LIB_OBJ) $(LIBS)

$(L)/libslimpack.so: $(SHARED)
	$(Q)ln -sf libslimpack.so.$(VERSION) $(L)/libslimpack.so.$(MAJOR)
	$(Q)ln -sf libslimpack.so.$(MAJOR) $@ && touch -h $@

MANUAL := $(B)/slimpack.1

$(MANUAL): docs/slimpack.1 src/cli/manual.sh $(PROGRAM)
	@$(say) MAN $@
	$(Q)sh src/cli/manual.sh $(PROGRAM) $(VERSION) < $< > $@

$(PROGRAM): $(CLI_OBJ) $(PAGE_OBJ) $(ARCHIVE)
	@$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(CLI_OBJ) $(PAGE_OBJ) $(ARCHIVE) $(JANSSON_LIBS) $(LIBS)

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(PAGE_OBJ:.o=.d)

# ---- packages: by apt where that may be, else their names

deps:
	@sh tests/deps.sh optional libjansson-dev:jansson.h

deps-check:
	@sh tests/deps.sh required libcmocka-dev:cmocka.h \
	    optional libjansson-dev:jansson.h g++:@g++ clang:@clang++ libglpk-dev:glpk.h libsimgrid-dev:simgrid/forward.h \
	    libopenmpi-dev:@mpicc openmpi-bin:@mpirun pkgconf:@pkg-config cmake:@cmake doxygen:@doxygen chromium:@chromium abigail-tools:@abidiff

# ---- the main job

DEMO := --dp 4 --tp 8 --pp 4 --model llama2-7b --device h100

demo:
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory all
	@$(PROGRAM) generate --distribution lognormal:1800,1.5,262144 --count 512 --seed 1 > $(B)/demo.txt
	@echo && echo "$(PROGRAM) plan $(B)/demo.txt $(DEMO)" && $(PROGRAM) plan $(B)/demo.txt $(DEMO)

# ---- tests: one program for each file, one count of them all

UNIT     := $(patsubst tests/%.c,%,$(wildcard tests/unit/*.c))
PROPERTY := $(patsubst tests/%.c,%,$(wildcard tests/property/test_*.c))
EXAMPLES := $(patsubst docs/examples/%.c,examples/%,$(wildcard docs/examples/*.c))
PROGRAMS := $(UNIT) $(PROPERTY)
FUZZ     := $(patsubst tests/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

# Oracles are libraries that judge ours from outside; a test without its own is skipped.
has = $(shell printf '%s' '$(2)' | $(CC) -x c - $(1) -o /dev/null 2>/dev/null && echo 1)
ORACLE_glpk := $(call has,-lglpk,int glp_version(void); int main(void) { return glp_version() != 0; })
ORACLE_simgrid := $(shell printf '\043if !__has_include(<simgrid/s4u.hpp>)\n\043error\n\043endif\n' | \
    $(CXX) -std=c++17 -x c++ -fsyntax-only - 2>/dev/null && echo 1)
ORACLES := $(if $(ORACLE_glpk),oracle/test_glpk) $(if $(ORACLE_simgrid),oracle/test_simgrid)
NO_ORACLES := $(filter-out $(ORACLES),oracle/test_glpk oracle/test_simgrid)
SCRIPTS  := $(wildcard $(patsubst %,tests/%/*.sh,lint cli examples mpi install docs browser python property oom)) tests/abi/abi.sh \
    $(if $(CHECK_FUZZ),tests/fuzz/bounded.sh)
# Programs of several processes, where Open MPI is; their script says when it is not.
MPICC    ?= mpicc
MPI      := $(if $(shell command -v $(MPICC)),$(patsubst tests/%.c,%,$(wildcard tests/mpi/*.c)) mpi/executor/executor)
SUPPORT  := $(patsubst %.c,$(B)/%.o,$(wildcard tests/support/*.c))

$(SUPPORT): $(B)/%.o: %.c $(HOW)
	@mkdir -p $(@D)
	$(lenient)
	@$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(PROGRAMS:%=$(B)/tests/%): $(B)/tests/%: tests/%.c $(SUPPORT) $(ARCHIVE)
	@mkdir -p $(@D)
	@$(say) TEST $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $< $(SUPPORT) $(ARCHIVE) -lcmocka $(LIBS) $(LDFLAGS) -o $@

# Fuzz targets: check drives them over their seeds, fuzz by libFuzzer. Some see the
# program's readers, and one the digests that the library computes.
FUZZ_DRIVER := tests/fuzz/replay.c
FUZZ_CLI := $(filter-out %/main.o,$(CLI_OBJ)) $(PAGE_OBJ)

$(FUZZ:%=$(B)/tests/%) $(B)/tests/fuzz/seeds: $(B)/tests/fuzz/%: tests/fuzz/%.c tests/fuzz/replay.c \
    $(wildcard tests/fuzz/*.h tests/support/*.h) \
    $(SUPPORT) $(FUZZ_CLI) $(ARCHIVE) $(B)/jansson-$(HAVE_JANSSON)
	@mkdir -p $(@D)
	@$(say) FUZZ $<
	$(Q)$(CC) $(ALL_CFLAGS) $(JANSSON_CFLAGS) $< $(FUZZ_DRIVER) $(FUZZ_LINK) $(SUPPORT) $(FUZZ_CLI) \
	    $(ARCHIVE) $(JANSSON_LIBS) -lcmocka $(LIBS) $(LDFLAGS) -o $@

$(B)/tests/fuzz/fuzz_decode: FUZZ_LINK := -Wl,--wrap=sp_schedule_digest
$(B)/tests/fuzz/seeds: FUZZ_DRIVER :=

# Examples see what a user sees: the public header and the library.
$(EXAMPLES:%=$(B)/%): $(B)/examples/%: docs/examples/%.c $(ARCHIVE)
	@mkdir -p $(@D)
	@$(say) CC $<
	$(Q)$(CC) -std=c11 $(WARN) -Iinclude $(CFLAGS) $< $(ARCHIVE) $(LIBS) $(LDFLAGS) -o $@

$(B)/tests/oracle/test_glpk: tests/oracle/test_glpk.c $(SUPPORT) $(ARCHIVE)
	@mkdir -p $(@D)
	@$(say) TEST $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $< $(SUPPORT) $(ARCHIVE) -lglpk -lcmocka $(LIBS) $(LDFLAGS) -o $@

$(B)/tests/oracle/test_simgrid: tests/oracle/test_simgrid.cc $(SUPPORT) $(ARCHIVE)
	@mkdir -p $(@D)
	@$(say) TEST $<
	$(Q)$(CXX) -std=c++17 -Wall -Wextra $(if $(WERROR),-Werror) -Isrc -Iinclude $(CFLAGS) -MMD -MP $< $(SUPPORT) \
	    $(ARCHIVE) -lsimgrid -lcmocka $(LIBS) $(LDFLAGS) -o $@

$(patsubst %,$(B)/tests/%,$(filter-out mpi/executor/%,$(MPI))): $(B)/tests/%: tests/%.c $(ARCHIVE)
	@mkdir -p $(@D)
	@$(say) TEST $<
	$(Q)OMPI_CC="$(CC)" $(MPICC) -std=c11 $(WARN) -Iinclude $(CFLAGS) $< $(ARCHIVE) $(LIBS) $(LDFLAGS) -o $@

$(B)/tests/mpi/executor/executor: $(wildcard tests/mpi/executor/*.c tests/mpi/executor/*.h) $(ARCHIVE)
	@mkdir -p $(@D)
	@$(say) TEST $(dir $<)
	$(Q)OMPI_CC="$(CC)" $(MPICC) -std=c11 $(WARN) -Iinclude $(CFLAGS) $(filter %.c,$^) $(ARCHIVE) $(LIBS) $(LDFLAGS) -o $@

-include $(SUPPORT:.o=.d) $(PROGRAMS:%=$(B)/tests/%.d)

# What check runs, for the lint that looks for files it does not.
print-tests:
	@echo $(PROGRAMS) $(FUZZ) $(ORACLES) $(NO_ORACLES) $(EXAMPLES) $(SCRIPTS) $(patsubst tests/%.c,%,$(wildcard tests/mpi/*.c))

check-build: all $(PROGRAMS:%=$(B)/tests/%) $(FUZZ:%=$(B)/tests/%) $(B)/tests/fuzz/seeds $(ORACLES:%=$(B)/tests/%) $(MPI:%=$(B)/tests/%) \
    $(EXAMPLES:%=$(B)/%)

# Which oracles there are is asked anew once their packages are installed.
check:
	@$(MAKE) --no-print-directory deps-check
	@$(MAKE) --no-print-directory WERROR=1 check-run

check-run: check-build
	@B=$(B) L=$(L) CC="$(CC)" CXX="$(CXX)" PYTHON="$(PYTHON)" SLIMPACK=$(PROGRAM) TEST_WRAPPER="$(TEST_WRAPPER)" SANITIZE="$(LDFLAGS)" \
	    NO_ORACLES="$(NO_ORACLES)" \
	    sh tests/run.sh $(PROGRAMS:%=$(B)/tests/%) $(FUZZ:%=$(B)/tests/%) $(ORACLES:%=$(B)/tests/%) $(EXAMPLES:%=$(B)/%) $(SCRIPTS)

check-abi: all
	@B=$(B) L=$(L) CC="$(CC)" sh tests/run.sh tests/abi/abi.sh tests/lint/exports.sh tests/lint/header.sh

# Every allocation fails in turn: in a session of all public functions, in each handle's
# own tests, and in each verb of the program.
OOM := $(patsubst tests/%.c,%,$(shell grep -lE 'failing_alloc_init' tests/unit/*.c))

check-oom: all $(OOM:%=$(B)/tests/%)
	@B=$(B) L=$(L) CC="$(CC)" SLIMPACK=$(PROGRAM) sh tests/run.sh $(OOM:%=$(B)/tests/%) tests/oom/program.sh

# clang-tidy and cppcheck over src; minutes, so no part of check.
analyse:
	@JANSSON_CFLAGS="$(JANSSON_CFLAGS)" sh tests/analyse.sh

check-full: check
	@B=$(B) sh tests/mpi/executor.sh --full
	@SLIMPACK_CASES=20000 $(B)/tests/property/test_invariants

# A million random cases take about half an hour on two cores.
SOAK_CASES ?= 1000000
SOAK_FIRST ?= 0

soak: $(B)/tests/property/test_invariants
	@B=$(B) SOAK_CASES=$(SOAK_CASES) SOAK_FIRST=$(SOAK_FIRST) sh tests/soak.sh

# ---- the same under sanitizers, built apart

THREADED := unit/test_threads unit/test_async unit/test_plan unit/test_planner property/test_invariants

check-asan:
	@$(MAKE) --no-print-directory deps-check
	@$(MAKE) --no-print-directory B=build/asan WERROR=1 CFLAGS="-O1 -g -fsanitize=address,undefined \
	    -fno-sanitize-recover=undefined" LDFLAGS="-fsanitize=address,undefined" MPI= check-run

check-tsan:
	@$(MAKE) --no-print-directory deps-check
	@$(MAKE) --no-print-directory B=build/tsan WERROR=1 CFLAGS="-O1 -g -fsanitize=thread" \
	    LDFLAGS="-fsanitize=thread" threaded

# A subset, since valgrind takes fifty times as long: what nobody initialised, and leaks. Not of
# test_async, whose forked child leaves a queue alone that its parent may have held locked.
GRIND := $(patsubst %,unit/test_%,alloc arena batch builder fit model plan planner query simulation topology writer)

check-valgrind: $(GRIND:%=$(B)/tests/%)
	@TEST_WRAPPER="valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite" \
	    sh tests/run.sh $(GRIND:%=$(B)/tests/%)

# Lines of src that unit and property tests run, the program's apart; needs lcov.
coverage:
	@$(MAKE) --no-print-directory B=build/coverage CFLAGS="-O0 -g --coverage -fprofile-update=atomic" \
	    LDFLAGS=--coverage MPI= measured
	@lcov --quiet --capture --directory build/coverage/src --output-file build/coverage/all.info 2>/dev/null
	@lcov --quiet --extract build/coverage/all.info '*/src/*' --output-file build/coverage/src.info
	@lcov --quiet --remove build/coverage/src.info '*/src/cli/*' --output-file build/coverage/lib.info
	@lcov --list build/coverage/lib.info 2>/dev/null | grep -E '%' | sort -t'|' -k2 -n
	@lcov --summary build/coverage/lib.info 2>&1 | grep lines

measured: $(PROGRAMS:%=$(B)/tests/%)
	@SLIMPACK_CASES=500 sh tests/run.sh $(PROGRAMS:%=$(B)/tests/%) | tail -n 1

threaded: $(THREADED:%=$(B)/tests/%)
	@sh tests/run.sh $(THREADED:%=$(B)/tests/%)

# ---- fuzzing: clang's, where it is, built apart

FUZZ_CC   ?= clang
FUZZ_RUNS ?= 20000
FUZZ_SECONDS ?= 20
FUZZ_FLAGS ?=
FUZZ_SANITIZE := address,undefined,float-cast-overflow
fuzz_ready = $(shell echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
    $(FUZZ_CC) -x c - -fsanitize=fuzzer,$(FUZZ_SANITIZE) -o /dev/null 2>/dev/null && echo 1)

# Every comparison of what searches is traced in vain, and takes two thirds of the time.
$(filter $(foreach f,plan partition simulate slice exact cost,$(B)/src/$(f)/%),$(LIB_OBJ)): ALL_CFLAGS += $(FUZZ_SEARCH)

fuzz:
	@sh tests/deps.sh required libcmocka-dev:cmocka.h optional clang:@clang \
	    libclang-rt-14-dev:/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux
	@$(MAKE) --no-print-directory fuzz-try

fuzz-try:
	@if [ -z "$(fuzz_ready)" ]; then \
	    echo "skipped: make fuzz needs $(FUZZ_CC) and its runtime (packages clang and libclang-rt-dev)"; else \
	    $(MAKE) --no-print-directory B=build/fuzz CC=$(FUZZ_CC) FUZZ_DRIVER=-fsanitize=fuzzer \
	    FUZZ_SEARCH=-fno-sanitize-coverage=trace-cmp \
	    CFLAGS="-O1 -g -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZE) -fno-sanitize-recover=all" \
	    LDFLAGS="-fsanitize=$(FUZZ_SANITIZE)" fuzz-run; fi

fuzz-run: $(FUZZ:%=$(B)/tests/%)
	@B=$(B) FUZZ_RUNS=$(FUZZ_RUNS) FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_FLAGS="$(FUZZ_FLAGS)" \
	    sh tests/fuzz/fuzz.sh $(FUZZ:%=$(B)/tests/%)

fuzz-seeds: $(B)/tests/fuzz/seeds $(PROGRAM)
	@B=$(B) SLIMPACK=$(PROGRAM) sh tests/fuzz/seeds.sh

# ---- measurements

BENCH := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/bench/bench_*.c))

$(BENCH): $(B)/tests/%: tests/%.c $(wildcard tests/bench/*.h) tests/support/data_files.h $(ARCHIVE)
	@mkdir -p $(@D)
	@$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $< $(ARCHIVE) $(LIBS) $(LDFLAGS) -o $@

bench: all $(BENCH) $(MPI:%=$(B)/tests/%)
	@for b in $(BENCH); do $$b || exit 1; done
	@B=$(B) sh tests/mpi/replay.sh --bench

# ---- installed files

MANDIR  ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share
CMAKEDIR := $(LIBDIR)/cmake/slimpack
BASHDIR := $(DATADIR)/bash-completion/completions
ZSHDIR  := $(DATADIR)/zsh/site-functions
TO_INCLUDE = $(shell realpath -m --relative-to='$(CMAKEDIR)' '$(INCLUDEDIR)' 2>/dev/null || echo '$(INCLUDEDIR)')
below_prefix = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
FILLED  = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(call below_prefix,$(LIBDIR))|' \
    -e 's|@INCLUDEDIR@|$(call below_prefix,$(INCLUDEDIR))|' -e 's|@VERSION@|$(VERSION)|' \
    -e 's|@MAJOR@|$(MAJOR)|' -e 's|@TO_INCLUDE@|$(TO_INCLUDE)|'
INSTALLED := $(INCLUDEDIR)/slimpack.h $(LIBDIR)/libslimpack.a $(LIBDIR)/libslimpack.so \
    $(LIBDIR)/libslimpack.so.$(MAJOR) $(LIBDIR)/libslimpack.so.$(VERSION) $(LIBDIR)/pkgconfig/slimpack.pc \
    $(CMAKEDIR)/slimpackConfig.cmake $(CMAKEDIR)/slimpackConfigVersion.cmake $(BINDIR)/slimpack \
    $(MANDIR)/man1/slimpack.1 $(BASHDIR)/slimpack $(ZSHDIR)/_slimpack

PYTHON_SRC := $(wildcard src/python/slimpack/*.py src/python/slimpack/py.typed)

install: all install-python $(MANUAL)
	install -d $(sort $(dir $(addprefix $(DESTDIR),$(INSTALLED))))
	install -m 644 include/slimpack.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(ARCHIVE) $(DESTDIR)$(LIBDIR)
	install -m 755 $(SHARED) $(DESTDIR)$(LIBDIR)
	ln -sf libslimpack.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libslimpack.so.$(MAJOR)
	ln -sf libslimpack.so.$(MAJOR) $(DESTDIR)$(LIBDIR)/libslimpack.so
	$(FILLED) pkgconfig/slimpack.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/slimpack.pc
	$(FILLED) pkgconfig/slimpackConfig.cmake.in > $(DESTDIR)$(CMAKEDIR)/slimpackConfig.cmake
	$(FILLED) pkgconfig/slimpackConfigVersion.cmake.in > $(DESTDIR)$(CMAKEDIR)/slimpackConfigVersion.cmake
	install -m 755 $(PROGRAM) $(DESTDIR)$(BINDIR)
	install -m 644 $(MANUAL) $(DESTDIR)$(MANDIR)/man1
	install -m 644 src/cli/completion/slimpack.bash $(DESTDIR)$(BASHDIR)/slimpack
	install -m 644 src/cli/completion/_slimpack $(DESTDIR)$(ZSHDIR)

# The folder is asked for once: make's own word for it would ask at every use.
install-python:
	@dir="$(PYTHONDIR)"; if [ -n "$$dir" ]; then \
	    echo "install -m 644 $(PYTHON_SRC) $(DESTDIR)$$dir/slimpack" && \
	    install -d "$(DESTDIR)$$dir/slimpack" && install -m 644 $(PYTHON_SRC) "$(DESTDIR)$$dir/slimpack"; \
	else echo "no python3: its package is not installed"; fi

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	-rmdir $(DESTDIR)$(CMAKEDIR) 2>/dev/null
	@dir="$(PYTHONDIR)"; if [ -n "$$dir" ]; then \
	    echo "rm -rf $(DESTDIR)$$dir/slimpack" && rm -rf "$(DESTDIR)$$dir/slimpack"; fi

docs:
	@command -v doxygen >/dev/null || { echo "make docs: install the package doxygen"; exit 1; }
	$(Q)mkdir -p $(B)/docs && OUT=$(B)/docs VERSION=$(VERSION) doxygen docs/Doxyfile
	$(Q)mkdir -p $(B)/docs/html/pictures && cp docs/pictures/*.svg $(B)/docs/html/pictures
	@echo "  SITE   $(B)/docs/html/index.html"

clean:
	rm -rf $(B) lib/libslimpack.a lib/libslimpack.so*
