# Compiles gen/, calc/ and kernels/; ./build.sh is the entry that installs tools and calls this.
# make [BUILD=build] [MODE=release|check|fuzz] [CFLAGS=...] [all|tests|install|uninstall|clean|FILE]
# A new source file needs no entry here: its folder and name say what it belongs to.
# The one version: that of the library's header.
VERSION := $(shell sed -n 's/^.define VRAM_VERSION "\(.*\)"/\1/p' calc/vram/base.h)
# The parts of the public header, in its order.
VRAM_HEADERS := $(shell sed -n 's,^.include "\(.*\)",calc/\1,p' calc/vram.h)
# No rule that make brings along is wanted; it looked for one at each of thousands of headers.
MAKEFLAGS += --no-builtin-rules
BUILD ?= build
MODE ?= release
CC := gcc
prefix ?= /usr/local
DESTDIR ?=

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror=incompatible-pointer-types
release_FLAGS := -O2 -g
check_FLAGS := -Og -g3 -fsanitize=address,undefined -fno-sanitize-recover=undefined -DBASE_HOSTILE -Werror
fuzz_FLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
ifeq ($(MODE),fuzz)
CC := clang
endif
CFLAGS ?=
PACKAGES := libcmark-gfm lua5.4 yaml-0.1 jansson icu-i18n icu-uc
PC_CFLAGS := $(shell pkg-config --cflags $(PACKAGES))
# The headers of an object are written down for it by both of its names: BUILD may be absolute in one run and relative in the next.
NAMES = $(sort $@ $(abspath $@) $(patsubst $(CURDIR)/%,%,$(abspath $@)))
DEPENDENCIES = -MMD -MP -MT '$(NAMES)'
ALL_FLAGS = -std=c11 -D_GNU_SOURCE -I. $(WARN) $($(MODE)_FLAGS) $(PC_CFLAGS) $(CFLAGS)
GEN_LIBS := -lcmark-gfm-extensions $(shell pkg-config --libs $(PACKAGES)) -lstemmer -lz -lm -ldl

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
# Of the probe the generator reads the records, of the estimator it has the reader of TOML.
GEN := $(filter-out gen/main.c,$(wildcard gen/*.c gen/*/*.c gen/*/*/*.c)) $(wildcard kernels/record/*.c calc/toml/*.c)
CLI := $(wildcard calc/cli/*.c)
LUA := $(wildcard calc/lua/*.c)
WASM := $(wildcard calc/wasm/*.c)
PYTHON := $(wildcard calc/python/*.c)
CORE := $(filter-out $(CLI) $(LUA) $(WASM) $(PYTHON),$(wildcard calc/*.c calc/*/*.c))
TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c))
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))

