# SPDX-License-Identifier: BSD-2-Clause
# One Makefile for everything. A new module, tool, test, fuzzer or benchmark
# needs no edit here: it is found by its place.
#
#   make                 programs in build/
#   make check           unit tests and tests of the programs; SAN=1: sanitized;
#                        SAN=thread: what has threads, under ThreadSanitizer
#   make check-all       the same at full size, and what takes long; check-full:
#                        what takes long alone
#   make check-cross     unit tests and digests, on aarch64 and s390x in QEMU
#   make setup GOAL...   installs what that needs first
#   make bench fuzz lint demo demo-int demo-p4 figures install
#   make deb             Debian packages, in build/deb
#   make bench-peers     the same tables by other people's means, which it
#                        installs first; PEERS="-n 15 4M" is for the program
#   make p4 check-p4     the switches' programs; their tests: p4/README.md

VERSION := 1.1.0
SONAME := libdta.so.1
PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib
# Where Wireshark and tshark look, which are in /usr for all users.
WIRESHARK_PLUGINS ?= $(if $(filter /usr /usr/local,$(PREFIX)),/usr/lib/$(shell \
	$(CC) -print-multiarch),$(PREFIX)/lib)/wireshark/plugins
# Where Python looks; of other prefixes PYTHONPATH names it.
PYTHON_TO ?= $(or $(if $(filter /usr/local,$(PREFIX)),$(shell /usr/bin/python3 -c \
	'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null)),$\
	$(PREFIX)/lib/python3/dist-packages)
PKG_CONFIG ?= pkg-config
CLANG ?= clang
FUZZ_SECONDS ?= 20
Q := $(if $(filter 1,$(V)),,@)

# Setup, and then the goals beside it, by a make of their own: what there is to
# build with is found out when this file is read. The demos need none of the
# parts that can be left out.
ifneq ($(filter setup,$(MAKECMDGOALS)),)
GOALS := $(filter-out setup,$(MAKECMDGOALS))
.NOTPARALLEL:
.PHONY: $(MAKECMDGOALS)
SETUP_demo := build
SETUP_demo-int := build namespaces
SETUP_demo-p4 := build namespaces switches
SETUP_check-cross := build cross
setup:
	$(Q)tests/setup.sh packages.txt \
		$(or $(SETUP_$(GOALS)),build parts namespaces switches tests)
	$(if $(SETUP_$(GOALS)),,$(Q)tests/rxe/kernel.sh)
	$(if $(filter check-cross,$(GOALS)),$(Q)tests/cross.sh setup)
$(GOALS): setup
	+$(Q)$(MAKE) --no-print-directory $@
else

, := ,
B := build$(if $(filter thread,$(SAN)),-tsan,$(if $(SAN),-san))
say = $(if $(Q),@printf '  %-5s %s\n' $1 $@)

CFLAGS ?= -O2 -g
# Sanitizers look closer by themselves; without optimization libc refuses to.
HARDEN := -fstack-protector-strong $(if $(filter-out -O0,\
	$(filter -O%,$(CFLAGS))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARDEN_LD := -pie -Wl,-z,relro,-z,now
PKGS := libpcap zlib libedit
# Packages and tools without which a part is left out: files NAME*.c of it give
# way to NAME_none.c, which says so.
has = $(shell $(PKG_CONFIG) --exists $1 2>/dev/null && echo yes)
PARTS := verbs xdp http prometheus redis kafka
PKGS_verbs := libibverbs librdmacm
PKGS_xdp := libxdp libbpf
PKGS_http := libcurl
PKGS_prometheus := libmicrohttpd
PKGS_redis := hiredis
PKGS_kafka := rdkafka
# Debian's bpftool is in /usr/sbin, which is not in everybody's PATH.
BPFTOOL ?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)
has_bpf = $(shell $(CLANG) -print-targets 2>/dev/null | grep -qw bpf && \
	$(BPFTOOL) version >/dev/null 2>&1 && echo yes)
WITHOUT := $(foreach p,$(PARTS),$(if $(call has,$(PKGS_$p)),,$p)) \
	$(if $(has_bpf),,xdp)
PKGS += $(foreach p,$(filter-out $(WITHOUT),$(PARTS)),$(PKGS_$p))
SAN_CFLAGS := $(if $(filter thread,$(SAN)),-fsanitize=thread,\
	$(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=all))
# Large files are asked for by us: some of the packages' flags do, too, and a
# build must not depend on which of them are there.
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-DVERSION='"$(VERSION)"' -Ilib -MMD -MP \
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wno-missing-field-initializers \
	-fno-omit-frame-pointer $(if $(WERROR),-Werror) \
	-fPIC -fvisibility=hidden \
	$(if $(SAN),$(SAN_CFLAGS),$(HARDEN)) \
	-I$B/lib \
	$(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null) $(CPPFLAGS) $(CFLAGS)
# What -V tells.
%/lib/cli/option.o: private ALL_CFLAGS += -DBUILT_IN='"with $(or $(strip \
	$(filter-out $(WITHOUT),$(PARTS))),nothing)$(if $(strip \
	$(WITHOUT)),$(,) without $(sort $(WITHOUT)))"'
# A program loads the libraries that it needs, no others.
LIBS = $(HARDEN_LD) -Wl,--as-needed $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) \
	-lm -lpthread

part = $(filter-out $(wildcard lib/*/$1_none.c),$(wildcard lib/*/$1*.c))
LIB_SRC := $(filter-out %.bpf.c $(foreach p,$(PARTS),$(if \
	$(filter $p,$(WITHOUT)),$(call part,$p),$(wildcard lib/*/$p_none.c))),\
	$(wildcard lib/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$B/%.o)
SKELETONS := $(if $(filter xdp,$(WITHOUT)),,\
	$(patsubst %.bpf.c,$B/%.skel.h,$(wildcard lib/*/*.bpf.c)))
TOOLS := $(notdir $(patsubst %/main.c,%,$(wildcard cmd/*/main.c)))
BINS := $(TOOLS:%=$B/%)
# Tests and benchmarks of a part that is left out are left out with it.
ours = $(patsubst %.c,$B/%,$(filter-out $(foreach p,$(WITHOUT),\
	$(wildcard tests/*/*$p*.c)),$(wildcard $1)))
UNITS := $(call ours,tests/unit/test_*.c)
AIDS := $(call ours,tests/tools/*.c)
BENCHES := $(call ours,tests/bench/bench_*.c)
# What make bench-peers compares with, a file for each; those are left out whose
# packages are missing. Looked for when it is built only.
PEERS_KNOWN := absl uthash glib lmdb redis rocksdb sqlite
PKGS_absl := absl_flat_hash_map
PKGS_glib := glib-2.0
PKGS_lmdb := lmdb
PKGS_rocksdb := rocksdb
PKGS_sqlite := sqlite3
# Stripped: the blank of a line break would be true.
has_peer = $(strip $(if $(PKGS_$1),$(call has,$(PKGS_$1)),\
	$(wildcard /usr/include/$1.h /usr/local/include/$1.h)))
PEERS_HERE = $(foreach p,$(PEERS_KNOWN),$(if $(call has_peer,$p),$p))
PEER_SRC := $(wildcard tests/bench/peers/*.c tests/bench/peers/*.cc)
PEER_OBJ = $(addprefix $B/,$(addsuffix .o,$(basename $(filter-out \
	$(foreach p,$(filter-out $(PEERS_HERE),$(PEERS_KNOWN)),\
	tests/bench/peers/$p.%),$(PEER_SRC)))))
PEER_LIBS = $(shell $(PKG_CONFIG) --libs \
	$(foreach p,$(PEERS_HERE),$(PKGS_$p)) 2>/dev/null)
PEER := $B/tests/bench/peers/peers
FUZZERS := $(patsubst %.c,build-fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
SOURCES := $(wildcard lib/*/*.[ch] cmd/*/*.[ch] tests/*/*.[ch] \
	tests/bench/peers/*.[ch] tests/bench/peers/*.cc)

# p4/v1model/NAME/NAME.p4: programs for BMv2; what can do without has them compiled
# where there is a compiler (P4_IF_CAN).
P4C ?= p4c-bm2-ss
P4_TO := $B/p4
P4_PROGRAMS := $(patsubst p4/v1model/%/,$(P4_TO)/%.json,$(sort $(dir $(wildcard \
	p4/v1model/d*/*.p4 p4/v1model/i*/*.p4))))
P4_IF_CAN := $(if $(shell command -v $(P4C)),$(P4_PROGRAMS))
# p4/tna/NAME/NAME.p4: for Tofino. Compiled where there is a compiler, else their
# types are checked where there is p4test with Tofino's include files. BFAS, the
# assembler behind the compiler, is for check-p4.
BFP4C ?= bf-p4c
P4TEST ?= p4test
TOFINO_INCLUDE ?= /usr/share/p4c/p4include
TNA_PROGRAMS := $(patsubst p4/tna/%/,$B/p4/tna/%,$(sort $(dir $(wildcard \
	p4/tna/d*/*.p4 p4/tna/i*/*.p4))))
TNA_PATH = -D__TARGET_TOFINO__=1 -I $(TOFINO_INCLUDE) -I p4/include \
	-I p4/tna/common -I p4/tna/$*

.DELETE_ON_ERROR:
.PHONY: all units p4 p4-tna check-p4 check check-all check-full check-cross bench bench-peers fuzz lint demo demo-int demo-p4 figures install uninstall deb clean format
all: $(BINS) $B/dta.lua $B/$(SONAME)

# Objects are compiled anew by another compiler or with other flags, which change
# when packages come. make 4.3 may leave the end of the line that it reads.
COMPILER = $(CC) $(ALL_CFLAGS)
ifneq ($(strip $(file <$B/compiler)),$(strip $(COMPILER)))
.PHONY: $B/compiler
endif
$B/compiler:
	$(shell mkdir -p $(@D))$(file >$@,$(COMPILER))

$B/%.o: %.c $B/compiler
	$(call say,CC)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

# Programs for the kernel; a skeleton is one as a header for what loads it. Of
# what -g makes, BTF is wanted, and linking leaves the rest behind.
$B/%.skel.h: %.bpf.c
	$(call say,BPF)
	$(Q)mkdir -p $(@D) && $(CLANG) -target bpf -mcpu=v3 -std=gnu11 -O2 -g -Wall \
		-Wextra $(if $(WERROR),-Werror) -ffreestanding -Ilib \
		-idirafter /usr/include/$(shell $(CC) -print-multiarch) \
		-MMD -MP -MT $@ -c -o $(@:skel.h=debug.o) $<
	$(Q)$(BPFTOOL) gen object $(@:skel.h=bpf.o) $(@:skel.h=debug.o) && \
		$(BPFTOOL) gen skeleton $(@:skel.h=bpf.o) >$@

# Parts come and go with their packages, files with their sources: the archive
# is made anew then, though all that is to be in it may be older; and what -V
# tells.
ifneq ($(file <$B/objects),$(LIB_OBJ))
.PHONY: $B/objects
endif
$B/objects:
	$(Q)mkdir -p $(@D) && echo '$(LIB_OBJ)' >$@

$B/lib/cli/option.o: $B/objects
$B/libdta.a: $(LIB_OBJ) $B/objects
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

# The same objects: dta.h alone is seen from outside. What it asks other files of
# the library for is in it, and no more.
$B/$(SONAME): $B/lib/query/libdta.o $B/libdta.a lib/query/libdta.map
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) \
		-Wl,--version-script=lib/query/libdta.map \
		$(if $(SAN),,-Wl$(,)-z$(,)defs) -o $@ $(filter-out %.map,$^) \
		$(filter-out -pie,$(LIBS))

.SECONDEXPANSION:
$(BINS): $B/%: $$(addprefix $B/,$$(subst .c,.o,$$(wildcard cmd/$$*/*.c))) $B/libdta.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(UNITS) $(BENCHES) $(AIDS): $B/%: $B/%.o $B/libdta.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# Wireshark loads each file that it finds by itself: so the numbers and what
# needs them are one.
$B/dta.lua: lib/net/proto.h share/dissectors/common.lua $(sort $(filter-out \
	%/common.lua,$(wildcard share/dissectors/*.lua)))
	$(call say,LUA)
	$(Q)mkdir -p $(@D) && { echo 'local N = {' && \
		sed -nE 's/^\t([A-Z0-9_]+ = [0-9a-fx]+,).*/\t\1/p' $< && \
		echo '}' && cat $(filter-out $<,$^); } >$@

# They tell the parts of several cores' work.
$(patsubst %,$B/tests/bench/bench_%,cores rdma int_cores): \
	LDFLAGS += -Wl,--wrap=threads_open

# It counts looks at the clock.
$B/tests/unit/test_local: LDFLAGS += -Wl,--wrap=clock_gettime

# The one C++ file is there for a table that is a template.
$B/%.o: %.cc $B/compiler
	$(call say,CXX)
	$(Q)mkdir -p $(@D) && $(CXX) $(filter-out -std=gnu11 -Wstrict-prototypes \
		-Wmissing-prototypes,$(ALL_CFLAGS)) -std=gnu++20 -c -o $@ $<

$B/tests/bench/peers/%.o: ALL_CFLAGS += \
	$(if $(PKGS_$(*F)),$(shell $(PKG_CONFIG) --cflags $(PKGS_$(*F))))

$(PEER): $$(PEER_OBJ) $B/libdta.a
	$(call say,LD)
	$(Q)$(if $(filter absl,$(PEERS_HERE)),$(CXX),$(CC)) \
		$(filter-out -std=gnu11,$(ALL_CFLAGS)) $(LDFLAGS) -o $@ $^ \
		$(LIBS) $(PEER_LIBS)

# Fuzzers: clang's libFuzzer, the library built for it in one go.
FUZZ_CFLAGS = -U_FORTIFY_SOURCE -fsanitize=fuzzer-no-link$(,)address$(,)undefined \
	-fno-sanitize-recover=all
FUZZ_OBJ := $(LIB_SRC:%.c=build-fuzz/%.o)
build-fuzz/%.o: %.c $B/compiler
	$(call say,CC)
	$(Q)mkdir -p $(@D) && $(CLANG) $(ALL_CFLAGS) $(FUZZ_CFLAGS) -c -o $@ $<
$(filter %/xdp.o %/xdp_ports.o,$(LIB_OBJ) $(FUZZ_OBJ)): $(SKELETONS)
$(FUZZERS): build-fuzz/%: build-fuzz/%.o $(FUZZ_OBJ)
	$(call say,LD)
	$(Q)$(CLANG) -fsanitize=fuzzer$(,)address$(,)undefined -o $@ $^ $(LIBS)

# What has threads, for SAN=thread.
THREADED := $(addprefix tests/unit/test_,threads translate_cores \
	responder_cores int_collector int_collector_news queue \
	spool) \
	$(addprefix tests/cli/cores,.bats -query.bats -collect.bats \
	-intcollect.bats) tests/net/cores.bats
ifeq ($(SAN),thread)
check check-all check-full: $(BINS) $(filter $(THREADED:%=$B/%),$(UNITS)) $B/tests/tools/send \
	$B/tests/tools/mangle
	$(Q)V=$(V) ONLY='$(THREADED)' tests/run.sh $B \
		$(patsubst check-%,%,$(filter check-%,$@))
else
check check-all check-full: $(BINS) $B/dta.lua $(UNITS) $(AIDS) $(BENCHES) \
	$(PEER)
	$(Q)V=$(V) tests/run.sh $B $(patsubst check-%,%,$(filter check-%,$@))
endif

# It has a make for each machine.
units: $(UNITS)
check-cross: $(BINS)
	+$(Q)tests/cross.sh $B

p4: $(P4_PROGRAMS) p4-tna

$(P4_TO)/%.json: p4/v1model/%/*.p4 p4/v1model/common/*.p4 p4/include/*.p4
	$(call say,P4C)
	@command -v $(P4C) >/dev/null || { echo "$(P4C) is missing: p4/README.md \
	tells where to get it; P4C= names another" >&2; exit 1; }
	$(Q)mkdir -p $(@D) && $(P4C) --std p4-16 -I p4/include \
		-I p4/v1model/common -o $@ \
		p4/v1model/$*/$*.p4

# Without a compiler, the tests say so, one by one.
ifneq ($(shell command -v $(BFP4C)),)
p4-tna: $(TNA_PROGRAMS)
else ifneq ($(and $(shell command -v $(P4TEST)),$(wildcard \
	$(TOFINO_INCLUDE)/tna.p4)),)
p4-tna: $(TNA_PROGRAMS:%=%.types)
else
p4-tna:
	@echo "p4/tna is not looked at: needs $(BFP4C), or $(P4TEST) and" \
	"$(TOFINO_INCLUDE)/tna.p4; p4/README.md tells where to get them" >&2
endif

$B/p4/tna/%: p4/tna/%/*.p4 p4/tna/common/*.p4 p4/include/*.p4
	$(call say,P4C)
	$(Q)mkdir -p $@ && $(BFP4C) --std p4-16 --target tofino --arch tna \
		$(TNA_PATH) -o $@ p4/tna/$*/$*.p4 || { rm -rf $@; exit 1; }

$B/p4/tna/%.types: p4/tna/%/*.p4 p4/tna/common/*.p4 p4/include/*.p4
	$(call say,P4T)
	$(Q)mkdir -p $(@D) && $(P4TEST) --std p4-16 $(TNA_PATH) \
		p4/tna/$*/$*.p4 && touch $@

check-p4: $(BINS) $(AIDS) $(if $(P4_IF_CAN),p4)
	$(Q)BUILD=$(CURDIR)/$B P4TEST=$(P4TEST) BFP4C=$(BFP4C) \
		BFAS=$(BFAS) TOFINO_INCLUDE=$(TOFINO_INCLUDE) bats tests/p4

bench: $(BINS) $(BENCHES)
	$(Q)tests/bench/run.sh $B

# A make of its own builds it: by then the packages are there.
bench-peers:
	$(Q)tests/bench/peers.sh install
	+$(Q)$(MAKE) --no-print-directory $(PEER)
	$(Q)tests/bench/peers.sh run $B $(PEERS)

fuzz: $(FUZZERS)
	$(Q)tests/fuzz/run.sh $(FUZZ_SECONDS) $(FUZZERS)

lint: $(SKELETONS)
	$(Q)BUILD=$B tests/lint.sh $(SOURCES)

format:
	$(Q)clang-format -i $(SOURCES)

demo: $(BINS)
	$(Q)tests/demo.sh $B

demo-int: $(BINS)
	$(Q)tests/demo-int.sh $B

demo-p4: $(BINS) $(P4_IF_CAN)
	$(Q)tests/demo-p4.sh $B $(P4_TO) $(PREFIX)/share/dta/p4 /usr/share/dta/p4

# Of the five papers, in build/figures.html; SCALE=0.1 is for a quick look, and
# FIGURES="dart dta/fig12" for some of them.
figures: $(BINS) $(addprefix $B/tests/bench/bench_,translate query)
	$(Q)tests/figures/run.sh $B $(FIGURES)

SERVICES := $(notdir $(wildcard share/systemd/*.service))
UNITS_TO := $(PREFIX)/lib/systemd/system
COMPLETION_TO := $(PREFIX)/share/bash-completion/completions

# Each has a page, which is libdta's.
CALLS = $(shell sed -n 's/^\.Nm \(dta_[a-z_]*\).*/\1/p' man/libdta.3)

# The pkg-config file and everything else that a package would hold.
install: $(BINS) $B/$(SONAME) $B/dta.lua $(P4_IF_CAN)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/share/dta/examples
	install -m 755 $(BINS) p4/tools/dta-switch $(DESTDIR)$(PREFIX)/bin
	install -m 644 $B/$(SONAME) $(DESTDIR)$(LIBDIR)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libdta.so
	install -m 644 lib/query/dta.h $(DESTDIR)$(PREFIX)/include
	install -D -m 644 share/python/dta.py $(DESTDIR)$(PYTHON_TO)/dta.py
	install -m 644 cmd/dta-collect/examples/*.ini share/examples/* \
		$(DESTDIR)$(PREFIX)/share/dta/examples
	for j in $(P4_TO)/*.json; do [ ! -e $$j ] || install -D -m 644 -t \
		$(DESTDIR)$(PREFIX)/share/dta/p4 $$j || exit 1; done
	for d in prometheus grafana; do install -D -m 644 -t \
		$(DESTDIR)$(PREFIX)/share/dta/$$d share/$$d/* || exit 1; done
	install -D -m 644 $B/dta.lua $(DESTDIR)$(WIRESHARK_PLUGINS)/dta.lua
	for m in $(wildcard man/*.[1357]); do \
		to=$(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m#man/}; \
		install -D -m 644 $$m $$to && \
		sed -i 's,/usr/local/share,$(PREFIX)/share,' $$to || exit 1; \
		done
	for c in $(CALLS); do echo '.so man3/libdta.3' \
		>$(DESTDIR)$(PREFIX)/share/man/man3/$$c.3 || exit 1; done
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'Name: dta' \
		'Description: ask the memory of direct network telemetry' \
		'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' \
		'Libs: -L$${libdir} -ldta' \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/dta.pc
	install -D -m 644 share/systemd/dta.sysusers \
		$(DESTDIR)$(PREFIX)/lib/sysusers.d/dta.conf
	install -d $(DESTDIR)$(UNITS_TO) $(DESTDIR)$(COMPLETION_TO)
	for u in $(SERVICES); do cat share/systemd/$$u share/systemd/common.conf | \
		sed 's,/usr/,$(PREFIX)/,' >$(DESTDIR)$(UNITS_TO)/$$u || \
		exit 1; done
	for t in $(TOOLS); do install -m 644 share/completion/dta.bash \
		$(DESTDIR)$(COMPLETION_TO)/$$t || exit 1; done

uninstall:
	rm -f $(patsubst %,$(DESTDIR)$(PREFIX)/bin/%,$(TOOLS) dta-switch) \
		$(addprefix $(DESTDIR)$(LIBDIR)/,$(SONAME) libdta.so \
		pkgconfig/dta.pc) $(DESTDIR)$(PREFIX)/include/dta.h \
		$(DESTDIR)$(PYTHON_TO)/dta.py \
		$(DESTDIR)$(WIRESHARK_PLUGINS)/dta.lua
	rm -f $(CALLS:%=$(DESTDIR)$(PREFIX)/share/man/man3/%.3) \
		$(foreach m,$(wildcard man/*.[1357]),$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $m))/$(notdir $m))
	rm -f $(addprefix $(DESTDIR)$(UNITS_TO)/,$(SERVICES)) \
		$(addprefix $(DESTDIR)$(COMPLETION_TO)/,$(TOOLS)) \
		$(DESTDIR)$(PREFIX)/lib/sysusers.d/dta.conf
	rm -rf $(DESTDIR)$(PREFIX)/share/dta

# share/deb is the packages' debian folder; the .debs are in $(DEB).
DEB := $B/deb
deb: $(BINS) $B/$(SONAME) $B/dta.lua $(P4_IF_CAN)
	$(Q)rm -rf $(DEB)/tree $(DEB)/*.deb && mkdir -p $(DEB)/tree
	$(Q)cp -r share/deb $(DEB)/tree/debian
	$(Q)cp LICENSE $(DEB)/tree/debian/copyright
	$(Q)printf 'dta ($(VERSION)-1) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n' \
		'New version: changelog.gz has what is new.' \
		"$$(sed -n 's/^Maintainer: //p' share/deb/control)" \
		"$$(date -Rr CHANGELOG.md)" >$(DEB)/tree/debian/changelog
	+$(Q)cd $(DEB)/tree && TOP=$(CURDIR) DEB_RULES_REQUIRES_ROOT=no \
		debian/rules binary

clean:
	rm -rf build build-san build-tsan build-fuzz

-include $(shell find build build-san build-tsan build-fuzz -type f -name '*.d' 2>/dev/null)

endif # setup is not among the goals
