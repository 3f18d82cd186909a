# SPDX-License-Identifier: BSD-2-Clause
# --svg: figures have the curves and points of the rows that they are drawn of.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-svg
}

teardown() { remove_regions "$NAME"; }

# curves FILE: what the XML parser has of it, a JSON object a curve: its name,
# and its points, y as it is on the screen.
curves() {
	python3 - "$1" <<-'EOF'
		import json, re, sys, xml.etree.ElementTree as tree
		svg = "{http://www.w3.org/2000/svg}"
		root = tree.parse(sys.argv[1]).getroot()
		assert root.tag == svg + "svg"
		colours = set()
		for path in root.iter(svg + "path"):
		    if "style" in path.attrib:
		        at = re.findall(r"[ML]([-\d.]+),([-\d.]+)", path.get("d"))
		        assert path.get("style") not in colours
		        colours.add(path.get("style"))
		        print(json.dumps({"name": path.find(svg + "title").text,
		            "at": [[float(x), float(y)] for x, y in at]}))
	EOF
}

# drawn FILE CURVES POINTS: so many curves, each of so many points, all in the
# plot.
drawn() {
	curves "$1" >curves
	head -c 500 curves
	jq -se --argjson n "$2" --argjson points "$3" 'length == $n and
		all(.[]; (.at | length) == $points) and
		([.[].at[][]] | min >= 0 and max <= 320)' curves
}

# topmost NAME POINT: of all points, that one is the highest.
topmost() {
	jq -se --arg name "$1" --argjson i "$2" \
		'([.[].at[][1]] | min) as $top |
		map(select(.name == $name))[0].at[$i][1] == $top' curves
}

@test "dta-plan: success over bytes a key" {
	dta-plan keywrite --want 80%:99%:1% --svg plan.svg -o ndjson >rows
	drawn plan.svg 4 20
	topmost "copies 1" 19 # all have 99 %: so much is the same
	# The axis of x is logarithmic, from 10 to 1000; y begins at 80 %.
	jq -se --slurpfile rows rows 'map(select(.name == "copies 3"))[0].at as $at |
		[$rows[] | select(.copies == 3)] as $v | all(range(20);
		(160 * ($v[.].bytes_per_flow / 10 | log10) - $at[.][0] |
			fabs < 0.01) and
		(320 * (1 - $v[.].success) / 0.2 - $at[.][1] | fabs < 0.01))' curves
	dta-plan keywrite --load 0.1:2:0.1 --svg load.svg -o ndjson >rows
	drawn load.svg 4 20
	[ "$(jq -s 'max_by(.success) | [.copies, .load]' -c rows)" = "[4,0.1]" ]
	topmost "copies 4" 0
	# One point is a dot, in a plot of some size.
	dta-plan keywrite --load 1 -n 2 --svg one.svg
	drawn one.svg 1 1
}

@test "dta-query verify --by-age: as found, and as planned" {
	printf '%s\n' '[table]' 'kind = keywrite' 'key = flow4' 'value = 4' \
		'slots = 8000' 'copies = 2' >l.ini
	dta-collect --create --layout l.ini --region "$NAME"
	dta-gen uniform -q --flows 5000 --truth t.csv -w - |
		dta-translate -q -r - --region "$NAME"
	dta-query verify --region "$NAME" --truth t.csv --by-age 10 \
		--svg age.svg -o ndjson >rows
	drawn age.svg 2 10
	topmost "table $(jq -rs 'if .[0].success > .[0].planned then "success"
		else "planned" end' rows)" 0
	[ "$(jq -r .name curves | tail -n 1)" = "table planned" ]
	run -2 --separate-stderr dta-query verify --region "$NAME" \
		--truth t.csv --svg x.svg
	[[ $stderr == *"--svg needs --by-age"* ]]
}

@test "int-label-ctl theory labels: both bases" {
	int-label-ctl theory labels --svg theory.svg -o ndjson >rows
	drawn theory.svg 2 6
	topmost "base A" 0
	run -2 --separate-stderr int-label-ctl theory coverage --svg x.svg
	[[ $stderr == *"--svg is for labels"* ]]
}

@test "int-collect: the quantiles of latencies, a curve for a node or path" {
	dta-gen int -q --flows 3 -w int.pcap
	int-collect -q -r int.pcap -R distribution --svg int.svg -o ndjson >rows
	jq -s 'map(select(.metric | test("latency")))' rows >latencies
	drawn int.svg "$(jq length latencies)" 4
	topmost "$(jq -r 'max_by(.p999_high) | if .node then "node \(.node)"
		else "path \(.path_id)" end' latencies)" 3
	# Rows go elsewhere: the figure to stdout.
	int-collect -q -r int.pcap -R none --svg - | cmp - int.svg
}

@test "where a figure cannot go, and what has none" {
	dta-gen int -q --flows 3 -w int.pcap
	for refused in "dta-plan keywrite --load 1" "int-label-ctl theory labels" \
		"int-collect -q -r int.pcap -R distribution"; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr $refused --svg -
		[[ -z $output && $stderr == *"--svg: rows go to stdout already"* ]]
	done
	run -1 --separate-stderr dta-plan keywrite --load 1 --svg none/x.svg
	[[ -z $output && $stderr == *"none/x.svg: No such file"* ]]
	run -1 --separate-stderr dta-plan keywrite --load 1 --svg /dev/full
	[[ $stderr == *"/dev/full: No space left"* ]]
	run -2 --separate-stderr dta-plan keywrite --load 1 -m 1K --layout --svg x
	[[ $stderr == *"only one of --layout and --svg"* ]]
	run -0 --separate-stderr int-collect -q -r int.pcap -f 'node 99999' \
		-R none --svg x.svg
	[[ $stderr == *"there is nothing to draw"* ]]
	[ -z "$(curves x.svg)" ]
}
