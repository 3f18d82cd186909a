# SPDX-License-Identifier: BSD-2-Clause
# Figures: make figures in small, and its page; what was measured by the age of
# keys beside what theory says, and the best table that dta-plan offers against
# the real one.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-fig-$BATS_TEST_NUMBER
}

teardown() { remove_regions "$NAME"; }

# table KIND LINE...: a region with one table of flow4 keys.
table() {
	printf '%s\n' '[keys]' "kind = $1" 'key = flow4' "${@:2}" >keys.ini
	dta-collect --create --layout keys.ini --region "$NAME"
}

# report OPTION...: that many random keys, into the table, and their truth.
report() {
	dta-gen uniform -q "$@" --truth truth.csv -w - |
		dta-translate -q -r - --region "$NAME"
}

by_age() {
	dta-query verify --region "$NAME" --truth truth.csv --by-age "$@" \
		-o ndjson >ages
}

# Success is within five standard deviations of what is planned, in each row.
as_planned() {
	cat ages
	jq -se 'length > 0 and all(.[]; (.success - .planned) as $off |
		$off * $off <= 25 * (.planned * (1 - .planned) + 1e-4) / .asked)' ages
}

@test "by age: bins of equal size, the youngest first, as theory has them" {
	table keywrite 'value = 4' 'slots = 64Ki' 'copies = 2'
	report --flows 50K
	by_age 10
	as_planned
	jq -se 'length == 10 and all(.[]; .asked == 5000 and .copies == 2 and
		.wrong == 0 and .asked == .right + .missing + .ambiguous) and
		(map(.age) == [range(1; 11) / 10]) and
		(map(.success) | . == (sort | reverse))' ages
	# They add up to the whole, and that is what dta-plan has for this load.
	right=$(dta-query verify --region "$NAME" --truth truth.csv -o ndjson |
		jq .right)
	jq -se --argjson r "$right" 'map(.right) | add == $r' ages
	by_age 1
	plan=$(dta-plan keywrite --flows 50K --memory 512Ki -n 2 -o ndjson |
		jq .average_success)
	jq -e --argjson r "$right" --argjson p "$plan" '.success == $r / 50000 and
		.load > 0.76 and (.planned - $p | fabs) < 1e-4' ages
	run -2 dta-query verify --region "$NAME" --truth truth.csv --by-age 0
}

@test "by age: a key that is reported again is young again" {
	table keywrite 'value = 4' 'slots = 16Ki' 'copies = 1'
	dta-gen uniform -q --flows 20K --truth once.csv -w once.pcap
	{
		cat once.csv
		sed -n 2,2001p once.csv
	} >twice.csv
	dta-gen csv --from twice.csv -q --truth truth.csv -w - |
		dta-translate -q -r - --region "$NAME"
	by_age 10
	as_planned
	jq -se '.[0].asked == 2000 and .[0].success > 0.9 and
		.[9].success < 0.4' ages
}

@test "by age: reports of one copy and of four side by side" {
	table keywrite 'value = 4' 'slots = 64Ki'
	dta-gen uniform -q --flows 20K --truth truth.csv -w none.pcap
	awk -F, -v OFS=, 'NR > 1 { $6 = NR % 2 ? 4 : 1 } { print }' truth.csv >mixed.csv
	dta-gen csv --from mixed.csv -q --truth truth.csv -w - |
		dta-translate -q -r - --region "$NAME"
	by_age 4
	as_planned
	jq -se 'all(.[]; .copies == null)' ages
}

@test "by age: paths; counters do not age" {
	dta-collect --create --layout "$EXAMPLES/int-postcard.ini" --region "$NAME"
	dta-gen int-postcard -q --flows 2K --truth truth.csv -w - |
		dta-translate -q -r - --region "$NAME"
	by_age 2
	jq -se 'length == 2 and all(.[]; .kind == "postcard" and .success == 1 and
		.planned > 0.999)' ages
	dta-collect --remove --region "$NAME"
	table postcard 'chunks = 4Ki' 'hops = 5' 'values = 1-262144' 'copies = 2'
	dta-gen uniform --kind postcard -q --flows 4K --truth truth.csv -w - |
		dta-translate -q -r - --region "$NAME"
	by_age 5
	as_planned
	dta-collect --remove --region "$NAME"
	table keyinc 'slots = 4Ki'
	report --kind keyinc --flows 100
	by_age 5
	[ ! -s ages ]
}

