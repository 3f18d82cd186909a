# SPDX-License-Identifier: BSD-2-Clause
# common.bash - what INT-label's figures have in common. Network, traffic and
# what is not said are the defaults of int-label-ctl sim; all is by seed.
# shellcheck disable=SC2154,SC2034
. "${BASH_SOURCE%/*}/../lib.sh"

long=(-d "$(scaled 400 10)s" --warmup 2s)
packets=$(scaled 1000000 100000)

# sim ARGS...: the summary of a simulation, as JSON; shares in per cent, as the
# paper has them.
sim() {
	run int-label-ctl sim -q --summary -o ndjson "$@" |
		jq -c '(.coverage, .overhead, .loss) *= 100'
}

# of FILTER JSON: a number of a summary, to 4 significant digits.
of() {
	jq -r "$1 | if . == 0 then 0 else
		(. | fabs | log10 | floor) as \$e | pow(10; 3 - \$e) as \$m |
		(. * \$m | round) / \$m end" <<<"$2"
}

# per10000 FIELD JSON: of 10,000 packets.
per10000() { jq -r ".$1 / .packets * 10000 | round" <<<"$2"; }

# The paper's measure of bandwidth: items a packet, of 32 bytes, by 1000 bytes.
occupation='.items / .packets * 3.2'

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
	local low=1000 high=105000 t i result

	for i in {1..7}; do
		t=$(((low + high) / 2))
		result=$("${@:2}" -t ${t}us)
		if jq -e ".labels > $1" <<<"$result" >/dev/null; then
			low=$t
		else
			high=$t
		fi
	done
	of .coverage "$result"
}

# by_chance K R B MEAN: labels of a packet, mean, simulated by switches that
# label by chance as the form says, and by how many standard errors it is off.
by_chance() {
	local f

	f=$(jq -nr "[range(6) | ($3 * . / 5) as \$f | \$f + $2 * (1 - \$f)] |
		map(tostring) | join(\",\")")
	sim -a "$1" -b B -f "$f" -t 300d --rate "$packets" -d 1500ms \
		--warmup 500ms -s "$1$3${2#*.}" --flows 1G --link-rate 100G |
		jq -r ".carried as \$c | (\$c | add) as \$n |
		([\$c | to_entries[] | .key * .value] | add / \$n) as \$m |
		([\$c | to_entries[] | .key * .key * .value] | add / \$n) as \$q |
		\"\(\$m * 1e6 | round / 1e6) \((\$m - $4) /
		((\$q - \$m * \$m) / \$n | sqrt | . + 1e-9) * 100 | round / 100)\""
}
