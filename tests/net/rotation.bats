# SPDX-License-Identifier: BSD-2-Clause
# Rotations under a running translator, live: in whatever order and delay the
# two ends are told, or if none of them is, what is sent afterwards is stored,
# and what is sent meanwhile is stored or counted.

load ../helpers
load ../rotation
load net

setup() {
	need_net
	need_tools send
	cd "$BATS_TEST_TMPDIR" || exit 1
	rotation_cases none collector translator twice restart
	COLLECTORS=(a)
	cat >layout.ini <<-INI
		[keys]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 64Ki
		copies = 2
	INI
	net_up
}

teardown() {
	rm -f traffic
	end_bg
	net_down
	remove_regions "$NET"
}

# A region for each collector.
make_all() {
	local c

	for c in "${COLLECTORS[@]}"; do
		dta-collect --create --layout layout.ini --epochs 2 \
			--region "$NET-$c"
	done
}

# On the wire: collector NAME has the interface c0, an address of its own, and
# a ticket.
start_collector() { # name
	local n

	n=$(printf %d "'$1")
	start c "collect-$1.log" dta-collect -o ndjson -i c0 --no-xdp \
		--promiscuous --mac "02:00:00:00:01:$n" --ip "10.0.0.$n" \
		--region "$NET-$1" --ticket "$1.ini"
	COLLECT[$n]=$PID
	wait_for listens "collect-$1.log"
}

start_collectors() {
	local c

	for c in "${COLLECTORS[@]}"; do
		start_collector "$c"
	done
}

# Its windows hold what comes while the collector is away, however long that is
# on a busy machine: a full one turns away what is sent afterwards, too.
start_translator() { # options
	start t translate.log dta-translate -o ndjson -i t0 --to t1 --no-xdp \
		--window 256Ki "$@"
	TRANSLATE=$PID
	wait_for listens translate.log
}

give() { on r "$TOOLS/send" "$1" r0 >/dev/null; } # capture

hup_collector() { kill -HUP "${COLLECT[@]}"; }
hup_translator() { kill -HUP "$TRANSLATE"; }
order_restart() {
	local c

	for c in "${COLLECT[@]}"; do
		stop "$c"
	done
	sleep "$1"
	start_collectors
	hup_translator
}

