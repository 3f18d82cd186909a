# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# What the INT-label paper says in numbers, as int-label-ctl sim comes to it:
# the claims of tests/figures/int-label, in shorter runs, by seed.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	RUN=(-q --summary -o ndjson -d 100s --warmup 2s)
}

sim() { # ARGS...: the summary, in the file NAME that the first argument says
	local name=$1

	shift
	int-label-ctl sim "${RUN[@]}" "$@" >"$name"
}

# holds CONDITION FILE...: of the summaries, an array in that order.
holds() {
	cat "${@:2}"
	[ "$(jq -s "$1" "${@:2}")" = true ]
}

@test "99.7 % coverage: labels each 50 ms, telemetry each 100 ms" {
	sim a -R 800
	sim b -R 800 -b B
	holds 'all(.[]; .coverage * 100 > 99.6)' a b
	sim c # at 5 Mbit/s: the authors' sheet has 99.42
	holds '.[0].coverage * 100 > 99 and .[0].coverage * 100 < 99.7' c
}

@test "B labels 35 % fewer packets than A at T = 100 ms, with more labels" {
	sim a -t 100ms
	sim b -t 100ms -b B
	holds '1 - .[1].labelled / .[0].labelled | . > 0.32 and . < 0.37' a b
	holds '.[1].items > .[0].items' a b
	# Of 10,000 packets, the authors' sheets: 2344, 1520; 3597, 4412.
	holds 'map(.labelled / .packets * 10000) |
		(.[0] / 2344 - 1 | fabs) < 0.05 and
		(.[1] / 1520 - 1 | fabs) < 0.05' a b
	holds 'map(.items / .packets * 10000) |
		(.[0] / 3597 - 1 | fabs) < 0.05 and
		(.[1] / 4412 - 1 | fabs) < 0.05' a b
}

@test "the knee of coverage is at a ratio of 1.6" {
	sim a -t 100ms
	sim b -t 62500us
	sim c -t 50ms
	holds 'map(.coverage * 100) | .[1] - .[0] > 8 and .[2] - .[1] < 1 and
		(.[1] - 98.52 | fabs) < 0.6 and (.[2] - 99.42 | fabs) < 0.5' a b c
}

@test "Pro holds 99 % where A falls to 88 %" {
	sim a -t 100ms
	sim p -t 100ms --pro 0.3
	holds '.[0].coverage * 100 < 91 and .[1].coverage * 100 > 99' a p
	# By as many labels as A writes with half of T.
	sim b -t 52ms
	holds '.[0].labels > .[1].labels * 1.9 and
		(.[0].coverage * 100 - .[2].coverage * 100 | fabs) < 0.4' p a b
}

@test "the prototype's flag: near its sheet's 99 %, with many labels" {
	sim a -t 100ms
	sim f -t 100ms -S label-flag
	sim g -t 80ms -S label-flag
	holds '.[1].coverage * 100 > 98.4 and .[2].coverage * 100 > 98.8 and
		.[1].labels > 8 * .[0].labels and
		.[1].commands < .[1].interval * 10' a f g
	holds '.[0].commands == 0 and .[1].commands > 0 and .[1].s_max == 20' a f
	run -2 --separate-stderr int-label-ctl sim -S label-flag --pro 2
	[[ $stderr == *"--pro is for label"* ]]
}

@test "92 % coverage and more at 60 % loss with Pro" {
	local o=(-R 1250 --port-rate 100 --queue 10)

	sim a "${o[@]}" --port-jitter 50
	sim p "${o[@]}" --port-jitter 50 --pro 1
	sim q "${o[@]}" --port-jitter 50 --pro 0.3
	holds 'all(.[]; .loss * 100 > 60)' a p q
	holds 'map(.coverage * 100) | .[0] < 93 and .[1] > 94.5 and .[2] > 98' a p q
	# With even service a stream may be shut out: by the seed.
	sim a "${o[@]}" -s 9
	sim b "${o[@]}" -s 10
	holds 'map(.coverage * 100) | .[0] < 87 and .[1] > 91' a b
}

@test "no loss with labels where HULA loses 5 to 12 %" {
	local o=(--port-rate 220 --queue 20)

	sim h "${o[@]}" -S hula --probe-interval 40ms
	sim i "${o[@]}" -S hula --probe-interval 50ms
	sim a "${o[@]}" -t 10ms
	sim b "${o[@]}" -t 10ms -b B
	holds 'map(.loss * 100) | .[0] > 5 and .[0] < 12 and .[1] > 5 and
		.[2] == 0 and .[3] == 0' h i a b
}

@test "bandwidth: HULA far above all, INT-path above labels, at k = 6" {
	RUN=(-q --summary -o ndjson -d 1s -a 6 -R 54000 --link-rate 100G)
	sim a -t 62500us
	sim i -S int-path
	sim h -S hula
	sim p -S pingmesh
	holds 'map(.label_bandwidth + .probe_bandwidth) | .[0] > 0 and
		.[1] > .[0] and .[2] > 10 * .[0] and .[3] > 10 * .[0]' a i h p
	holds '.[0].coverage * 100 == 100' a
}

@test "rest time and probability functions of B" {
	sim a -b B
	sim b -b B --rest 25ms
	sim c -b B --rest 50ms
	holds 'map(.labelled) | . == sort' a b c
	holds 'map(.items) | . == (sort | reverse)' a b c
	sim d -b B -f f2
	sim e -b B -f f3
	holds 'map(.labelled) | . == sort' a d e
}
