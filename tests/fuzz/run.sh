#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh SECONDS FUZZER...: runs each fuzzer that long, two at a time, on its
# corpus (tests/fuzz/corpus/NAME; what it finds anew is not kept). A line for
# each; at the end "N passed, N failed". Inputs that crash are left beside the
# fuzzer, as crash-NAME-*.
set -u
[ $# -ge 2 ] || {
	echo "usage: run.sh SECONDS FUZZER..." >&2
	exit 2
}
seconds=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM

one() {
	local fuzzer=$1 name=${1##*/}
	name=${name#fuzz_}
	local log=$work/$name.log found=$work/$name.found

	mkdir "$found"
	[ ! -d "$here/corpus/$name" ] || set -- "$1" "$here/corpus/$name"
	if "$fuzzer" -max_total_time="$seconds" -timeout=20 -max_len=8192 \
		-artifact_prefix="${fuzzer%/*}/crash-$name-" \
		"$found" "${@:2}" >"$log" 2>&1; then
		: >"$work/$name.ok"
		echo "ok $name: $(sed -n 's/^Done \([0-9]*\) runs.*/\1 runs/p' "$log")"
	else
		echo "not ok $name"
		tail -n 40 "$log" | sed 's/^/# /'
	fi
}

for fuzzer; do
	[ "$(jobs -pr | wc -l)" -lt 2 ] || wait -n
	one "$fuzzer" &
done
wait
passed=$(find "$work" -name '*.ok' | wc -l)
echo "$passed passed, $(($# - passed)) failed"
[ "$passed" = $# ]
