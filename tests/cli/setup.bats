# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# make setup, with programs in the place of dpkg and apt that only take notes:
# nothing is installed. And what make does with what is there.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	SETUP=$TOP/tests/setup.sh
	mkdir bin
	for tool in bash env id sed dirname; do
		ln -s "$(command -v $tool)" bin/
	done
	fake id 'echo 0'
	# Installed: what the file "have" names.
	fake dpkg-query 'while read -r p; do
		[ "$p" != "${!#}" ] || printf installed
		done <have'
	fake apt-cache 'true'
	fake apt-get 'echo "apt-get $*" >>calls
		case "$*" in
		*" install "*) [ ! -e broken ] || exit 100 ;;
		esac'
	printf 'one\ntwo\n' >have
	printf '# a comment\none # why\n\n  two\n' >list
	: >calls
}

fake() { # name text
	rm -f "bin/$1"
	printf '#!/bin/bash\n%s\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
}

run_setup() {
	run --separate-stderr env "PATH=$PWD/bin" "$SETUP" list "$@"
	echo "status $status: $output$stderr"
}

@test "nothing is missing: nothing is done" {
	run_setup
	[ "$status" = 0 ]
	[ ! -s calls ]
}

@test "what is missing is said, then installed" {
	echo three-dev >>list
	run_setup
	[ "$status" = 0 ]
	[[ ${lines[0]} == "setup: about to install"*": three-dev" ]]
	[ "$(wc -l <calls)" = 1 ]
	[[ $(<calls) == *"install --no-install-recommends three-dev" ]]
}

@test "no package lists: they are fetched first" {
	fake apt-cache 'exit 100'
	echo three-dev >>list
	run_setup
	[ "$status" = 0 ]
	[[ $(sed -n 1p calls) == *update && $(sed -n 2p calls) == *install* ]]
}

@test "an installation that fails is tried once more, then told" {
	echo three-dev >>list
	: >broken
	run_setup
	[ "$status" = 1 ]
	[[ $stderr == *"apt-get install failed: three-dev"* ]]
	[ "$(grep -c install calls)" = 2 ]
	[ "$(grep -c update calls)" = 1 ]
}

@test "not root: through sudo, and a message where there is none" {
	fake id 'echo 1000'
	echo three-dev >>list
	run_setup
	[ "$status" = 1 ]
	[[ $stderr == *"neither root nor sudo"*three-dev* && ! -s calls ]]
	fake sudo 'echo "sudo" >>calls; exec "$@"'
	run_setup
	[ "$status" = 0 ]
	[ "$(sed -n 1p calls)" = sudo ]
}

@test "not Debian: says what is needed" {
	rm bin/apt-get
	run_setup
	[ "$status" = 1 ]
	[[ $stderr == *"not a Debian system"*"one two"* ]]
}

@test "an empty list is a mistake" {
	echo '# nothing' >list
	run_setup
	[ "$status" = 1 ]
}

@test "the sections that are asked for, no others" {
	printf '[a]\none\nthree-dev\n[b]\nfour\n[c]\nfive\n' >list
	run_setup a c
	[ "$status" = 0 ]
	[[ $(<calls) == *" install --no-install-recommends three-dev five" ]]
	run_setup d
	[ "$status" = 1 ]
	[[ $stderr == *"list: no packages in it: d" ]]
}

@test "the list of this tree: sections, and packages, one a line" {
	run -1 grep -vE '^(#.*|\[[a-z]+\]||[a-z0-9][a-z0-9.+-]+)$' "$TOP/packages.txt"
	run -1 sh -c "grep '^[^#]' '$TOP/packages.txt' | sort | uniq -d | grep ."
}

# A tree to make: a part that needs packages, and what takes its place.
tree() {
	mkdir -p tree/{tests/rxe,lib/{cli,net,verbs},cmd/told,share/dissectors}
	touch tree/lib/net/proto.h tree/share/dissectors/common.lua
	ln -s "$TOP/Makefile" "$TOP/packages.txt" tree
	ln -s "$SETUP" tree/tests
	printf '#!/bin/sh\necho kernel >>../calls\n' >tree/tests/rxe/kernel.sh
	printf '#!/bin/sh
echo "cross $1" >>../calls
' >tree/tests/cross.sh
	printf '#!/bin/sh
$1/told
' | tee tree/tests/demo{,-int,-p4}.sh >told
	chmod +x tree/tests/{demo*.sh,cross.sh,rxe/kernel.sh}
	echo 'const char *verbs = "with";' >tree/lib/verbs/verbs_a.c
	echo 'const char *verbs = "without";' >tree/lib/verbs/verbs_none.c
	echo 'const char *parts = BUILT_IN;' >tree/lib/cli/option.c
	mkdir -p tree/lib/query
	echo 'int dta_told;' >tree/lib/query/libdta.c
	echo '{ global: dta_*; local: *; };' >tree/lib/query/libdta.map
	printf '%s\n' 'int puts(const char *);' 'extern const char *verbs, *parts;' \
		'int main(void) { puts(parts); puts(verbs); }' >tree/cmd/told/main.c
	for tool in cc ar as ld make sh mkdir rm find printf sed cat; do
		rm -f bin/$tool
		ln -s "$(type -P $tool)" bin/
	done
	# Apt brings what verbs needs; without, the packages are not there.
	fake apt-get 'echo "apt-get $*" >>"${0%/*}/../calls"
		: >"${0%/*}/../libibverbs-dev"'
	fake pkg-config '[[ -e ${0%/*}/../libibverbs-dev && $* == *verbs* && $1 == --exists ]]'
}

