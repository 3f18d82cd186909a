# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# A device as the target: dta-collect --verbs in a guest with soft-RoCE. The
# frames are crafted here, by dta-translate; the guest has no program but
# dta-collect that touches the region. What its memory must be is the local
# road's, on this side.

load ../helpers
load guest

# A second network card, of another network.
GUEST_QEMU='-netdev dgram,id=n1,local.type=unix,local.path=a1.sock,remote.type=unix,remote.path=switch1.sock
	-device virtio-net-pci,netdev=n1,mac=02:00:00:00:01:02,csum=off,guest_csum=off,gso=off,romfile='

setup_file() {
	guest_there || return 0
	export GUEST
	guest_start a
	# The shell of the guest would take busybox's ip.
	guest_run '/bin/ip link set eth1 up
		/bin/ip addr add 10.0.1.51/24 dev eth1
		/bin/ip neigh add 10.0.1.101 lladdr 02:00:00:00:01:01 nud permanent dev eth1
		rdma link add rxe1 type rxe netdev eth1'
}

setup() {
	guest_needed
	NAME=dta-test-$$-target-$BATS_TEST_NUMBER
	HOST=$GUEST_DIR/a
	rm -f "$HOST"/*.{ini,pcap,log,rows,ticket*} "$HOST"/{pid,status}
	cd "$HOST" || exit 1
	cat >layout.ini <<-END
		[rc]
		kind = keywrite
		key = flow4
		value = 4
		slots = 1Ki
		[uc]
		kind = keywrite
		key = flow4
		value = 4
		slots = 1Ki
		qp = uc
		[counts]
		kind = keyinc
		key = flow4
		slots = 1Ki
		[paths]
		kind = postcard
		key = flow4
		chunks = 1Ki
		values = 1-80
		[lists]
		kind = append
		value = 4
		entries = 64
		lists = 16
	END
}

teardown() {
	if [ -e "$HOST/pid" ]; then
		guest_run "pid=$(pid_of); kill -CONT \$pid; kill \$pid; rm -f /host/pid
			for i in \$(seq 50); do [ -e /proc/\$pid ] || break; sleep 0.1; done"
	fi
	guest_run "rm -f /dev/shm/$NAME*"
	remove_regions "$NAME"
	if [ -e "$HOST/run.log" ] && log_says Sanitizer; then
		cat "$HOST/run.log"
		return 1
	fi
}

teardown_file() {
	guest_stop
}

# collect ARGS...: dta-collect in the guest, on a new region, ready.
collect() {
	guest_run "dta-collect --create --layout /host/layout.ini --region $NAME --epochs 2"
	attach "$@"
}

attach() {
	guest_run "rm -f /host/status
		{ dta-collect --region $NAME $* >/host/out.rows 2>/host/run.log &
		echo \$! >/host/pid; wait \$!; echo \$? >/host/status; } &"
	ticket "${TICKET:-new.ticket}"
}

# ended MESSAGE: it has ended by itself, with the ledger, this message behind it,
# and no word on the ticket.
ended() {
	wait_for [ -s "$HOST/status" ]
	rm "$HOST/pid"
	cat run.log
	[ "$(cat status)" = 1 ]
	log_says '^dta-collect: verbs, receives'
	[[ "$(tail -n 1 run.log)" == *" dta-collect: --verbs: $1" ]]
	[ ! -e new.ticket ]
}

# The ticket that has come last becomes ticket.ini.
ticket() {
	wait_for [ -e "$HOST/$1" ]
	mv "$HOST/$1" "$HOST/ticket.ini"
}

log_says() {
	grep -q -- "$1" "$HOST/run.log"
}

pid_of() {
	cat "$HOST/pid"
}

# reports TABLE KIND SEED: 100 reports, and what becomes of them on this side.
reports() {
	dta-gen uniform --kind "$2" --table "$1" -s "$3" --count 100 -q \
		-w "$1.$2.pcap" ${IMMEDIATE:+--immediate}
	[ -e "/dev/shm/$NAME" ] ||
		dta-collect --create --layout layout.ini --region "$NAME" --epochs 2
	dta-translate -q -r "$1.$2.pcap" --region "$NAME"
}

# frames TABLE KIND ANSWERS [ARGS]: the same reports, through the ticket.
frames() {
	local n=$1 kind=$2 answers=$3
	shift 3
	dta-translate -q -r "$n.$kind.pcap" --ticket ticket.ini -w frames.pcap "$@"
	"$TOP/tests/tools/frames.py" frames.pcap "$GUEST_DIR/switch.sock" \
		"$GUEST_DIR/a.sock" "$answers"
}

digests() {
	dta-dump digest "$NAME" -o csv
}

# The guest's region holds what this side's does.
same_there() {
	[ "$(guest_run "dta-dump digest $NAME -o csv")" = "$(digests)" ]
}

# The time that a process has had of the processor: user, system.
used() {
	guest_run "cut -d' ' -f14,15 /proc/$(pid_of)/stat"
}

@test "the memory is the local road's, while dta-collect is stopped" {
	local before n=0 kind

	collect --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket
	guest_run "kill -STOP $(pid_of)"
	before=$(used)
	for kind in keywrite keywrite keyinc postcard append; do
		n=$((n + 1))
		reports $n $kind $n
		frames $n $kind 0 --ack-every 1 >answers
	done
	wait_for same_there
	[ "$(used)" = "$before" ]
	guest_run "grep -q '^State:.*T (stopped)' /proc/$(pid_of)/status"
	digests | awk -F, 'NR > 1 { print $4 }' >sums
	run -1 grep -x 00000000 sums
}

@test "the ticket: the device's address, the neighbour's, what was asked for" {
	collect --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket --mtu 512
	grep -qx 'ip = 10.0.0.51' ticket.ini
	grep -qx 'mac = 02:00:00:00:00:02' ticket.ini
	grep -qx 'peer_ip = 10.0.0.101' ticket.ini
	grep -qx 'peer_mac = 02:00:00:00:00:01' ticket.ini
	grep -qx 'mtu = 512' ticket.ini
	[ "$(grep -c '^qpn' ticket.ini)" = 5 ]
	[ "$(grep '^qpn\|^rkey\|^address' ticket.ini | sort | uniq -d)" = "" ]
}

@test "IPv6" {
	collect --verbs rxe0 --peer-ip fd00::101 --ticket /host/new.ticket
	grep -qx 'ip = fd00::51' ticket.ini
	grep -qx 'peer_mac = 02:00:00:00:00:01' ticket.ini
	reports 1 keywrite 1
	[ "$(frames 1 keywrite 200 --ack-every 1)" = "200 0x11 0x1f" ]
	same_there
}

@test "huge pages" {
	printf '[big]\nkind = keywrite\nkey = flow4\nvalue = 4\nslots = 512Ki\n' >layout.ini
	guest_run 'mkdir -p /dev/hugepages; mount -t hugetlbfs huge /dev/hugepages
		sysctl -qw vm.nr_hugepages=6'
	guest_run "dta-collect --create --layout /host/layout.ini --region $NAME --pages huge"
	attach --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket
	guest_run "dta-dump region $NAME -o csv" | grep -q ',2M,'
	reports 1 keywrite 1
	[ "$(frames 1 keywrite 200 --ack-every 1)" = "200 0x11 0x1f" ]
	same_there
	guest_run "kill $(pid_of); rm /host/pid
		while [ -e /proc/$(pid_of) ]; do sleep 0.1; done
		rm /dev/hugepages/$NAME; umount /dev/hugepages; sysctl -qw vm.nr_hugepages=0"
}

@test "an address that goes: exit 1; started again, the region goes on" {
	local gone='rxe0: address 10.0.0.52 is gone, or in another place; start again when it is back: what is stored stays'

	guest_run '/bin/ip addr add 10.0.0.52/24 dev eth0'
	collect --verbs rxe0 --peer-ip 10.0.0.101 --ip 10.0.0.52 --ticket /host/new.ticket
	grep -qx 'ip = 10.0.0.52' ticket.ini
	reports 1 keywrite 1
	[ "$(frames 1 keywrite 200 --ack-every 1)" = "200 0x11 0x1f" ]
	guest_run '/bin/ip addr del 10.0.0.52/24 dev eth0'
	ended "$gone"
	refuses 'rxe0: no RoCEv2 address 10.0.0.52; it has:' --verbs rxe0 --ip 10.0.0.52 --peer-ip 10.0.0.101
	guest_run '/bin/ip addr add 10.0.0.52/24 dev eth0'
	attach --verbs rxe0 --peer-ip 10.0.0.101 --ip 10.0.0.52 --ticket /host/new.ticket
	# Gone and back at once: in another place, and queue pairs keep the old.
	guest_run '/bin/ip addr del 10.0.0.52/24 dev eth0; /bin/ip addr add 10.0.0.52/24 dev eth0'
	ended "$gone"
	attach --verbs rxe0 --peer-ip 10.0.0.101 --ip 10.0.0.52 --ticket /host/new.ticket
	reports 1 keywrite 2
	[ "$(frames 1 keywrite 200 --ack-every 1)" = "200 0x11 0x1f" ]
	same_there
	guest_run "kill $(pid_of); rm /host/pid; /bin/ip addr del 10.0.0.52/24 dev eth0"
}

@test "a wrong R_Key: the queue pair is made again, what is stored stays" {
	collect --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket
	reports 1 keywrite 1
	frames 1 keywrite 200 --ack-every 1
	cp ticket.ini good.ini
	sed '/table rc/,/table uc/s/^rkey = .*/rkey = 0x12345678/' good.ini >ticket.ini
	sed -i '/table rc/,/table uc/s/^psn = .*/psn = '$((
		$(sed -n '/table rc/,/table uc/s/^psn = //p' good.ini) + 200 & 0xffffff))/ ticket.ini
	# NAK, remote access error; then silence
	[ "$(frames 1 keywrite 1)" = "1 0x11 0x62" ]
	ticket new.ticket
	wait_for log_says 'table rc: queue pair 0x.* is dead'
	wait_for log_says 'table rc: queue pair 0x.* made again'
	[ "$(grep -c '^qpn' ticket.ini)" = 5 ]
	# The others are what they were.
	[ "$(grep '^qpn\|^rkey' good.ini | sed 1d)" = \
		"$(grep '^qpn\|^rkey' ticket.ini | sed 1d)" ]
	[ "$(grep -m1 ^qpn good.ini)" != "$(grep -m1 ^qpn ticket.ini)" ]
	same_there
	reports 1 keywrite 2
	[ "$(frames 1 keywrite 200 --ack-every 1)" = "200 0x11 0x1f" ]
	same_there
	# UC: dropped, and the queue pair lives on.
	cp ticket.ini good.ini
	sed -i 's/^rkey = .*/rkey = 0x12345678/' ticket.ini
	dta-gen uniform --table 2 --count 10 -q -w 2.keywrite.pcap
	[ -z "$(frames 2 keywrite 0)" ]
	cp good.ini ticket.ini
	reports 2 keywrite 3
	frames 2 keywrite 0
	wait_for same_there
	[ ! -e new.ticket ]
}

