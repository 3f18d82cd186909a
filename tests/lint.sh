#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# lint.sh SOURCES...: what a compiler does not say by itself, and what it does.
# A check is one rule on one file. Prints each finding as file:line: rule, and
# closes with "lint: N checks passed" or "lint: N findings in N checks".
set -u
cd "${LINT_ROOT:-$(dirname "$0")/..}" || exit 1 # the test of this script sets it
export LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs=$(nproc)

FUNCTION_LINES=80
FILE_LINES=1200
warnings=(-std=gnu11 -D_GNU_SOURCE '-DVERSION="lint"' '-DBUILT_IN=""' -Ilib -Werror
	-Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
	-Wpointer-arith -Wwrite-strings -Wundef -Wold-style-definition
	-Wredundant-decls)
# Which way includes point: what a room may use beside itself, and with it what
# that may use. cli is there for programs alone.
declare -A uses=([base]="" [threads]=base [hash]=base [net]=hash [packet]=net
	[row]=net [region]="net threads" [rdma]="packet region" [verbs]=rdma
	[cluster]=rdma [dta]=rdma [query]="cluster verbs row model" [int]=packet
	[telemetry]="int row threads" [xdp]=telemetry [label]=row
	[sim]="label int packet row" [export]=row [model]=""
	[cli]="export packet row threads")
library_may_not='printf|vprintf|puts|putchar|perror|exit|_exit|abort|assert'
library_may_not+='|getenv|secure_getenv|setlocale|signal|sigaction|system'
library_may_not+='|err|errx|warn|warnx|cli_[a-z0-9_]+'
nobody_may='strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atoll|atof|strtok'
nobody_may+='|alloca|rand|srand|tmpnam|mktemp'

sources=("$@")
c_files=() cc_files=() headers=() beside=()
for f in "$@"; do
	case $f in
	*.bpf.c) ;; # built for another machine
	tests/bench/peers/*.c*) beside+=("$f") ;;
	*.c) c_files+=("$f") ;;
	*.h) headers+=("$f") ;;
	esac
done
mapfile -t scripts < <(find tests .ci -name '*.sh' -o -name '*.bash' \
	-o -path .ci/run 2>/dev/null | sort)
mapfile -t bats < <(find tests -name '*.bats' | sort)

checks=0
# checked N: N more rules on files were looked at.
checked() { checks=$((checks + $1)); }
# found FILE:LINE: TEXT on stdin, a line each.
found() { cat >>"$work/findings"; }

# The compilers. gcc optimizes, for the warnings which need data flow.
compile() {
	local out=$work/cc.$$.$RANDOM
	"$@" >"$out" 2>&1 ||
		grep -E '^[^ ]*:[0-9]+:.*(error|warning): ' "$out" ||
		echo "$*: failed"
	rm -f "$out"
}
export -f compile
export work
# each COMMAND... -- FILES...: COMMAND FILE for each file, in parallel.
each() {
	local command=()
	while [ "$1" != -- ]; do
		command+=("$1")
		shift
	done
	shift
	checked $#
	[ $# = 0 ] || printf '%s\0' "$@" | xargs -0 -P "$jobs" -I{} \
		bash -c 'compile "$@"' _ "${command[@]}" {} | found
}
cflags=$(pkg-config --cflags libpcap zlib libedit 2>/dev/null)
# shellcheck disable=SC2206
warnings+=($cflags "-I${BUILD:-build}/lib") # what make generates
# Some of these need packages that make bench-peers alone installs.
glib=$(pkg-config --cflags glib-2.0 2>/dev/null)
for f in "${beside[@]}"; do
	# shellcheck disable=SC2086
	gcc $glib -Ilib -E "$f" >/dev/null 2>&1 || continue
	case $f in
	*.cc) cc_files+=("$f") ;;
	*) c_files+=("$f") ;;
	esac
done
# shellcheck disable=SC2206
warnings+=($glib)
mkdir -p "$work/objects" # what of it needs what: see circles below
for f in "${c_files[@]}"; do
	mkdir -p "$work/objects/${f%/*}"
done
each gcc "${warnings[@]}" -O2 -c -o "$work/objects/{}.o" \
	-aux-info "$work/objects/{}.functions" -- "${c_files[@]}"
each clang "${warnings[@]}" -fsyntax-only -- "${c_files[@]}"
each gcc "${warnings[@]}" -Wno-unused -fsyntax-only -x c -- "${headers[@]}"
each g++ -std=gnu++20 -Werror -Wall -Wextra -fsyntax-only -- "${cc_files[@]}"

# Tests are left out: they leak and go on when a check has failed, and run
# under the sanitizers anyway.
in_lib=() in_code=() judged=()
for f in "${sources[@]}"; do
	[[ $f == lib/* && $f != lib/cli/* ]] && in_lib+=("$f")
	[[ $f == lib/* || $f == cmd/* ]] && in_code+=("$f")
	[[ $f == lib/*.c || $f == cmd/*.c ]] && judged+=("$f")
done
checked ${#judged[@]}
[ ${#judged[@]} = 0 ] || cppcheck -q -j "$jobs" --std=c11 --enable=warning,portability --inline-suppr \
	--suppress=missingInclude --suppress=unknownMacro \
	--suppress=internalAstError --suppress=legacyUninitvar \
	--template='{file}:{line}: cppcheck {id}: {message}' \
	-Ilib -D__linux__ -D__x86_64__ "${judged[@]}" 2>&1 | found

# The layout of make format.
checked ${#sources[@]}
for f in "${sources[@]}"; do
	clang-format --dry-run "$f" 2>&1 | grep -m 1 "^$f:"
done | sed 's/^\([^:]*:[0-9]*\):.*/\1: not as make format has it/' | found

