#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD_DIR [all|full]: every unit test and every bats file, $JOBS at a
# time, without the tests that are tagged "full"; all: with them, and all at full
# size; full: they alone. A line for each file, and what failed in it; with V=1 a
# line for each test, with its time. ONLY: these files. Closes with the plain line
# "N passed, N failed, N skipped".
set -u
build=$1
cd "$(dirname "$0")/.." || exit 1
export BUILD=$PWD/$build ALL=${2:+all} SIZE=${2:-} V=${V:-} LIMIT=${LIMIT:-900} \
	SANITIZE=${TSAN_OPTIONS:-}
work=$(mktemp -d)
export work
rm -f "$BUILD/faults.txt" # tests/faults and tests/rxe write it
trap 'rm -rf "$work"' EXIT
tests/sweep.sh

# Units end with 77 where something is missing. Says why, in a line.
unit() { # NAME, output
	timeout 600 "$BUILD/$1" ${ALL:+all} >"$2" 2>&1
	case $? in
	0) sums="1 0 0" ;;
	77) sums="0 0 1" why=$(tail -n 1 "$2") ;;
	*) sums="0 1 0" ;;
	esac
}

# What a file has started and what has not ended in time, even when its test was
# told to: bats would wait for it for ever. It is named, and killed.
end_late() { # FILE
	local pids

	sleep "$LIMIT" || return
	mapfile -t pids < <(grep -lzxs "OF_FILE=$work/$1" /proc/[0-9]*/environ |
		cut -d/ -f3)
	echo "not ok: still there after $LIMIT s:"
	ps -o pid=,ppid=,stat=,wchan:20=,args= "${pids[@]}"
	kill -KILL "${pids[@]}"
} >&2

# A test that hangs fails; the slowest takes a tenth of this. One that bats has
# announced and that did not run has failed, too.
suite() { # FILE, output
	local late tags=()

	case ${ONLY:+all}$SIZE in # what is asked for by name is run whole
	'') tags=(--filter-tags '!full') ;;
	full) tags=(--filter-tags full) ;;
	esac

	end_late "$1" 2>"$2.late" &
	late=$!
	OF_FILE=$work/$1 BATS_TEST_TIMEOUT=600 bats --tap --timing "${tags[@]}" \
		"$1" >"$2" 2>&1 || [ $? = 1 ] || echo "not ok: bats failed" >>"$2"
	pkill -PIPE -P "$late" # bash does not tell of that one
	wait "$late" 2>/dev/null
	cat "$2.late" >>"$2"
	sums=$(awk '/^1\.\.[0-9]+$/ { plan = substr($1, 4); planned = 1 }
		/^ok / { if (/ # skip/) skipped++; else passed++ }
		/^not ok/ { failed++ }
		END { ran = passed + skipped + failed
			failed += plan > ran ? plan - ran : !planned
			print passed + 0, failed + 0, skipped + 0 }' "$2")
	why=$(sed -n 's/^ok .* # skip \(.*\)/\1/p' "$2" | sort -u | head -n 1)
}

# What of the output is shown: failures, and what no program should have said.
shown() { # output
	if [ "$V" = 1 ]; then
		cat "$1"
	else
		awk '/^not ok/ { show = 1 }
			/^ok / { show = 0 }
			show || !/^(ok |# |1\.\.)/' "$1"
	fi
}

# What ThreadSanitizer has found in programs of a file (SAN=thread): also in
# those whose end no test looks at.
races() { # output
	local race=("$1".race.*)

	[ -e "${race[0]}" ] || return
	echo "not ok: races in programs: ${#race[@]}, the first:"
	head -n 60 "${race[0]}"
}

one() { # FILE
	local out=$work/${1//\//.} began=$EPOCHREALTIME sums why="" p f s

	export TSAN_OPTIONS="$SANITIZE log_path=$out.race"
	case $1 in
	*.bats) suite "$1" "$out" ;;
	*) unit "$1" "$out" ;;
	esac
	read -r p f s <<<"$sums"
	races "$out" >>"$out" && f=$((f + 1))
	echo "$p $f $s" >>"$work/sums"
	{
		flock 9
		printf '%-9s%-36s%6.1f s  %d passed%s%s%s\n' \
			"$([ "$f" = 0 ] && echo ok || echo "not ok")" "$1" \
			"$((${EPOCHREALTIME/[.,]/} - ${began/[.,]/}))e-6" "$p" \
			"$([ "$f" = 0 ] || echo ", $f failed")" \
			"$([ "$s" = 0 ] || echo ", $s skipped")" "${why:+: $why}"
		[ "$f$V" = 0 ] || shown "$out"
	} 9>>"$work/lock"
}
export -f one unit suite shown end_late races

# Those that take long and wait much begin, so that two more of them run than
# there are processors; the rest by size, so that what is left for the end is
# small.
units=()
for t in "$build"/tests/unit/test_*; do
	case $t in *.o | *.d) continue ;; esac
	t=${t#"$build"/}
	[ -e "$t.c" ] && units+=("$t") # else a stale binary
done
# What a sanitizer can find is in our programs, on this machine.
dirs=(rxe faults net p4 cli)
[[ $build != *-*san* ]] || dirs=(net cli)
mapfile -t suites < <(for d in "${dirs[@]}"; do
	ls -S tests/$d/*.bats 2>/dev/null
done | case $SIZE in
'') xargs -r grep -L '^# bats file_tags=full' ;;
full) xargs -r grep -lE '^# bats (file|test)_tags=full' ;;
*) cat ;;
esac)
[ "$SIZE" != full ] || units=()
files=("${suites[@]}" "${units[@]}")
[ -z "${ONLY:-}" ] || read -ra files <<<"$ONLY"
printf '%s\0' "${files[@]}" |
	xargs -0 -P "${JOBS:-$(($(nproc) + 2))}" -I{} bash -c 'one "$1"' _ {}

awk '{ p += $1; f += $2; s += $3 }
	END { printf "%d passed, %d failed, %d skipped\n", p, f, s
		exit !p || f > 0 }' "$work/sums"
