# SPDX-License-Identifier: BSD-2-Clause
# The controller's database in Redis, the real one, and rows to databases.

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

@test "--redis: the prototype's keys; the newest state, coverage, S" {
	redis_up
	int-label-ctl -o ndjson -r labels.pcap -R none --redis "$URL" 2>log
	balances log
	[ "$(redis_ask -n 1 keys '*' | sort | xargs)" = "1-2 2-2" ]
	# the same as the last row of the port
	want=$(int-label-ctl -q -r labels.pcap -R port -o csv | grep ',1,2,' |
		tail -n 1 | cut -d, -f5,7)
	[ "$(redis_ask -n 1 lrange 1-2 0 -1 | xargs)" = "${want#*,} ${want%,*}" ]
	[ "$(redis_ask -n 1 pttl 1-2)" = -1 ]
	[ "$(redis_ask -n 4 lrange coverage 0 -1 | sort -u)" = 1 ]
	[ "$(redis_ask -n 4 llen coverage)" = 10 ]
	# Of packets and labels, as the rows of intervals have them: all packets
	# have two labels here, and none was long in coming.
	n=$(int-label-ctl -q -r labels.pcap -R interval -o csv | tail -n +2 |
		awk -F, '{ n += $5 } END { print n }')
	[ "$(redis_ask -n 3 mget receive int all 2 | xargs)" = \
		"$n $n $((2 * n)) $n" ]
	[ "$(redis_ask -n 3 exists 0 1 3 send)" = 0 ]
	[ "$(redis_ask -n 3 type all)" = string ]
	[ "$(redis_ask -n 3 get extra)" = $((2 * n - 2)) ]
	gone() { [ "$(redis_ask -n 0 dbsize)" = 0 ]; }
	wait_for gone
}

@test "--redis: what Pro decides" {
	redis_up
	# Device 1 is silent while device 2 is not.
	editcap -F pcap -A 1700000000 -B 1700000000.2 one.pcap a.pcap
	int-label-ctl label -q -d 3 -r plain.pcap -e b.pcap --edge out
	mergecap -F pcap -w c.pcap a.pcap b.pcap
	int-label-ctl -q -r c.pcap -R none --redis "$URL" --s-max 3
	[ "$(redis_ask -n 2 lrange 1-2 0 -1)" = 3 ]
}

@test "--redis: one that is away is told of once, the controller goes on" {
	run -1 --separate-stderr int-label-ctl -r labels.pcap -R none \
		--redis "$URL?retry=100ms" -o ndjson
	[ "$(grep -c "$URL" <<<"$stderr")" = 2 ]
	[[ $stderr == *"rows wait"*"could not be sent"* ]]
	balances - <<<"$stderr"
	[ "$(grep -c '"counter":"rows"' <<<"$stderr")" = 1 ]
	run -1 --separate-stderr int-label-ctl -q -r labels.pcap -R interval \
		-o csv --redis "$URL?retry=100ms"
	[ ${#lines[@]} = 11 ]
	[ "$(grep -c "rows wait" <<<"$stderr")" = 1 ]
	[[ $stderr == *"could not be sent"* ]]
	# At the end it is waited for once, and not again for the databases behind
	# one that has no rows, 2. One that is waited for tries 50 times, others
	# each second.
	run -1 --separate-stderr int-label-ctl -r labels.pcap -R none --no-pro \
		--redis "$URL?retry=1s" -o ndjson
	[ "$(grep '^{' <<<"$stderr" | counter - retries export)" -le 100 ]
	run -2 --separate-stderr int-label-ctl -q -r labels.pcap --redis influx://x/y
	[[ $stderr == *"--redis: 'influx://x/y' is not redis://HOST[:PORT]"* ]]
}

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
