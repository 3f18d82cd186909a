#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD_DIR: every benchmark, as a table and in BUILD_DIR/bench.ndjson
# (path, rate_mps, limit_mps, ratio, cpu, ...). Figures depend on the machine and on
# its neighbours; the ratios, measured in one run, depend less.
set -euo pipefail
build=$1
command -v jq >/dev/null || {
	echo "bench: jq is missing: make setup bench installs it" >&2
	exit 1
}
cd "$(dirname "$0")/../.."
PATH=$PWD/$build:$PATH
examples=$PWD/cmd/dta-collect/examples
out=$build/bench.ndjson
dir=$(mktemp -d)
name=dta-test-$$-bench
. tests/bench/pages.sh
trap 'dta-collect --remove --region $name 2>/dev/null || :
	give_pages_back
	rm -rf "$dir"' EXIT

: >"$out"
reserve_pages 3000

# Rows of NDJSON on stdin: to the file, and as a line of the table.
row() {
	jq -c --unbuffered --arg cpu "$cpu" '. + {cpu: $cpu}' | tee -a "$out" | jq -r '[.path, .rate_mps // .instructions,
		.limit_mps // .limit, .ratio, .pages]
		| map(if . == null then "-" elif type == "number"
			then (. * 100 | round / 100 | tostring) else . end) | @tsv' |
		awk -F'\t' '{ printf "%-58s %9s %9s %6s  %s\n", $1, $2, $3, $4, $5 }'
}

cpu=$(sed -n '/^model name/ { s/.*: //p; q }' /proc/cpuinfo)
echo "CPU: ${cpu:=unknown}"
printf '%-58s %9s %9s %6s  %s\n' "path" "M/s" "limit" "ratio" "pages"
for b in tests/bench/bench_*.c; do
	b=${b##*/}
	[ -x "$build/tests/bench/${b%.c}" ] || continue # a part left out
	"$build/tests/bench/${b%.c}" | row
done

# Programs, from outside: seconds of a run, best of three.
seconds() { # command
	local best=1e9 t
	for _ in 1 2 3; do
		local t0 t1
		t0=$(date +%s.%N)
		eval "$1"
		t1=$(date +%s.%N)
		best=$(awk -v a="$t0" -v b="$t1" -v m="$best" \
			'BEGIN { d = b - a; print d < m ? d : m }')
	done
	echo "$best"
}

program() { # path reports limit_mps command
	local s
	s=$(seconds "$4")
	jq -nc --arg path "$1" --argjson n "$2" --argjson s "$s" \
		--argjson limit "$3" '{path: $path, rate_mps: ($n / $s / 1e6),
		limit_mps: $limit, ratio: (if $limit then $n / $s / 1e6 / $limit
		else null end)}' | row
}

# The rate of a row that is there.
rate_of() { # path
	jq -s --arg path "$1" 'map(select(.path == $path)) | .[0].rate_mps' "$out"
}

reports=4000000
cat >"$dir/bench.ini" <<-INI
	[flows]
	kind = keywrite
	key = flow4
	value = 4
	copies = 1
	memory = 1Gi
INI
dta-collect --create --layout "$dir/bench.ini" --region $name
dta-collect --region $name --ticket "$dir/ticket.ini"
dta-gen uniform --flows $reports --count $reports -q -w "$dir/reports.pcap"
cat "$dir/reports.pcap" >/dev/null
limit=$(jq -s 'map(select(.path | startswith("walk a capture"))) | .[0].rate_mps' "$out")
program "dta-translate -r FILE --region NAME" $reports "${limit:-null}" \
	"dta-translate -q -r '$dir/reports.pcap' --region $name"
program "dta-translate -r FILE --region NAME -j 2 (limit: -j 1)" $reports \
	"$(rate_of "dta-translate -r FILE --region NAME")" \
	"dta-translate -q -r '$dir/reports.pcap' --region $name -j 2"
program "dta-translate -r FILE --ticket T -w FILE" $reports null \
	"dta-translate -q -r '$dir/reports.pcap' --ticket '$dir/ticket.ini' -w '$dir/roce.pcap'"
program "dta-collect -r FILE" $reports null \
	"dta-collect -q --region $name -r '$dir/roce.pcap'"
program "dta-collect -r FILE -j 2 (limit: -j 1)" $reports "$(rate_of "dta-collect -r FILE")" \
	"dta-collect -q --region $name -r '$dir/roce.pcap' -j 2"
dta-gen uniform --flows $reports --count $reports -q --truth "$dir/truth.csv" -w /dev/null
cut -d, -f3 "$dir/truth.csv" | tail -n +2 >"$dir/keys"
rm "$dir/truth.csv"
program "dta-query keywrite --keys FILE -o csv" $reports null \
	"dta-query keywrite --region $name -k '$dir/keys' -o csv >/dev/null"
program "dta-query keywrite --keys FILE -o csv -j 2 (limit: -j 1)" $reports \
	"$(rate_of "dta-query keywrite --keys FILE -o csv")" \
	"dta-query keywrite --region $name -k '$dir/keys' -o csv -j 2 >/dev/null"
# Into pipes; three programs on two cores.
for workload in "uniform --flows $reports" int-path; do
	program "dta-gen ${workload%% *} -w - into a pipe" $reports null \
		"dta-gen $workload --count $reports -q -w - | cat >/dev/null"
done
two=$(taskset -cp $$ | sed 's/.*: //' | awk -F'[,-]' '{ print (NF > 1 ? $1 "," $2 : $1) }')
program "dta-gen -w - | dta-translate -w - | dta-collect, two cores" $reports null \
	"taskset -c $two dta-gen uniform --flows $reports --count $reports -q -w - |
	taskset -c $two dta-translate -q -r - --ticket '$dir/ticket.ini' -w - |
	taskset -c $two dta-collect -q --region $name -r -"