make_tree() { # goals
	: >calls
	run env -i "PATH=$PWD/bin" make -s -C tree "$@"
	echo "status $status: $output"
	cat calls
}

installs() { # packages
	[ "$(sed -n 's/.* install --no-install-recommends //p' calls)" = "$*" ]
}

@test "make setup: for the demo its build, for all else everything" {
	local all build

	mapfile -t all < <(sed '/^\[cross\]/,$d' "$TOP/packages.txt" |
		grep '^[a-z]')
	mapfile -t build < <(sed -n '/^\[build\]/,/^\[parts\]/p' "$TOP/packages.txt" |
		grep '^[a-z]')
	[ ${#build[@]} -lt $((${#all[@]} / 2)) ]
	: >have
	tree
	make_tree setup
	installs "${all[@]}"
	[ "$(tail -n 1 calls)" = kernel ]
	make_tree setup all demo
	installs "${all[@]}"
	make_tree demo setup # in whatever order they are told
	installs "${build[@]}"
	[ "$(wc -l <calls)" = 1 ]
	make_tree setup demo-int
	installs "${build[@]}" iproute2 iputils-ping
	make_tree setup demo-p4
	installs "${build[@]}" iproute2 iputils-ping ethtool python3
	make_tree setup check-cross
	installs "${build[@]}" gcc-aarch64-linux-gnu gcc-s390x-linux-gnu qemu-user
	[ "$(tail -n 2 calls)" = "$(printf 'cross %s\n' setup build)" ]
	make_tree all
	[ ! -s calls ]
}

@test "what setup has brought, the goals beside it are made with" {
	: >have
	tree
	make_tree demo
	[ "${lines[-1]}" = without ]
	make_tree -j4 setup all demo
	[ "$status" = 0 ]
	[ "${lines[-1]}" = with ]
}

@test "a part that was left out is built when its packages are there, and back" {
	tree
	for _ in 1 2; do # the second time all files are there, and old
		rm -f libibverbs-dev
		make_tree demo
		[ "${lines[-1]}" = without ]
		[[ ${lines[-2]} == "with nothing"*" verbs "* ]]
		: >libibverbs-dev
		make_tree demo
		[ "${lines[-1]}" = with ]
		[[ ${lines[-2]} == "with verbs, without "* ]]
	done
	make_tree all
	[[ $output != *"  LD    build/told"* ]] # the programs are there already
	make_tree -q all
	[ "$status" = 0 ]
}

@test "objects are compiled anew with other flags" {
	tree
	make_tree all
	make_tree -q all
	[ "$status" = 0 ]
	make_tree -q CFLAGS=-O1 all
	[ "$status" = 1 ]
	make_tree CFLAGS=-O1 all
	make_tree -q CFLAGS=-O1 all
	[ "$status" = 0 ]
}

# This tree itself, on a machine that has the packages of [build] alone.
@test "without what the parts need: all programs are built, and say what is missing" {
	local parts

	[[ $BUILD != *-san ]] || skip "built without sanitizers already"
	parts=$(sed -n 's/^PKGS_[a-z]* := //p' "$TOP/Makefile" | tr '\n' ' ')
	[[ $parts == *libibverbs*libxdp*libbpf*hiredis* ]]
	fake pkg-config 'for a; do
		[[ " '"$parts"'" != *" $a "* ]] || exit 1
	done
	exec '"$(type -P pkg-config)"' "$@"'
	make -s -C "$TOP" -j2 CFLAGS=-O0 B="$PWD/bare" CLANG=/none BPFTOOL=/none \
		PKG_CONFIG="$PWD/bin/pkg-config" all >log 2>&1 || { tail log; false; }
	for p in $(programs); do
		"bare/$p" -V
	done
	run -1 bare/int-collect -i lo --xdp
	[[ $output == *"not built in: it wants libxdp-dev, libbpf-dev, clang and bpftool" ]]
	run -1 bare/int-collect -i lo -x redis://h
	[[ $output == *"built without hiredis; install libhiredis-dev, and make again" ]]
}

# The kernel of tests/rxe.

kernel() {
	for tool in uname mkdir mktemp rm sed head find grep; do
		[ -e "bin/$tool" ] || ln -s "$(command -v $tool)" bin/
	done
	run env "PATH=$PWD/bin" DTA_CACHE="$PWD/cache" "$TOP/tests/rxe/kernel.sh"
	echo "status $status: $output"
	[ "$status" = 0 ]
	[ "${#lines[@]}" -le 2 ]
}

@test "the kernel: one that is there is not fetched again" {
	mkdir -p cache/kernel
	echo 6.1.0-1 >cache/kernel/version
	kernel
	[[ $output == *"6.1.0-1, in $PWD/cache/kernel" ]]
	[ ! -s calls ]
}

@test "the kernel: where it cannot be had, that is said and no failure" {
	fake uname 'echo sparc'
	kernel
	[[ $output == *"tests/rxe, which will skip: sparc is not x86_64" ]]
	fake uname 'echo x86_64'
	kernel
	[[ $output == *"which will skip: dpkg-deb is missing" ]]
	fake dpkg-deb true
	fake python3 true
	kernel
	[[ $output == *"which will skip: apt-cache does not know linux-image-amd64" ]]
	fake apt-cache 'echo "  Depends: linux-image-6.1.0-1-amd64"'
	: >broken
	fake apt-get 'echo "E: no network"; exit 100'
	rm -f bin/tail
	ln -s "$(command -v tail)" bin/
	kernel
	[[ $output == *"fetching linux-image-6.1.0-1-amd64"*"which will skip: E: no network" ]]
	[ -z "$(ls cache)" ]
}