# What the tools of this machine cannot make is left out, with one line each.
NVCC := $(firstword $(shell command -v nvcc) $(wildcard $(CUDA_HOME)/bin/nvcc /usr/local/cuda/bin/nvcc))
# The page's modules are the same in every MODE: the release build makes them.
WASM_LD := $(if $(filter check,$(MODE)),,$(firstword $(shell command -v wasm-ld || command -v wasm-ld-14)))
WASM_RT := $(firstword $(wildcard $(shell clang -print-resource-dir 2>/dev/null)/lib/*/libclang_rt.builtins-wasm32.a \
	/usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a))
PARTS := vramdoc vramcalc libvram.a $(if $(WASM_LD),vram.wasm vram-whole.wasm) $(if $(NVCC),vramprobe)

PAGE_MODULES := $(foreach m,vram vram-whole,templates/$(m).wasm templates/$(m).wasm.js)
SENTENCES := $(patsubst i18n/calculator/%.json,templates/sentences.%.js,$(wildcard i18n/calculator/*.json))

all: skipped $(addprefix $(BUILD)/,$(PARTS) templates i18n) \
	$(if $(filter vram.wasm,$(PARTS)),$(PAGE_MODULES) templates/vram.js) $(SENTENCES)

# A program finds templates and words beside itself, wherever BUILD is; in a copy of a checkout those of the copy.
$(BUILD)/templates $(BUILD)/i18n: FORCE
	@mkdir -p $(BUILD)
	@[ "$$(readlink $@)" = "$(CURDIR)/$(@F)" ] || ln -sfn "$(CURDIR)/$(@F)" $@

skipped:
	@$(if $(WASM_LD)$(filter check,$(MODE)),:,echo "wasm-ld is not there: vram.wasm is skipped")
	@$(if $(NVCC),:,echo "nvcc is not there: the probe is skipped")

# What an object was compiled with is in a file beside the objects, which is written when it is no longer the same: an object
# made with other flags, another MODE or another compiler is made again.
c_FLAGS_NOW := $(CC) $(ALL_FLAGS)
cu_FLAGS_NOW = $(NVCC) $(NVCC_FLAGS) $(NVCC_ARCHS)
$(BUILD)/flags.%: export FLAGS_NOW = $($*_FLAGS_NOW)
$(BUILD)/flags.%: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$$FLAGS_NOW" | cmp -s - $@ || printf '%s\n' "$$FLAGS_NOW" >$@

$(call objects,$(CORE)): ALL_FLAGS += -ffreestanding -fvisibility=hidden
$(BUILD)/gen/main.o: ALL_FLAGS += -DVERSION='"$(VERSION)"'
$(BUILD)/gen/main.o: calc/vram/base.h

# An object is as old as the beginning of its compilation: a header that changes meanwhile is newer than it, and the next
# make compiles again.
begun = @mkdir -p $(@D) && touch $@.begun
dated = @touch -r $@.begun $@ && rm $@.begun
$(BUILD)/%.o: %.c Makefile $(BUILD)/flags.c
	$(begun)
	$(CC) $(ALL_FLAGS) $(DEPENDENCIES) -c $< -o $@
	$(dated)

# An archive is built from nothing, so that it keeps no object of a file that was removed.
# The estimator is one object: what vram.h does not mark with VRAM_API is hidden; its tests see the hidden part (libcore.a).
$(BUILD)/libcore.a: $(call objects,$(CORE))
$(BUILD)/vram.o: $(call objects,$(CORE))
	ld -r $^ -o $@
	objcopy --localize-hidden $@
$(BUILD)/libvram.a: $(BUILD)/vram.o
$(BUILD)/libgen.a: $(call objects,$(GEN) $(LUA))
$(BUILD)/libbase.a: $(call objects,$(wildcard gen/base/*.c))
$(BUILD)/libvram.a $(BUILD)/libcore.a $(BUILD)/libgen.a $(BUILD)/libbase.a:
	@rm -f $@
	ar rcs $@ $^

LIBVRAM := $(BUILD)/libvram.a
$(BUILD)/vramdoc: $(call objects,gen/main.c $(GEN) $(LUA)) $(LIBVRAM)
	$(CC) $(ALL_FLAGS) $^ -o $@ $(GEN_LIBS)

$(BUILD)/vramcalc: $(call objects,$(CLI)) $(LIBVRAM)
	$(CC) $(ALL_FLAGS) $^ -o $@ -lm

# The Python package: its modules, the library with malloc's memory, and the header as cffi reads it, which knows neither
# includes nor bodies of functions.
PACKAGE := $(BUILD)/python/vram
PACKAGE_FILES := $(patsubst calc/python/vram/%,$(PACKAGE)/%,$(wildcard calc/python/vram/*)) $(PACKAGE)/_device.py $(PACKAGE)/libvram.so $(PACKAGE)/vram.cdef
$(PACKAGE)/%: calc/python/vram/%
	@mkdir -p $(@D)
	cp $< $@
$(PACKAGE)/_device.py: kernels/torch_device.py
	@mkdir -p $(@D)
	cp $< $@
$(PACKAGE)/libvram.so: $(BUILD)/vram.o $(call objects,$(PYTHON))
	@mkdir -p $(@D)
	$(CC) $(ALL_FLAGS) -shared -s $^ -o $@
$(PACKAGE)/vram.cdef: calc/vram.h $(VRAM_HEADERS) $(PYTHON)
	@mkdir -p $(@D)
	cat $(VRAM_HEADERS) | sed '/^#include/d' | $(CC) -E -P -DVRAM_FREESTANDING -Dbool=_Bool '-D__attribute__(x)=' -x c - | \
	    sed '/^static inline/,/^}/d' >$@
	sed -n 's/^VRAM_API //p' $(PYTHON) >>$@
	sed -n '/^#define VRAM_ABI /p' calc/vram/base.h >>$@
package: $(PACKAGE_FILES)
wheel: package
	python3 calc/python/make_wheel.py $(BUILD)/python $(VERSION) $(BUILD)/wheel

# For the page: the modules as they are, and each as a classic script that holds it in base64, which also works from file://,
# where nothing may be fetched.
templates/vram.wasm.js: VARIABLE := vramWasm
templates/vram-whole.wasm.js: VARIABLE := vramWholeWasm
templates/%.wasm.js: $(BUILD)/%.wasm
	{ printf 'window.$(VARIABLE) = "'; base64 -w 0 $<; printf '";\n'; } >$(BUILD)/$(@F)
	@cmp -s $(BUILD)/$(@F) $@ && touch $@ || cp $(BUILD)/$(@F) $@
templates/%.wasm: $(BUILD)/%.wasm
	@cmp -s $< $@ && touch $@ || cp $< $@
# The sentences of a language that the calculator needs after its first number, as a classic script.
templates/sentences.%.js: i18n/calculator/%.json
	{ printf 'window.vramSentences = '; cat $<; echo ';'; } >$@
templates/vram.js: calc/wasm/vram.js
	cp $< $@

# Compiled and linked as one program by wasm-ld itself: with clang as the linker an installed binaryen changes the bytes
# silently. Here it is asked for by name (15 kB less); without it the module is larger and does the same. The stack is first, and
# its last kilobyte is not reached, so that no address is below 1,024: --low-memory-unused makes offsets of sums, 7.5 kB less.
WASM_OPT := $(shell command -v wasm-opt)
WASM_FLAGS := --target=wasm32 -mbulk-memory -Oz -flto -std=c11 -ffreestanding -fvisibility=hidden -I. $(filter-out -Wmissing-prototypes,$(WARN))
wasm_FLAGS_NOW := clang $(WASM_FLAGS)
# Small, but for the files in which an estimate spends its time.
$(BUILD)/wasm/small/calc/replay/allocator.o $(BUILD)/wasm/small/calc/replay/player.o: WASM_FLAGS += -Os
$(BUILD)/wasm/whole/calc/replay/%.o: WASM_FLAGS += -O2
# The module of a page's first number, without what VRAM_SMALL leaves out, and the whole one, which comes after it.
$(BUILD)/wasm/small/%.o: %.c Makefile $(BUILD)/flags.wasm
	@mkdir -p $(@D)
	clang $(WASM_FLAGS) -DVRAM_SMALL $(DEPENDENCIES) -c $< -o $@
$(BUILD)/wasm/whole/%.o: %.c Makefile $(BUILD)/flags.wasm
	@mkdir -p $(@D)
	clang $(WASM_FLAGS) $(DEPENDENCIES) -c $< -o $@
$(BUILD)/vram.wasm: $(patsubst %.c,$(BUILD)/wasm/small/%.o,$(filter-out calc/parse/%,$(CORE)) calc/wasm/wasm.c)
$(BUILD)/vram-whole.wasm: $(patsubst %.c,$(BUILD)/wasm/whole/%.o,$(CORE) $(WASM))
$(BUILD)/vram.wasm $(BUILD)/vram-whole.wasm:
	$(WASM_LD) --no-entry --strip-all --gc-sections --compress-relocations --stack-first -z stack-size=262144 $^ $(WASM_RT) -o $@
	$(if $(WASM_OPT),$(WASM_OPT) --enable-bulk-memory --low-memory-unused --flatten --rereloop -Oz -Oz --converge $@ -o $@)

# The probe: its C is compiled by the C compiler, its kernels by nvcc. On a machine with a GPU, for that GPU; elsewhere as PTX,
# which the driver compiles when the probe starts. PROBE_ARCHS=all: machine code for every GPU from sm_75 that the toolkit
# knows, and PTX for newer ones.
KNOWN_ARCHS = $(filter $(shell $(NVCC) --list-gpu-arch 2>/dev/null),$(addprefix compute_,75 80 86 89 90 100 120))
PROBE_ARCHS ?= $(if $(wildcard /dev/nvidia0),native,compute_80)
machine_code = -gencode arch=$(1),code=$(2)
NEWEST_ARCH = $(lastword $(KNOWN_ARCHS))
ALL_ARCHS = $(foreach a,$(KNOWN_ARCHS),$(call machine_code,$(a),$(a:compute_%=sm_%))) $(call machine_code,$(NEWEST_ARCH),$(NEWEST_ARCH))
NVCC_ARCHS = $(if $(filter all,$(PROBE_ARCHS)),$(ALL_ARCHS),-arch=$(PROBE_ARCHS))
NVCC_FLAGS ?= -O3 -std=c++17 --extended-lambda -Xcompiler -Wall,-Wextra -Werror all-warnings
PROBE_SOURCES := $(sort $(wildcard kernels/*/*.[ch] kernels/*/*.cu kernels/*/*.cuh))
$(BUILD)/%.cu.o: %.cu Makefile $(BUILD)/flags.cu
	$(begun)
	$(NVCC) $(NVCC_FLAGS) $(NVCC_ARCHS) -I. -MMD -MP -c $< -o $@
	sed -i '1s|^[^:]*:|$(NAMES):|' $(@:.o=.d)
	$(dated)
