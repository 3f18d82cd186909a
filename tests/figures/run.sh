#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD_DIR [OUT [FIGURE...]]: the figures of the INT-label paper, 06 to
# 22, each as fig*.csv and fig*.svg, and README.md of them all. OUT is where this
# script is, if not said. With FIGUREs only those (07_08 is one), and what the
# page says of them on the standard output.
set -euo pipefail
build=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
out=${2:-$here}
export LC_ALL=C PATH=$build:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
. "$here/lib.sh"
. "$here/figures.sh"
. "$here/summary.sh"

figures=(06 07_08 09 10 11 12 13 14 15 16 17 18 19 20 21 22)
[ $# -le 2 ] || figures=("${@:3}")
for f in "${figures[@]}"; do
	"fig$f"
done
if [ $# -gt 2 ]; then
	cat "$work"/fig*.md
else
	summary >"$work/README.md"
	mv "$work/README.md" "$out/README.md"
fi