# one ORDER DELAY TRAFFIC: a rotation, and reports afterwards.
one() {
	local c

	CASE=$((CASE + 1))
	[ "$3" = off ] || traffic
	for c in "${COLLECTORS[@]}"; do
		dta-collect --region "$NET-$c" --rotate
	done
	"order_$1" "$2"
	[ "$3" = off ] || end_traffic
	dta-gen uniform --seed $CASE --count 200 -q --truth truth.csv -w after.pcap
	sed 1d truth.csv | cut -d, -f3 >keys
	give after.pcap
	wait_for all_there || {
		echo "case: $*"
		grep -hE '^([-0-9T:+]+ )?dta-' ./*.log | tail -n 20
		return 1
	}
	echo "$4: $1 $2 $3"
}

# Each key is at one of the collectors, in the epoch that is written.
all_there() {
	local c n=0

	for c in "${COLLECTORS[@]}"; do
		n=$((n + $(dta-query keywrite --region "$NET-$c" --keys keys \
			-e $((CASE + 1)) -o ndjson | jq -r .answer | grep -c '^found')))
	done
	[ $n = 200 ]
}

@test "on interfaces" {
	make_all
	start_collectors
	start_translator --ticket a.ini
	matrix interface
	stop "$TRANSLATE"
	balances translate.log
}

@test "counters" {
	sed -i 's/keywrite/keyinc/; /value/d' layout.ini
	dta-gen uniform --kind keyinc --seed 99 --count 100 -q -w chunk.pcap
	make_all
	start_collectors
	start_translator --ticket a.ini
	dta-gen() { command dta-gen "$@" --kind keyinc; }
	all_there() { right a 1 200; }
	# An addition that was sent under the old ticket is not sent again: it
	# may have been made, and is counted as unanswered.
	order_none() { sleep "$1" && wait_for knows; }
	knows() { grep -q "dta-translate: a.ini: a new ticket, epoch $((CASE + 1))$" translate.log; }
	ORDERS=none
	matrix counters
	stop "$TRANSLATE"
	balances translate.log
}

# right REGION TABLE COUNT: so many are as the truth says.
right() {
	[ "$(dta-query verify --region "$NET-$1" --truth truth.csv -o ndjson |
		jq -s '.[0].right')" = "$3" ]
}

@test "a ticket on another machine: both ends say so, and a copy mends it" {
	make_all
	start_collectors
	cp a.ini copy.ini
	start_translator --ticket copy.ini
	dta-collect --region "$NET-a" --rotate
	wait_for grep -qx 'epoch = 2' a.ini
	give chunk.pcap
	wait_for grep -q "dta-collect: $NET-a: requests are refused, most as access: is the ticket out of date?$" collect-a.log
	wait_for grep -q 'dta-translate: copy.ini: epoch 1: the collector refuses its R_Keys: the ticket is out of date; waiting for a new one$' translate.log
	kill -HUP "$TRANSLATE"
	wait_for grep -q 'dta-translate: SIGHUP: copy.ini: no new ticket: the old one stays$' translate.log
	cp a.ini copy.ini
	wait_for grep -q 'dta-translate: copy.ini: a new ticket, epoch 2$' translate.log
	CASE=1
	dta-gen uniform --seed 99 --count 100 -q --truth truth.csv -w again.pcap
	wait_for right a 1 100 # what was refused, too
	stop "$TRANSLATE"
	balances translate.log
}

@test "a cluster of two" {
	COLLECTORS=(a b)
	make_all
	printf '%s\n' '[cluster]' 'version = 1' '[collector 1]' 'ticket = a.ini' \
		'[collector 2]' 'ticket = b.ini' >cluster.ini
	start_collectors
	start_translator --cluster cluster.ini
	matrix cluster
	stop "$TRANSLATE"
	balances translate.log
}

# Five seconds for one that is refused, whatever the other one is waited for.
@test "a cluster of two, one ticket out of date: a capture waits for it once" {
	COLLECTORS=(a b)
	make_all
	start_collectors
	cp a.ini old.ini
	printf '%s\n' '[cluster]' 'version = 1' '[collector 1]' 'ticket = old.ini' \
		'[collector 2]' 'ticket = b.ini' >cluster.ini
	dta-collect --region "$NET-a" --rotate
	wait_for grep -qx 'epoch = 2' a.ini
	dta-gen uniform --seed 5 --count 3000 -q -w all.pcap
	start t translate.log dta-translate -o ndjson -r all.pcap --to t1 \
		--cluster cluster.ini --window 64
	TRANSLATE=$PID
	ended() { ! kill -0 "$TRANSLATE" 2>/dev/null; }
	wait_for ended
	wait "$TRANSLATE"
	balances translate.log
	[ "$(counter translate.log acked requester)" -gt 2000 ]
	[ "$(counter translate.log refused requester)" -gt 2000 ]
}

# Through pipes: reports in, packets and answers between.
@test "pipes" {
	start_collector() {
		# Opened for both, so that a restart ends neither end.
		dta-collect -o ndjson -r - -w - --region "$NET-a" \
			--ticket a.ini <&7 >&8 2>>collect-a.log 3>&- 9>&- &
		COLLECT[0]=$!
		BG_PIDS+=("$!")
		wait_for test -s a.ini
	}
	give() { tail -c +25 "$1" >&9; }
	mkfifo reports frames answers
	exec 7<>frames 8<>answers
	# The second one's capture would begin in the midst of the first's.
	ORDERS="none collector translator twice"
	make_all
	start_collector
	dta-translate -o ndjson -r reports --ticket a.ini -w frames \
		--answers answers 2>translate.log 3>&- 7>&- 8>&- &
	TRANSLATE=$!
	BG_PIDS+=("$!")
	exec 9>reports
	head -c 24 chunk.pcap >&9
	matrix pipe
	exec 9>&-
	wait "$TRANSLATE"
	balances translate.log
}

# UC has no answers: the translator cannot know, but for the ticket's file.
@test "UC: by the ticket's file alone" {
	echo "qp = uc" >>layout.ini
	ORDERS="none restart"
	make_all
	start_collectors
	start_translator --ticket a.ini
	sleep 0.2
	all_there() { # what was sent before the file was seen is lost
		give after.pcap
		[ "$(dta-query keywrite --region "$NET-a" --keys keys -e $((CASE + 1)) \
			-o ndjson | jq -r .answer | grep -c '^found')" = 200 ]
	}
	matrix uc
}
