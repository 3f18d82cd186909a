#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD_DIR [PAPER[/NAME]...]: the figures of the papers, or of those
# named, as BUILD_DIR/figures.html (or OUT.html). See lib.sh.
set -euo pipefail
build=$(realpath "$1")
export PATH=$build:$build/tests/bench:$PATH
OUT=$(realpath -m "${OUT:-$build/figures}")
export OUT
cd "$(dirname "$0")"
mkdir -p "$OUT"
rm -f "$OUT"/*.tsv "$OUT/failed"

# one SCRIPT: in a directory of its own.
one() {
	(
		here=$PWD work=$(mktemp -d)
		trap 'rm -rf "$work"' EXIT
		cd "$work" && bash "$here/$1"
	) || {
		echo "$1: failed" >&2
		touch "$OUT/failed"
	}
}
export -f one

shift
[ $# -gt 0 ] || set -- */
free=() timed=()
for script in $(for what; do
	ls -d "${what%/}"/*.sh 2>/dev/null || echo "$what.sh"
done); do
	if grep -q '^timed=1' "$script"; then
		timed+=("$script")
	else
		free+=("$script")
	fi
done
printf '%s\n' "${free[@]}" | xargs -r -P "$(nproc)" -I{} bash -c 'one {}'
for script in "${timed[@]}"; do # those that take times: each alone
	one "$script"
done
python3 page.py "$OUT" >"$OUT.html"
echo "$OUT.html"
[ ! -e "$OUT/failed" ]