$(BUILD)/kernels/probe/probe.o: ALL_FLAGS += -DVERSION='"$(VERSION)"' -DCOMPILE_FLAGS='"$(strip $(NVCC_FLAGS) $(NVCC_ARCHS))"' \
	-DSOURCES_SHA256='"$(shell cat $(PROBE_SOURCES) | sha256sum | cut -d" " -f1)"'
$(BUILD)/kernels/probe/probe.o: $(PROBE_SOURCES) calc/vram.h $(VRAM_HEADERS) $(BUILD)/flags.cu
$(BUILD)/vramprobe: $(patsubst %.cu,$(BUILD)/%.cu.o,$(wildcard kernels/*/*.cu)) $(call objects,kernels/probe/probe.c) $(BUILD)/libprobe.a $(LIBVRAM)
	$(NVCC) $(NVCC_ARCHS) $^ -o $@ -lcublas -lcublasLt -ldl -lm

tests: $(TESTS)
$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libgen.a $(LIBVRAM)
	$(CC) $(ALL_FLAGS) $< $(BUILD)/libgen.a $(LIBVRAM) -o $@ -lcmocka $(GEN_LIBS)

# gen/base and the estimator need no other part of the project, and neither do their tests.
$(BUILD)/tests/unit/test_base_%: $(BUILD)/tests/unit/test_base_%.o $(BUILD)/libbase.a
	$(CC) $(ALL_FLAGS) $^ -o $@ -lcmocka -lz
$(BUILD)/tests/unit/test_calc_%: $(BUILD)/tests/unit/test_calc_%.o $(BUILD)/libcore.a
	$(CC) $(ALL_FLAGS) $^ -o $@ -lcmocka -ljansson -lz -lm

# The probe's C is plain: its step and its allocator are tested with no GPU.
$(BUILD)/libprobe.a: $(call objects,$(filter-out kernels/probe/probe.c,$(wildcard kernels/*/*.c)))
	@rm -f $@
	ar rcs $@ $^
