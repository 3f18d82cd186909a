# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# tests/lint.sh finds what it is there to find: a small house with one wart of
# each kind, and the same house without.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	mkdir -p lib/base lib/net lib/region cmd/x tests
	cp "$TOP/.clang-format" .
	export LINT_ROOT=$PWD
	spdx='/* SPDX-License-Identifier: BSD-2-Clause */'
	{
		echo "$spdx"
		printf '#ifndef BASE_A_H\n#define BASE_A_H\nint a_get(int v);\n'
		echo '#endif'
	} >lib/base/a.h
	{
		echo "$spdx"
		printf '#include "base/a.h"\n\nint a_get(int v)\n{\n'
		printf '\treturn v;\n}\n'
	} >lib/base/a.c
	printf '#!/bin/bash\n# SPDX-License-Identifier: BSD-2-Clause\n' \
		>tests/x.sh
}

# Of all sources, or of SOURCES.
lint() {
	# shellcheck disable=SC2086
	run --separate-stderr "$TOP/tests/lint.sh" \
		${SOURCES:-$(find lib cmd -name '*.[ch]' | sort)}
	echo "$output$stderr"
}

# finds WORDS...: lint fails, and says all of it; then the warts are taken away.
finds() {
	local words

	lint
	[ "$status" = 1 ]
	for words; do
		[[ $output == *"$words"* ]]
	done
	[[ ${lines[-1]} == "lint: "*" findings in "*" checks" ]]
	rm -f lib/*/bad*.[ch]
}

bad() { # bad FILE TEXT: a file of one wart
	printf '%s\n%b' "$spdx" "$2" >"$1"
}

@test "a clean house passes" {
	lint
	[ "$status" = 0 ]
	[[ $output =~ ^lint:\ [0-9]+\ checks\ passed$ ]]
}

@test "warnings of the compilers, and headers that do not stand alone" {
	bad lib/base/bad.c 'int bad(int v);\nint bad(int v)\n{\n\treturn 0;\n}\n'
	bad lib/base/bad.h 'uint32_t bad_get(void);\n'
	finds 'lib/base/bad.c:3:13: error: unused parameter' \
		'lib/base/bad.h:2:1: error: unknown type name'
}

@test "what cppcheck sees" {
	bad lib/base/bad.c 'int bad(void);\nint bad(void)\n{
	int a[2] = { 1, 2 };\n\n\treturn a[2];\n}\n'
	finds 'cppcheck arrayIndexOutOfBounds'
}

@test "lines: width, blanks, tabs, license, leftovers" {
	bad lib/base/bad1.h "/* $(printf '%080d' 0) */\n"
	bad lib/base/bad2.h '\t\t\t\t\t\t\t\t\t/* tabs */\n'
	bad lib/base/bad3.h 'int bad; \n'
	bad lib/base/bad4.h 'struct bad {\n    int x;\n};\n'
	printf 'int bad;\n' >lib/base/bad5.h
	bad lib/base/bad6.h '/* TO''DO: this */\n'
	finds bad{1,2}.h:2:' over 80 columns' 'bad3.h:2: blank at the end' \
		'bad4.h:3: indented with blanks' 'bad5.h:1: no SPDX line' \
		'bad6.h:2: work left over'
}

@test "another layout than that of make format" {
	bad lib/base/bad.h 'enum { BAD };\n\nint  bad(void);\n'
	finds 'bad.h:4: not as make format has it'
}

@test "functions over 80 lines, files over 1200" {
	body=$(printf '\\tv++;\\n%.0s' {1..76})
	head='int bad(int v);\nint bad(int v)\n{\n'
	bad lib/base/bad.c "$head$body\treturn v;\n}\n"
	lint
	[ "$status" = 0 ]
	bad lib/base/bad.c "$head$body\tv++;\n\tv++;\n\treturn v;\n}\n"
	bad lib/base/bad.h "$(printf '\\n%.0s' {1..1200})"
	finds 'function of 81 lines: int bad(int v)' 'bad.h:1201: over 1200 lines'
}

@test "comments that the formatter took apart, or may" {
	bad lib/base/bad.h '/*\n * what came of a\n *table\n */\n'
	finds 'bad.h:4: no blank behind the star'
	bad lib/base/bad.h '/*\n * port    switch    leads to\n */\n'
	finds 'bad.h:3: the formatter may take this table apart'
	table='/* clang-format off */\n/*\n * port    switch    leads to\n */\n'
	bad lib/base/fine.h "$table/* clang-format on */\\n"
	lint
	[ "$status" = 0 ]
}

@test "includes that point up" {
	bad lib/net/bad.h '#include "region/bad.h"\n'
	bad lib/region/bad.h 'enum { BAD };\n'
	bad lib/base/bad.h '#include "cli/cli.h"\n'
	finds 'lib/net/bad.h:2: net may not include region' \
		'base may not include cli'
	mkdir lib/packet lib/row
	bad lib/packet/a.h '#include "row/b.h"\n'
	bad lib/row/b.h '#include "packet/c.h"\n'
	bad lib/packet/c.h 'enum { C };\n'
	finds 'packet may not include row' 'row may not include packet'
}

@test "rooms that need each other" {
	mkdir lib/hash
	for f in base/b base/d hash/c; do
		bad "lib/$f.c" "int bad_b(int v);\\nint bad_c(int v);\\nint bad_d(int v);\\n"
	done
	printf 'int bad_b(int v)\n{\n\treturn bad_d(v);\n}\n' >>lib/base/b.c
	printf 'int bad_d(int v)\n{\n\treturn v ? bad_b(v - 1) : 0;\n}\n' >>lib/base/d.c
	printf 'int bad_c(int v)\n{\n\treturn bad_b(v);\n}\n' >>lib/hash/c.c
	lint
	[ "$status" = 0 ] # within a room they may
	sed -i 's/return bad_d/return bad_c/' lib/base/b.c
	finds 'lib/base:0: in a circle of rooms'
}

