# SPDX-License-Identifier: BSD-2-Clause
# lib.sh - what figures are made with: a CSV file of numbers, a picture of it,
# and a table of it with what is to be said about a difference.

# sim ARGS...: the summary of a simulation, as JSON.
sim() {
	int-label-ctl sim -q --summary -o ndjson "$@"
}

# means N ARGS...: the mean of so many runs, by seed; least and most: coverage.
means() {
	local s n=$1

	shift
	for ((s = 1; s <= n; s++)); do sim "$@" -s $s; done |
		jq -cs '. as $runs | (.[0] | map_values(numbers) | keys) |
			map({key: ., value: (. as $k | $runs |
				map(.[$k]) | add / length)}) | from_entries +
			{least: ($runs | map(.coverage) | min),
			most: ($runs | map(.coverage) | max)}'
}

# as_many LABELS COMMAND...: coverage of Base A with the interval at which it
# writes so many labels.
as_many() {
	local low=1000 high=105000 t i run

	for i in {1..7}; do
		t=$(((low + high) / 2))
		run=$("${@:2}" -t ${t}us)
		if jq -e ".labels > $1" <<<"$run" >/dev/null; then
			low=$t
		else
			high=$t
		fi
	done
	of .coverage "$run"
}

# adapted JSON COMMAND...: coverage; labels of 10,000 packets and commands a
# second, and beside them coverage of Base A with as many labels.
adapted() {
	of .coverage "$1"
	jq '.labels / .packets * 10000 | round' <<<"$1"
	jq '.commands / .interval * 10 | round' <<<"$1"
	as_many "$(jq .labels <<<"$1")" "${@:2}"
}

# of FILTER JSON: a number of a summary, to 4 significant digits.
of() {
	jq -r "$1 | if . == 0 then 0 else
		(. | fabs | log10 | floor) as \$e | pow(10; 3 - \$e) as \$m |
		(. * \$m | round) / \$m end" <<<"$2"
}

# begin NUMBER HEADER...: a figure.
begin() {
	fig=$1
	shift
	csv=$out/fig$fig.csv
	join , "$@" >"$csv"
	echo "figure $fig" >&2
}

join() { # SEPARATOR WORD...
	local IFS=$1

	shift
	echo "$*"
}

put() { # VALUE...: a row
	join , "$@" >>"$csv"
}

# paper FIGURE X COLUMN: the authors' number, ? if it was not published.
paper() {
	awk -F, -v f="$1" -v x="$2" -v c="$3" '
		$1 == f && $2 + 0 == x + 0 && $(c + 2) != "" {
			print $(c + 2); found = 1 }
		END { if (!found) print "?" }' "$here/paper.csv"
}

# draw HEADING X Y LINES [POINTS [RIGHT Y2]]: columns of the CSV file against its
# first one, numbers in a string: lines, points (the paper's), and lines of the
# right axis; log=x, y or xy before it.
draw() {
	local c plot=() set="out='$out/fig$fig.svg'; heading='$1'; x='$2'"

	for c in $4; do
		plot+=("'$csv' using 1:$c with linespoints pt 7 ps 0.5 lw 2")
	done
	for c in ${5-}; do
		plot+=("'$csv' using 1:$c with points pt 4 ps 1.2 lw 2")
	done
	for c in ${6-}; do
		plot+=("'$csv' using 1:$c axes x1y2 with linespoints dt 2 pt 9 ps 0.5 lw 2")
	done
	set+="; y='$3'; y2='${7-}'; log='${log-}'"
	gnuplot -e "$set" "$here/plot.gp" -e "plot $(join , "${plot[@]}")"
}

# say TITLE: a section of the page: the picture, the table, and stdin below it.
say() {
	{
		printf '## Fig. %s: %s\n\n![](fig%s.svg)\n\n' "$((10#$fig))" \
			"$1" "$fig"
		awk -F, '{ n = NF; gsub(/,/, " | "); print "| " $0 " |" }
			NR == 1 { while (n--) printf "|---"; print "|" }' "$csv"
		echo
		cat
	} >"$work/fig$fig.md"
}