@test "by age: nothing is planned where an epoch is behind another" {
	printf '%s\n' '[keys]' 'kind = keywrite' 'key = flow4' 'value = 4' \
		'slots = 4Ki' >keys.ini
	dta-collect --create --layout keys.ini --region "$NAME" --epochs 2
	report --flows 2K
	by_age 1
	jq -e '.planned != null' ages
	dta-collect --region "$NAME" --rotate
	dta-gen uniform -q --flows 2K --seed 2 -w - | dta-translate -q -r - -R "$NAME"
	by_age 1
	jq -e '.planned == null and .success > 0.5' ages
}

@test "the best table of a plan has the success that it promises" {
	for want in 0.8 0.95 0.99; do
		dta-plan keywrite --want $want --flows 40K --stride packed \
			-o ndjson | jq 'select(.best)' >best
		mapfile -t lines < <(jq -r '"slots = \(.slots)\ncopies = \(.copies)"' best)
		table keywrite 'value = 4' 'stride = packed' "${lines[@]}"
		[ "$(dta-dump region "$NAME" -o ndjson | jq .length)" = \
			"$(jq .memory_bytes best)" ]
		report --flows 40K
		by_age 20
		as_planned
		# The oldest twentieth is at least as good as the oldest key.
		jq -se --argjson w $want '.[19].success >= $w - 0.01' ages
		by_age 1
		jq -se '.[0].average_success as $all | .[1] |
			(.success - $all | fabs) <
			5 * (($all * (1 - $all) / .asked) | sqrt)' best ages
		dta-collect --remove --region "$NAME"
	done
}

@test "make figures: a quick one of each paper, with the paper's points and ours" {
	SCALE=0.01 OUT=$PWD/out "$TOP/tests/figures/run.sh" "$BUILD" dta/fig08 \
		dart/fig04 smartnic/fig06 intcollector/values int-label/fig15
	for f in out/*.tsv; do
		awk -F'\t' '/^(point|theory|paper)/ { n[$1]++
				if ($4 + 0 != $4 || $4 ~ /n/) bad = 1 }
			END { exit bad || !n["point"] || !n["paper"] }' "$f"
	done
	# Simulation and closed form: within three standard errors and a half.
	awk -F'\t' '/^row\tfarthest/ { n++; if ($4^2 > 12.25) n = 9 }
		END { exit n != 1 }' out/int-label-fig15.tsv
	# The page: each figure once, nothing from elsewhere.
	[ "$(cat out/*.tsv | grep -c ^figure)" = \
		"$(grep -o '<section id="[^"]*"' out.html | sort -u | wc -l)" ]
	[ "$(ls out/*.tsv | wc -l)" = 5 ]
	[ "$(grep -c '<svg ' out.html)" -ge 5 ]
	run ! grep -qE '<script|<link|<img|src=|url\(|@import|href="[^#]' out.html
}

@test "make figures: the page of some points" {
	mkdir out
	printf '%s\t' figure 'DTA Fig. 1 <a>' 'some & others' >out/dta-fig01.tsv
	for l in 'axes x, s|y, M/s|logy' 'point A|1|10' 'point A|2|20' \
		'point B|1|10' 'point B|2|20' 'point C|1|1' 'point C|2|2e3' \
		'theory A|1|9' 'theory A|2|19' 'paper C|2|0.5' \
		'row what|1 %|2 %|why `so`' 'run ls | wc' 'run ls | wc'; do
		printf '\n%s' "${l/ /$'\t'}" | sed '/run/!s/|/\t/g'
	done >>out/dta-fig01.tsv
	python3 "$TOP/tests/figures/page.py" out >page
	python3 -c 'import html.parser, sys
html.parser.HTMLParser().feed(sys.stdin.read())' <page
	# B lies on A; C on neither. A colour is a scheme's, and of its square.
	[ "$(grep -c '<polyline.*stroke-dasharray="7 7"' page)" = 1 ]
	[ "$(grep -c '<polyline' page)" = 4 ]
	c=$(sed -n 's/.*<rect class="paper" stroke="\([^"]*\)".*/\1/p' page)
	grep -q "<polyline class=\"point\" stroke=\"$c\" " page
	grep -q 'DTA Fig. 1 &lt;a&gt;: some &amp; others' page
	grep -q 'commands (1)' page
	grep -q 'why <code>so</code>' page
}

@test "make figures: no number is no point" {
	printf '%s\n' ". '$TOP/tests/figures/lib.sh'" 'figure F T' \
		'point A 1 "$(echo nan)"' 'echo went on' >fig.sh
	run -143 --separate-stderr bash fig.sh
	[[ $output != *went* && $stderr == *'A 1 nan: no number'* ]]
}