@test "calls that a library or anybody must not make" {
	bad lib/base/bad.c '#include <stdlib.h>\nvoid bad(void);\nvoid bad(void)
{\n\texit(1); /* printf( */\n}\n'
	finds 'bad.c:0: may not use'
	bad lib/base/bad.c '#include <stdio.h>\nvoid bad(void);\nvoid bad(void)
{\n\tfputs("exit(", stderr);\n}\n'
	finds 'may not use stderr'
	bad lib/base/bad.c '#include <stdlib.h>\nint bad(const char *s);
int bad(const char *s)\n{\n\treturn atoi(s);\n}\n'
	finds 'atoi'
	# Words in comments, strings and longer names are no calls.
	bad lib/base/bad.c 'const char *bad_exit(int a);\nconst char *bad_exit(int a)
{\n\treturn a ? "exit(1)" : "x"; /* exit(1) */\n}\n'
	lint
	[ "$status" = 0 ]
}

@test "public names that stand twice" {
	bad lib/base/bad1.c 'int bad_get(void);\nint bad_get(void)\n{\n\treturn 0;\n}\n'
	bad lib/net/bad2.c 'static int bad_get(int v)\n{\n\treturn v;\n}\n
int bad_use(int v);\nint bad_use(int v)\n{\n\treturn bad_get(v);\n}\n'
	bad lib/base/bad1.h 'struct bad {\n\tint x;\n};\n'
	bad lib/net/bad2_private.h 'struct bad {\n\tint x;\n};\n'
	finds 'lib/base/bad1.c:3: a public name that stands more than once: bad_get' \
		'lib/net/bad2.c:2: a public name' 'once: struct-bad'
	# What is not public may.
	for f in base/bad1 net/bad2; do
		bad "lib/$f.c" "struct bad {\n\tint x;\n};\n
static int bad_get(int v)\n{\n\treturn v;\n}\n
int ${f#*/}_use(int v);\nint ${f#*/}_use(int v)\n{\n\treturn bad_get(v);\n}\n"
	done
	lint
	[ "$status" = 0 ]
}

@test "public headers in one file" {
	bad lib/base/bad_private.h 'static const int bad = 1;\n'
	bad lib/base/bad2.h 'static const int bad = 1;\n'
	lint
	[ "$status" = 0 ]
	bad lib/net/bad3.h 'static const int bad = 2;\n'
	finds "lib/net/bad3.h:2:18: error: redefinition of ‘bad’"
}

@test "documents and files that are cited, but not here" {
	mkdir man
	touch man/dta.7 read.md
	bad lib/base/bad1.h '/* read.md, dta(7), base/a.h, lib/base/a.c */\n'
	lint
	[ "$status" = 0 ]
	bad lib/base/bad1.h '/* unread.md, dta-x(5), base/b.h, paper 003 */\n'
	finds 'bad1.h:2: cites unread.md, which' 'cites dta-x(5)' \
		'cites base/b.h' 'cites paper 003'
}

@test "checks of bats that cannot fail" {
	SOURCES=lib/base/a.h
	# These lines would be found in this file, too: ~ for the mark.
	wart() { # finds WORDS in a function of these lines
		printf '# SPDX-License-Identifier: BSD-2-Clause\n%s {\n%b}\n' \
			'@test "x"' "${2//\~/!}" >tests/x.bats
		finds "$1"
		rm tests/x.bats
	}
	wart 'tests/x.bats:3: a check by ! cannot fail' '\t~ false\n\ttrue\n'
	wart 'tests/x.bats:3: wait for whom' '\twait\n\ttrue\n'
	wart 'tests/x.bats:4: a check by ! cannot fail' \
		'\tif true; then\n\t\t~ false\n\tfi\n'
	wart 'a check by ! cannot fail' '\ttrue && ~ true |\n\t\ttrue\n\ttrue\n'
	wart 'a check by ! cannot fail' \
		'\tfor x in 1; do ~ true; done\n\ttrue\n'
	wart 'tests/x.bats:3: a check before && cannot fail' \
		'\t[ x = y ] && [ x = x ]\n\ttrue\n'
	wart 'a check before && cannot fail' \
		'\t[[ x = y ]] &&\n\t\t[ x = x ]\n\ttrue\n'
	printf '# SPDX-License-Identifier: BSD-2-Clause\n%b' \
		'x() { ! true; }\ny() {\n\t! true || return 1\n' \
		'\t[[ x && ! -s y ]]\n\t[ x ] && return\n\trun ! true\n' \
		'\t[ x ] && [ y ]\n}\nz() {\n\t! true\n}\n' >tests/x.bash
	lint
	[ "$status" = 0 ]
}

@test "scripts that do not parse" {
	echo 'if true; then' >>tests/x.sh
	finds 'tests/x.sh:0: '
}

@test "files beside make bench-peers' others: C++, and packages that are missing" {
	command -v g++ >/dev/null || skip "no g++"
	mkdir -p tests/bench/peers
	bad tests/bench/peers/x.cc 'int x(int unused)\n{\n\treturn 0;\n}\n'
	bad tests/bench/peers/y.c '#include <no_such_package.h>\n'
	SOURCES="tests/bench/peers/x.cc tests/bench/peers/y.c"
	finds "x.cc:2:11: error: unused parameter"
	[[ $output != *y.c* ]]
	bad tests/bench/peers/x.cc 'int  x;\n'
	bad tests/bench/peers/y.c '#include <no_such_package.h>\nint  y;\n'
	finds 'x.cc:2: not as make format has it' 'y.c:3: not as make format has it'
}