$(BUILD)/tests/unit/test_kernels_%: $(BUILD)/tests/unit/test_kernels_%.o $(BUILD)/libprobe.a $(LIBVRAM)
	$(CC) $(ALL_FLAGS) $^ -o $@ -lcmocka -lm

fuzzers: $(FUZZERS)
$(BUILD)/tests/fuzz/fuzz_calc_%: $(BUILD)/tests/fuzz/fuzz_calc_%.o $(BUILD)/libcore.a
	$(CC) $(ALL_FLAGS) -fsanitize=fuzzer $^ -o $@
$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/libgen.a $(LIBVRAM)
	$(CC) $(ALL_FLAGS) -fsanitize=fuzzer $< $(BUILD)/libgen.a $(LIBVRAM) -o $@ $(GEN_LIBS)

# Programs of one file beside the tests: make build/tests/bench/floor
$(BUILD)/tests/bench/bench_calc: $(BUILD)/tests/bench/bench_calc.o $(BUILD)/libcore.a
	$(CC) $(ALL_FLAGS) $^ -o $@ -lm
$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/libbase.a
	$(CC) $(ALL_FLAGS) $^ -o $@ $(GEN_LIBS)
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libgen.a $(LIBVRAM)
	$(CC) $(ALL_FLAGS) $^ -o $@ $(GEN_LIBS)