# Lines.
checked ${#sources[@]}
for f in "${sources[@]}"; do
	expand "$f" | grep -nE '.{81}' | sed "s|^\([0-9]*\):.*|$f:\1: over 80 columns|"
done | found
checked $((${#sources[@]} + ${#scripts[@]} + ${#bats[@]}))
grep -nHE '[[:space:]]$' "${sources[@]}" "${scripts[@]}" "${bats[@]}" |
	sed 's/^\([^:]*:[0-9]*\):.*/\1: blank at the end/' | found
checked ${#sources[@]}
grep -nHE '^    ' "${sources[@]}" |
	sed 's/^\([^:]*:[0-9]*\):.*/\1: indented with blanks/' | found
checked $((${#sources[@]} + ${#scripts[@]} + ${#bats[@]}))
for f in "${sources[@]}" "${scripts[@]}" "${bats[@]}"; do
	head -n 2 "$f" | grep -q 'SPDX-License-Identifier: BSD-2-Clause' ||
		echo "$f:1: no SPDX line"
done | found
# The words are put together here so that this line does not find itself.
checked $((${#sources[@]} + ${#scripts[@]} + ${#bats[@]}))
grep -nHwE 'TO''DO|FIX''ME|X''XX' "${sources[@]}" "${scripts[@]}" "${bats[@]}" |
	sed 's/^\([^:]*:[0-9]*\):.*/\1: work left over/' | found

# Comments: tables and drawings are safe from the formatter, and none shows that
# it was not: after a reflow there is no blank behind the star.
checked ${#sources[@]}
awk '
	FNR == 1 { raw = comment = 0 }
	/\/\* clang-format off \*\// { raw = 1 }
	/\/\* clang-format on \*\// { raw = 0 }
	/^[ \t]*\/\*/ { comment = 1 }
	comment && !raw && (/[+|]--|--[+|]/ ||
		/^ \*[ \t]*[^ \t].*[^ .]   +[^ ].*[^ .]   +[^ ]/) {
			print FILENAME ":" FNR ": the formatter may take this table apart" }
	comment && /^[ \t]*\*[A-Za-z0-9(]/ {
		print FILENAME ":" FNR ": no blank behind the star" }
	/\*\// { comment = 0 }' "${sources[@]}" | found

# Sizes: a function runs from a line "{" to a line "}".
checked ${#sources[@]}
awk -v max=$FUNCTION_LINES '
	/^\{/ { start = FNR; name = before }
	/^\}/ && start {
		if (FNR - start + 1 > max)
			printf "%s:%d: function of %d lines: %s\n", FILENAME,
				start, FNR - start + 1, name
		start = 0
	}
	FNR == 1 { start = 0 }
	{ before = $0 }' "${sources[@]}" | found
checked ${#sources[@]}
wc -l "${sources[@]}" | awk -v max=$FILE_LINES '
	$2 != "total" && $1 > max { print $2 ":" $1 ": over " max " lines" }' |
	found

# Circles: rooms of the library that need each other's functions or data. Within
# a room files may: it is read as one.
for f in "${sources[@]}"; do
	[[ $f != lib/* || ! -e $work/objects/$f.o ]] || echo "$f.o"
done >"$work/of_library"
checked "$(wc -l <"$work/of_library")"
[ ! -s "$work/of_library" ] || (cd "$work/objects" && xargs nm -A) \
	<"$work/of_library" |
	awk '{ sub(/\/[^\/]*\.o:.*/, "", $1) }
		$2 ~ /[TDBRVC]/ { made[$3] = $1 }
		$2 == "U" { wants[n++] = $1 " " $3 }
		END { for (i = 0; i < n; i++) {
			split(wants[i], w, " ")
			if (w[2] in made && made[w[2]] != w[1])
				print w[1], made[w[2]] } }' |
	sort -u | tsort 2>&1 >/dev/null |
	awk '/loop/ { next } { print $2 ":0: in a circle of rooms" }' | found

# Includes: only of what a room may use.
may() { # may ROOM: all of that
	local r
	echo "$1"
	for r in ${uses[$1]}; do may "$r"; done
}
declare -A reach=()
for room in "${!uses[@]}"; do reach[$room]=" $(may "$room" | tr '\n' ' ')"; done
for f in "${sources[@]}"; do
	[[ $f == lib/* ]] || continue
	room=${f#lib/} room=${room%%/*}
	checked 1
	grep -nE '^#include "' "$f" | while IFS=: read -r line text; do
		to=${text#*\"} to=${to%%/*}
		if [ -z "${reach[$to]:-}" ] || [ -z "${reach[$room]:-}" ]; then
			echo "$f:$line: include of no known room: $text"
		elif [[ ${reach[$room]} != *" $to "* ]]; then
			echo "$f:$line: $room may not include $to"
		fi
	done
done | found
for f in "${sources[@]}"; do # a tool's private headers are its own
	[[ $f == cmd/* ]] || continue
	checked 1
	grep -nE '^#include "\.\.|^#include "[^"]*\.c"' "$f" |
		sed "s|^\([0-9]*\):|$f:\1: include of |"
done | found

# Names: a global function, an inline one of a header and a tag of a header stand
# once in the library. NAME_none.c has what it stands for.
checked "$(wc -l <"$work/of_library")"
sed 's/o$/functions/' "$work/of_library" | (cd "$work/objects" && xargs -r cat) |
	grep -vE '^/\* [^ ]*_none\.c:' | # /* FILE:LINE:NF */ static int NAME (...
	sed -nE 's|^/\* (lib/[^: ]+):([0-9]+):[NO]F \*/ (extern\|static) ([^(]*[ *])?([A-Za-z0-9_]+) \(.*|\5 \1:\2 \3|p' |
	sort -u >"$work/names"
in_library=()
for f in "${sources[@]}"; do
	[[ $f == lib/* ]] && in_library+=("$f")
done
checked ${#in_library[@]}
[ ${#in_library[@]} = 0 ] || awk '
	function tag(line, at) {
		if (match(line, /(struct|union|enum) [a-z0-9_]+( \{)?$/)) {
			split(substr(line, RSTART), w, " ")
			print w[1] "-" w[2], FILENAME ":" at, "tag"
		}
	}
	/^\{/ && before !~ /\{/ { tag(before, FNR - 1) }
	/^[^*]*(struct|union|enum) [a-z0-9_]+ \{$/ { tag($0, FNR) }
	{ before = $0 }' "${in_library[@]}" >>"$work/names"
awk '
	{ at[$1] = at[$1] " " $2; n[$1]++ }
	$3 == "extern" || $2 ~ /\.h:/ && $2 !~ /[\/_]private\.h:/ { open[$1] = 1 }
	END { for (name in open) if (n[name] > 1) {
		k = split(at[name], where, " ")
		for (i = 1; i <= k; i++)
			print where[i] ": a public name that stands " \
				"more than once: " name } }' "$work/names" | found

# Public headers of the library: all in one file, forwards and backwards. The one
# that is installed needs nothing else, and is C++, too.
public=()
for f in "${headers[@]}"; do
	case $f in lib/cli/* | */private.h | *_private.h) ;; lib/*) public+=("$f") ;; esac
done
printf '#include "%s"\n' "${public[@]#lib/}" >"$work/all.c"
tac "$work/all.c" >"$work/back.c"
each gcc "${warnings[@]}" -Wno-unused -fsyntax-only -x c -- "$work/all.c" "$work/back.c"
[ ! -f lib/query/dta.h ] || each g++ -std=c++11 -Wall -Wextra -Werror \
	-fsyntax-only -x c++ -- lib/query/dta.h

# What is cited is there: documents, pages of ours, files of the library.
mapfile -t p4 < <(find p4 -name '*.p4' 2>/dev/null | sort)
cited=("${p4[@]}")
for f in "${sources[@]}" "${scripts[@]}" "${bats[@]}"; do
	[ "$f" = tests/cli/lint.bats ] || cited+=("$f")
done
checked ${#cited[@]}
{
	find . -name build -prune -o -name '*.md' -printf '%f\n' -o -path './man/*' -printf '%f\n' |
		sed -E 's/^(.*)\.([157])$/\1(\2)/'
	find lib -name '*.[ch]' -printf '%P\n'
} | sort -u >"$work/there"
rooms=$(find lib -mindepth 1 -maxdepth 1 -printf '%f|')
document='\b[A-Za-z0-9_-]+\.m''d\b|wire-fa''cts|\bpaper 00[0-9]|\b(dta|int)[a-z-]*\([157]\)'
ours="(^|[^A-Za-z0-9_/.<\"-])(lib/)?(${rooms%|})/[a-z0-9_]+\.[ch]\b"
[ ${#cited[@]} = 0 ] || grep -noHE "$document|$ours" "${cited[@]}" |
	sed -E 's,^([^:]*:[0-9]*):[^A-Za-z0-9]?(lib/)?,\1 ,; / (hdr|fig)\.md$/d' |
	while read -r at what; do
		grep -qxF -- "$what" "$work/there" || echo "$at: cites $what, which is not here"
	done | found

# Calls. Comments go first, then strings.
calls() { # calls REGEX FILES...
	local regex=$1 f
	shift
	for f; do
		checked 1
		gcc -fpreprocessed -dD -E "$f" 2>/dev/null |
			sed -E 's/"([^"\\]|\\.)*"/""/g; s/^#.*//' |
			grep -oE "(^|[^A-Za-z0-9_>.])($regex)[[:space:]]*\(|\bstd(out|err)\b" |
			sort -u | sed "s|^|$f:0: may not use |"
	done
}
calls "$library_may_not" "${in_lib[@]}" >"$work/calls"
checked ${#in_lib[@]}
calls "$nobody_may" "${in_code[@]}" | grep -v 'std\(out\|err\)' >>"$work/calls"
checked ${#in_code[@]}
found <"$work/calls"

# Scripts.
for f in "${scripts[@]}"; do
	checked 1
	bash -n "$f" 2>&1 | sed "s|^|$f:0: |"
done | found
for f in "${bats[@]}"; do
	checked 1
	bats --count "$f" >/dev/null 2>"$work/bats" || sed "s|^|$f:0: |" "$work/bats"
done | found
# bats ends a test at a command that fails; but bash takes neither a failure
# that ! made nor one before && for one, unless it is what a function returns.
helpers=()
for f in "${scripts[@]}"; do
	[[ $f != *.bash ]] || helpers+=("$f")
done
checked $((${#bats[@]} + ${#helpers[@]}))
awk '
	function judge(after) {
		if (line ~ /^[[:space:]]*(if|while|until|elif) /)
			return
		if (line ~ /(^[[:space:]]*|; |(do|then|else|&&) )! [^-]/ &&
		    line !~ / \|\| / && line !~ /! [^;]*; *}$/ && after !~ /^}/)
			print where "a check by ! cannot fail here: run !"
		if (line ~ /^[[:space:]]*\[.*\] &&[[:space:]]+\[/ && after !~ /^}/)
			print where "a check before && cannot fail: two lines"
		if (line ~ /(^[[:space:]]*|; )wait( *(\|\||;)|$)/)
			print where "wait for whom? bats has a child, too"
	}
	FNR == 1 { judge(""); line = "" }
	line ~ /(\\|&&|\|)$/ { line = line " " $0; next }
	{ judge($0); line = $0; where = FILENAME ":" FNR ": " }
	END { judge("") }' "${bats[@]}" "${helpers[@]}" /dev/null | found

if [ -s "$work/findings" ]; then
	sort -u "$work/findings" | sort -s -t: -k1,1 -k2,2n
	echo "lint: $(sort -u "$work/findings" | wc -l) findings in $checks checks"
	exit 1
fi
echo "lint: $checks checks passed"
