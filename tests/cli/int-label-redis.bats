# SPDX-License-Identifier: BSD-2-Clause
# The controller's rows to databases, Redis for one, the real one.

load ../helpers
load ../databases

setup() {
	need redis-server redis-cli
	cd "$BATS_TEST_TMPDIR" || exit 1
	PORT=$(free_port)
	URL=redis://127.0.0.1:$PORT
	dta-gen uniform -q -c 20000 --rate 20000 --seed 1 -w plain.pcap
	int-label-ctl label -q -d 1 -r plain.pcap -w one.pcap
	int-label-ctl label -q -d 2 -r one.pcap -e labels.pcap --edge out
}

teardown() { end_bg; }

@test "--export: rows of all kinds, beside those on stdout" {
	redis_up
	run -0 int-label-ctl -q -r labels.pcap -R interval -o csv -x "$URL" \
		-x file:rows.ndjson
	[ ${#lines[@]} = 11 ]
	[ "$(redis_ask xlen label_interval)" = 10 ]
	[ "$(redis_ask hget port:2-2 labels)" = 20 ]
	[ "$(jq -r .measurement rows.ndjson | sort | uniq -c | xargs)" = \
		"10 label_interval 40 label_port" ]
}