BIN := $(DESTDIR)$(prefix)/bin
MAN := $(DESTDIR)$(prefix)/share/man/man1
COMPLETION := $(DESTDIR)$(prefix)/share/bash-completion/completions
PROGRAMS := vramdoc vramcalc
LIB := $(DESTDIR)$(prefix)/lib
INCLUDE := $(DESTDIR)$(prefix)/include
SHARE := $(DESTDIR)$(prefix)/share
# The templates and words are for sites that bring none of their own.
install: all
	install -d $(BIN) $(MAN) $(COMPLETION)
	for p in $(PROGRAMS); do \
	    install $(BUILD)/$$p $(BIN)/$$p; \
	    $(BUILD)/$$p --man >$(MAN)/$$p.1; \
	    $(BUILD)/$$p --completion bash >$(COMPLETION)/$$p; \
	done
	install -d $(SHARE)/vramdoc/templates $(SHARE)/vramdoc/i18n
	cp -R templates/. $(SHARE)/vramdoc/templates/
	install -m 644 i18n/*.json $(SHARE)/vramdoc/i18n/
	install -d $(LIB)/pkgconfig $(INCLUDE)/vram $(SHARE)/vramcalc
	install -m 644 $(BUILD)/libvram.a $(LIB)/
	install -m 644 calc/vram.h calc/vram_lua.h $(INCLUDE)/
	install -m 644 $(VRAM_HEADERS) $(INCLUDE)/vram/
	sed 's,@prefix@,$(prefix),;s,@version@,$(VERSION),' calc/libvram.pc.in >$(LIB)/pkgconfig/libvram.pc
	$(if $(WASM_LD),install -m 644 $(BUILD)/vram.wasm $(SHARE)/vramcalc/)

uninstall:
	for p in vramdoc vramcalc; do rm -f $(BIN)/$$p $(MAN)/$$p.1 $(COMPLETION)/$$p; done
	rm -f $(LIB)/libvram.a $(LIB)/pkgconfig/libvram.pc $(INCLUDE)/vram.h $(INCLUDE)/vram_lua.h
	rm -rf $(INCLUDE)/vram $(SHARE)/vramdoc $(SHARE)/vramcalc

clean:
	rm -rf $(BUILD)

FORCE:
.PHONY: all skipped tests fuzzers package wheel install uninstall clean FORCE
.SECONDARY:
.DELETE_ON_ERROR:
COMPILED := $(wildcard $(addprefix $(BUILD)/,gen calc kernels tests wasm))
-include $(if $(COMPILED),$(shell find $(COMPILED) -name '*.d'))
