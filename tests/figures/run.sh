#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD_DIR [PAPER[/NAME]...]: the figures of the papers, or of those
# named, as BUILD_DIR/figures.html. See lib.sh.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")"
export PATH=$build:$build/tests/bench:$PATH OUT=${OUT:-$build/figures}
rm -rf "$OUT"
mkdir -p "$OUT"

# one SCRIPT: in a directory of its own.
one() {
	local script=$PWD/$1 work

	work=$(mktemp -d)
	if ! (cd "$work" && bash "$script"); then
		echo "$1: failed" >&2
		touch "$OUT/failed"
	fi
	rm -rf "$work"
}
export -f one

shift
[ $# -gt 0 ] || set -- */
for what; do
	ls -d "${what%/}"/*.sh 2>/dev/null || echo "$what.sh"
done >"$OUT/scripts"
# Those that take times run alone.
xargs grep -L '^timed=1' <"$OUT/scripts" |
	xargs -r -P "$(nproc)" -I{} bash -c 'one {}'
for script in $(xargs grep -l '^timed=1' <"$OUT/scripts"); do
	one "$script"
done
python3 page.py "$OUT" >"$build/figures.html"
echo "$build/figures.html"
[ ! -e "$OUT/failed" ]