@test "immediates, RC and UC: a row each" {
	IMMEDIATE=1
	collect --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket \
		--notify -o csv
	reports 1 keywrite 1
	frames 1 keywrite 200 --ack-every 1
	reports 2 keywrite 2
	frames 2 keywrite 0
	reports 5 append 3
	frames 5 append 0 --ack-every 1 >/dev/null
	wait_for grep -q ',lists,5,.*,300$' out.rows
	[ "$(cut -d, -f2-5 out.rows)" = "table,id,sequence,count
$(seq 0 99 | awk '{ print "rc,1," $1 "," ++n }')
$(seq 0 99 | awk '{ print "uc,2," $1 "," 100 + ++n }')
$(seq 0 99 | awk '{ print "lists,5," $1 "," 200 + ++n }')" ]
	guest_run "kill -USR1 $(pid_of)"
	wait_for log_says 'notify,printed,done,300'
	log_says 'verbs,immediates,done,300'
	# The names of counters are an interface.
	[ "$(sed -n 's/^verbs,\([a-z_]*\),\([a-z]*\),.*/\2 \1/p' run.log | tr '\n' ' ')" = \
		"in completed done immediates harmless flushed loss failed note qp_errors note qp_made \
note port_down note port_up note rotations note tickets \
note connections note refused note disconnected note broken " ]
}

@test "no receive left: an RNR NAK, and nothing is written" {
	IMMEDIATE=1
	collect --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket --receives 4
	guest_run "kill -STOP $(pid_of)"
	dta-gen uniform --table 1 --count 5 --copies 1 --immediate -q -w 1.keywrite.pcap
	# four ACKs, an RNR NAK
	frames 1 keywrite 5 --ack-every 1 >answers
	sed -i 's/0x2.$/rnr/' answers
	[ "$(cat answers)" = "4 0x11 0x1f
1 0x11 rnr" ]
	[ "$(guest_run "dta-dump region --slots $NAME -o csv" | grep -c ^rc,)" = 4 ]
}

@test "a port that goes down and comes back" {
	collect --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket
	guest_run '/bin/ip link set eth0 down'
	wait_for log_says 'rxe0: port 1 is down'
	guest_run '/bin/ip link set eth0 up'
	wait_for log_says 'rxe0: port 1 is up again'
	wait_for log_says "eth0 has lost the translator's neighbour entry"
	guest_run '
		/bin/ip addr add fd00::51/64 dev eth0 nodad
		/bin/ip neigh replace 10.0.0.101 lladdr 02:00:00:00:00:01 nud permanent dev eth0
		/bin/ip neigh replace fd00::101 lladdr 02:00:00:00:00:01 nud permanent dev eth0'
	reports 1 keywrite 1
	[ "$(frames 1 keywrite 200 --ack-every 1)" = "200 0x11 0x1f" ]
	same_there
}

@test "rotation by another process: new R_Keys, the old ones are refused" {
	collect --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket --grace 0
	cp ticket.ini old.ini
	reports 1 keywrite 1
	frames 1 keywrite 200 --ack-every 1
	guest_run "dta-collect --region $NAME --rotate --snapshot /host/old.snap"
	dta-collect --region "$NAME" --rotate
	ticket new.ticket
	grep -qx 'epoch = 2' ticket.ini
	reports 1 keywrite 2
	[ "$(frames 1 keywrite 200 --ack-every 1)" = "200 0x11 0x1f" ]
	same_there # of both epochs
	[ "$(dta-dump snapshot -o csv old.snap | sed -n 2p | cut -d, -f1,4)" = rc,1 ]
	reports 2 keywrite 3
	cp ticket.ini new.ini
	cp old.ini ticket.ini
	frames 2 keywrite 0 # UC: refused in silence
	cp new.ini ticket.ini
	frames 2 keywrite 0
	wait_for same_there
	log_says 'rxe0: epoch 2'
}

@test "two devices, a dta-collect for each" {
	collect --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket
	cp ticket.ini one.ini
	guest_run "dta-collect --region $NAME --verbs rxe1 --peer-ip 10.0.1.101 \
		--ticket /host/two.ticket 2>/host/two.log & echo \$! >/host/two.pid"
	ticket two.ticket
	grep -qx 'ip = 10.0.1.51' ticket.ini
	grep -qx 'mac = 02:00:00:00:01:02' ticket.ini
	grep -qx 'peer_mac = 02:00:00:00:01:01' ticket.ini
	reports 1 keywrite 1
	dta-translate -q -r 1.keywrite.pcap --ticket ticket.ini -w frames.pcap --ack-every 1
	[ "$("$TOP/tests/tools/frames.py" frames.pcap "$GUEST_DIR/switch1.sock" \
		"$GUEST_DIR/a1.sock" 200)" = "200 0x11 0x1f" ]
	cp one.ini ticket.ini
	reports 3 keyinc 3
	[ "$(frames 3 keyinc 200 --ack-every 1 | awk '{ n += $1 } END { print n }')" = 200 ]
	same_there
	guest_run "kill $(cat two.pid)"
}

@test "a device that is taken away: exit 1; started again, the region goes on" {
	collect --verbs rxe1 --peer-ip 10.0.1.101 --ticket /host/new.ticket
	reports 1 keywrite 1
	dta-translate -q -r 1.keywrite.pcap --ticket ticket.ini -w frames.pcap --ack-every 1
	"$TOP/tests/tools/frames.py" frames.pcap "$GUEST_DIR/switch1.sock" "$GUEST_DIR/a1.sock" 200
	guest_run 'rdma link delete rxe1'
	ended 'rxe1: the device is gone; start again when it is back: what is stored stays'
	guest_run 'rdma link add rxe1 type rxe netdev eth1'
	attach --verbs rxe1 --peer-ip 10.0.1.101 --ticket /host/new.ticket
	same_there
	reports 2 keywrite 2
	dta-translate -q -r 2.keywrite.pcap --ticket ticket.ini -w frames.pcap
	"$TOP/tests/tools/frames.py" frames.pcap "$GUEST_DIR/switch1.sock" "$GUEST_DIR/a1.sock"
	wait_for same_there
}

@test "killed and started again: what was stored is there" {
	collect --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket
	reports 1 keywrite 1
	frames 1 keywrite 200 --ack-every 1
	cp ticket.ini old.ini
	guest_run "kill -9 $(pid_of)"
	attach --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket
	[ -z "$(grep '^qpn\|^rkey' ticket.ini | grep -xFf <(grep '^qpn\|^rkey' old.ini))" ]
	reports 2 keywrite 2
	frames 2 keywrite 0
	reports 3 keyinc 3
	frames 3 keyinc 200 --ack-every 1 >answers
	wait_for same_there
}

@test "SIGHUP: all queue pairs anew; SIGTERM: the ledger, exit 0" {
	collect --verbs rxe0 --peer-ip 10.0.0.101 --ticket /host/new.ticket
	cp ticket.ini old.ini
	guest_run "kill -HUP $(pid_of)"
	ticket new.ticket
	[ -z "$(grep ^qpn ticket.ini | grep -xFf <(grep ^qpn old.ini))" ]
	[ "$(grep '^rkey\|^address' ticket.ini)" = "$(grep '^rkey\|^address' old.ini)" ]
	guest_run "kill $(pid_of); rm /host/pid"
	wait_for log_says 'dta-collect: verbs, receives'
	wait_for log_says 'qp_made  *5'
	run ! log_says 'is dead'
	guest_run "dta-collect --region $NAME --verbs rxe0 --peer-ip 10.0.0.101 --ticket - >/host/out.rows 2>/host/run.log &
		pid=\$!; for i in \$(seq 200); do [ -s /host/out.rows ] && break; sleep 0.3; done
		kill \$pid; wait \$pid"
	grep -qx 'epoch = 1' out.rows
}

refuses() { # MESSAGE ARGS...
	local message=$1
	shift
	guest_fails "dta-collect: --verbs: " "dta-collect --region $NAME $*"
	[[ $output == *"$message"* ]]
}

@test "what is missing is said, with its cure" {
	guest_run "dta-collect --create --layout /host/layout.ini --region $NAME --pages small"
	refuses 'no such RDMA device; there are: rxe0 rxe1' --verbs rxe9 --peer-ip 10.0.0.101
	refuses 'rxe0: no RoCEv2 address 10.0.0.9; it has:' --verbs rxe0 --ip 10.0.0.9 --peer-ip 10.0.0.101
	refuses 'an MTU of 4096 needs larger frames' --verbs rxe0 --mtu 4096 --peer-ip 10.0.0.101
	refuses 'ip neigh replace 10.0.0.77 dev eth0' --verbs rxe0 --peer-ip 10.0.0.77
	guest_run "chmod 755 /; chmod 666 /dev/shm/$NAME; chmod 600 /dev/infiniband/uverbs0"
	run guest_run "su nobody -s /bin/sh -c 'dta-collect --region $NAME --verbs rxe0 --peer-ip 10.0.0.101'"
	echo "$output"
	[[ $output == *"/dev/infiniband/uverbs0: Permission denied: let this user"* ]]
	run guest_run "chmod 666 /dev/infiniband/uverbs0
		ulimit -l 4; su nobody -s /bin/sh -c 'dta-collect --region $NAME --verbs rxe0 --peer-ip 10.0.0.101'"
	echo "$output"
	[[ $output == *"cannot lock"*"(ulimit -l "*"LimitMEMLOCK"* ]]
	guest_run 'rdma link delete rxe1; rdma link delete rxe0'
	refuses 'rdma link add rxe0 type rxe netdev eth0' --verbs rxe0 --peer-ip 10.0.0.101
	guest_run 'rdma link add rxe0 type rxe netdev eth0; rdma link add rxe1 type rxe netdev eth1'
}

@test "counters over UC are no layout: UC has no atomics" {
	printf '[c]\nkind = keyinc\nkey = u32\nslots = 1Ki\nqp = uc\n' >bad.ini
	run guest_run "dta-collect --create --layout /host/bad.ini --region $NAME"
	[ "$status" = 1 ]
	[[ $output == *atomic* ]]
}

# A host that connects with any private data: the kind after "DTA2".
asks() { # HEX [COUNT]
	guest_run "verbs_ask 10.0.0.51 18515 $*"
}

@test "hosts: what they ask for is judged, and they come and go" {
	guest_run "dta-collect --create --layout /host/layout.ini --region $NAME --epochs 2
		dta-collect --region $NAME --verbs rxe0 --cm 18515 >/host/out.rows 2>/host/run.log &
		echo \$! >/host/pid"
	wait_for guest_run 'rdma resource show cm_id | grep -q LISTEN'
	# To write: where the ticket's text is.
	[[ $(asks 4454413200000000) == \
		"accepted 4454413200000000"????????"00000000"????????????????"000000000000"???? ]]
	# -EPROTO: another magic, kind, or cut short (padded with zeros);
	# -EACCES: to read, without --readable.
	[[ $(asks 4454413100000000) == "rejected "????????????????????????ffffffb9* ]]
	[[ $(asks 4454413200000002) == "rejected "????????????????????????ffffffb9* ]]
	[[ $(asks 00) == "rejected "????????????????????????ffffffb9* ]]
	[[ $(asks 4454413200000001) == "rejected "????????????????????????fffffff3* ]]
	# As many connections as there can be, and more (-EUSERS), from one that
	# then leaves without a word.
	[ "$(asks 4454413200000000 260 | cut -c1-17,34-41 | sort | uniq -c |
		sed 's/accepted \(.*\)......../accepted \1/' | tr -s ' ')" = " 256 accepted 44544132
 4 rejected 44544132ffffffa9" ]
	wait_for hosts_left
	guest_run "kill -USR1 $(pid_of)"
	wait_for log_says 'connections  *257'
	[ "$(awk '$1 == "refused" { print $2 }' run.log)" = 8 ]
	# And it still serves.
	reports 1 keywrite 1
	guest_run "cp /host/1.keywrite.pcap /tmp
		dta-translate -q -r /tmp/1.keywrite.pcap --verbs 10.0.0.51:18515"
	same_there
	# A new epoch, too.
	guest_run "dta-collect --region $NAME --rotate"
	dta-collect --region "$NAME" --rotate
	wait_for log_says 'rxe0: epoch 2'
	reports 3 keyinc 2
	guest_run "cp /host/3.keyinc.pcap /tmp
		dta-translate -q -r /tmp/3.keyinc.pcap --verbs 10.0.0.51:18515"
	same_there
}

# No connection is left but those who listen.
hosts_left() {
	! guest_run 'rdma resource show cm_id' | grep -qv LISTEN
}
