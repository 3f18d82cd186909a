# SPDX-License-Identifier: BSD-2-Clause
# What dta-dump tells of how full a table is, against how many keys were written
# into it, the theory, and what dta-query finds.

load ../helpers

SLOTS=$(size 131072 262144)

setup() {
	NAME=dta-test-$$-load-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	remove_regions "$NAME"
}

# fill KIND COPIES LOAD: so many random keys for each slot; the row, the truth,
# and the rows of verify for all keys and for the oldest 1/256.
fill() {
	local kind=$1 copies=$2 keys of=1
	keys=$(awk -v l="$3" -v s=$SLOTS 'BEGIN { printf "%d", l * s }')

	[ "$kind" != postcard ] || of=5 # reports of a key
	printf '[t]\nid = 1\nkind = %s\nkey = u32\ncopies = %s\n' "$kind" "$copies" >l.ini
	case $kind in
	keywrite) printf 'value = 4\nslots = %s\n' $SLOTS ;;
	postcard) printf 'values = 1-262144\nchunks = %s\n' $SLOTS ;;
	keyinc) printf 'slots = %s\n' $SLOTS ;;
	esac >>l.ini
	dta-collect --create --layout l.ini --region "$NAME"
	dta-gen uniform --kind "$kind" --key-type u32 --flows "$keys" -q \
		--truth truth.csv -w - | dta-translate -q -r - --region "$NAME"
	dta-dump region "$NAME" -o ndjson >row
	cat row
	[ "$keys" -gt $((4 * SLOTS)) ] ||
		dta-query verify --region "$NAME" --truth truth.csv -o ndjson >all
	head -n $((1 + of * (keys / 256))) truth.csv >oldest.csv
	dta-query verify --region "$NAME" --truth oldest.csv -o ndjson >oldest ||
		[ $? = 3 ] # none is left
	dta-collect --remove --region "$NAME"
	awk -v n="$copies" -v l="$3" -v s=$SLOTS 'BEGIN {
		x = n * l; free = exp(-x)
		print "{\"n\":" n ",\"load\":" l ",\"x\":" x ",\"free\":" free ",\"slots\":" s "}"
	}' >true
}

# so FILTER: of $t, what is true, and the rows $r, $all and $oldest.
so() {
	echo "$1"
	jq -ne --slurpfile t true --slurpfile r row --slurpfile all all \
		--slurpfile oldest oldest "$1" >/dev/null
}

# Slots as by theory, within four standard deviations.
used_as_expected() {
	so '$t[0] as $t |
		($t.slots * $t.free * (1 - (1 + $t.x) * $t.free)) as $var |
		($r[0].used - $t.slots * (1 - $t.free) | fabs) <= 4 * ($var | sqrt) and
		($r[0].used_share - $r[0].used / $t.slots | fabs) < 1e-5'
}

# What is expected of dta-query, and what it finds: four standard deviations,
# and half a per cent for the load, which is an estimate.
success_as_expected() {
	so 'def near($p; $v): ($v.right / $v.asked - $p | fabs) <=
			0.005 + 4 * ($p * (1 - $p) / $v.asked | sqrt);
		near($r[0].average_success; $all[0]) and
		near($r[0].success; $oldest[0]) and $all[0].wrong == 0'
}

@test "slots used, the load, and the answers to expect" {
	for of in 'keywrite 1' 'keywrite 2' 'keywrite 4' 'postcard 2' 'keyinc 2'; do
		for load in 0.1 0.5 1 3; do
			[ "$of $load" != 'keywrite 4 3' ] || continue # 2 slots are free
			echo "$of, load $load"
			# shellcheck disable=SC2086
			fill $of $load
			used_as_expected
			so '($r[0].load / $t[0].load - 1 | fabs) < 0.025 and
				$r[0].load_above == null'
			success_as_expected
		done
	done
}

@test "a full table: no load, but what it is above; no promise of answers" {
	for of in 'keywrite 4 3' 'keywrite 2 12' 'keyinc 1 12'; do
		echo "$of"
		# shellcheck disable=SC2086
		fill $of
		used_as_expected
		so '$r[0].load == null and $r[0].success == null and
			$r[0].average_success == null and
			$r[0].load_above < $t[0].load and
			$r[0].success_below > 0 and $r[0].success_below < 0.1 and
			$r[0].success_below >= $oldest[0].right / $oldest[0].asked and
			$r[0].average_success_below >= $r[0].success_below and
			$r[0].average_success_below < 1 and
			$r[0].load_above * $t[0].n > 8'
	done
	[ "$(jq .right oldest)" = 0 ]
}

@test "what a region itself counts: entries, sums of counters, immediates" {
	printf '[l]\nid = 1\nkind = append\nvalue = 4\nentries = 64\nlists = 9\n' >l.ini
	printf '[c]\nid = 2\nkind = keyinc\nkey = u32\nslots = 1Ki\ncopies = 3\n' >>l.ini
	dta-collect --create --layout l.ini --region "$NAME"
	dta-gen uniform --kind append --table 1 --lists 5 --count 1000 --immediate \
		-q -w - | dta-translate -q -r - --region "$NAME"
	# 1 + 2 + ... + 100, three times
	dta-gen uniform --kind keyinc --key-type u32 --table 2 --flows 100 \
		-q -w - | dta-translate -q -r - --region "$NAME"
	dta-dump region "$NAME" -o ndjson >row
	jq -c . row
	jq -se '.[0] | .written == 1000 and .lists_used == 5 and .used == 320 and
		(.used_share - 320 / (9 * 64) | fabs) < 1e-5 and .load == null and
		.load_above == null and .success == null and .sum == null' row
	jq -se '.[1] | .sum == 15150 and .written == null and
		.lists_used == null and .success == .average_success' row
	jq -se 'all(.notified == 1000)' row
}
