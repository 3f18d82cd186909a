# SPDX-License-Identifier: BSD-2-Clause
# lib.sh - what the scripts of the figures are made of. A script PAPER/NAME.sh
# runs the programs of PATH in a directory of its own and tells its figures, line
# by line, to OUT/PAPER-NAME.tsv, which page.py draws. SCALE says how much there
# is of everything: 1, or less for a quick look.
#
#   figure "DTA Fig. 7a" TITLE    begins a figure; a script may have several
#   axes X Y [logx] [logy]        what they are, with units
#   point SCHEME X Y              a point of our curve, which was measured
#   theory SCHEME X Y             a point of a closed form's curve
#   paper SCHEME X Y              the authors' point
#   row WHAT PAPER OURS WHY       of the table
#   note TEXT                     a paragraph below it
#   run COMMAND...                runs it, and the page has it; a single word
#   run 'COMMAND | COMMAND'       is a line for the shell
#
# A colour is a SCHEME, in curve and point. X may be a word: then it is a place
# on the axis, in order of appearance. A script whose numbers are times has the
# line timed=1, and is alone on the machine then.
set -euo pipefail
export LC_ALL=C
SCALE=${SCALE:-1}
self=$(realpath "$0")
paper=$(basename "${self%/*}")
tsv=$(realpath "${OUT:-.}")/$paper-$(basename "$self" .sh).tsv
: >"$tsv"
# A region of this script's own, which goes when it ends.
REGION=figures-$paper-$$
trap 'dta-collect --remove --region "$REGION" >/dev/null 2>&1 || true' EXIT

tell() { # WORD...
	local IFS=$'\t' words=("${@//[$'\t\n']/ }")

	echo "${words[*]//$REGION/figures}" >>"$tsv"
}

place() { # KIND SCHEME X Y
	if [[ ! $4 =~ ^-?[0-9]*\.?[0-9]+(e[-+]?[0-9]+)?$ ]]; then
		echo "$self: $*: no number" >&2
		kill $$ # whatever subshell this is
	fi
	tell "$@"
}

figure() { tell figure "$@" && echo "$1" >&2; }
axes() { tell axes "$@"; }
point() { place point "$@"; }
theory() { place theory "$@"; }
paper() { place paper "$@"; }
row() { tell row "$@"; }
note() { tell note "$*"; }

run() {
	if [ $# = 1 ]; then
		tell run "$1" && bash -o pipefail -c "$1"
	else
		tell run "$(printf '%q ' "$@")" && "$@"
	fi
}

# scaled N [LEAST]: so many at this SCALE, a whole number.
scaled() {
	awk -v n="$1" -v s="$SCALE" -v least="${2:-1}" \
		'BEGIN { n = int(n * s); print n < least ? least : n }'
}

# calc EXPRESSION: of awk, to 4 significant digits.
calc() { awk "BEGIN { printf \"%.4g\n\", ($1) }"; }
