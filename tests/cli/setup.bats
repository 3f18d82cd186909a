# SPDX-License-Identifier: BSD-2-Clause
# tests/setup.sh, with programs in the place of dpkg and apt that only take
# notes. Nothing is installed.

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
	run --separate-stderr env "PATH=$PWD/bin" "$SETUP" list
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

@test "the list of this tree names packages, one a line" {
	run -1 grep -vE '^(#.*|[a-z0-9][a-z0-9.+-]+)$' "$TOP/packages.txt"
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
