# SPDX-License-Identifier: BSD-2-Clause
# dta-collect: what goes together, names, epochs, snapshots there and back,
# signals, and what is left when something breaks.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-co-$BATS_TEST_NUMBER
	cat >small.ini <<-INI
		[kw]
		kind = keywrite
		key = flow4
		value = 4
		slots = 16Ki
		[ap]
		kind = append
		value = 4
		entries = 1000
		lists = 3
		[ki]
		kind = keyinc
		key = flow4
		slots = 8Ki
		[pc]
		kind = postcard
		key = flow4
		chunks = 8Ki
		values = 1-262144
	INI
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

create() { # option...
	dta-collect --create --layout small.ini --region "$NAME" "$@"
}

# fill SEED: reports of every kind into the region.
fill() {
	local kinds=(keywrite append keyinc postcard) i

	for i in 0 1 2 3; do
		dta-gen uniform -q --kind ${kinds[i]} --table $((i + 1)) \
			--lists 3 --count 3000 --seed "$1" -w - |
			dta-translate -q -r - --region "$NAME"
	done
}

# digest REGION [FILTER]: the digests of its tables, by table and epoch.
digest() {
	dta-dump digest "$1" -o csv
}

usage_error() { # text option...
	local text=$1

	shift
	run -2 --separate-stderr dta-collect "$@"
	echo "dta-collect $*: $stderr"
	[ -z "$output" ]
	[[ $stderr == *"$text"* && $stderr == *"try 'dta-"* ]]
}

refused() { # text option...
	local text=$1

	shift
	run -2 --separate-stderr dta-collect "$@"
	echo "dta-collect $*: $stderr"
	[ -z "$output" ]
	[[ $stderr == *"$text"* && $stderr != *"try 'dta-"* ]]
}

fails() { # message option...
	local text=$1

	shift
	run -1 --separate-stderr dta-collect "$@"
	echo "dta-collect $*: $stderr"
	[ -z "$output" ]
	[[ $stderr == "dta-collect: "$text ]]
}

@test "options that do not go together: usage on stderr, exit 2" {
	usage_error "which memory? Say --region" --create --layout small.ini
	usage_error "nothing to do" --region x
	usage_error "--cm needs --verbs" --region x --cm 4790
	usage_error "--grace needs --verbs" --region x --grace 2s
	usage_error "needs --create or --restore" --region x --epochs 2
	usage_error "--create needs --layout" --region x --create
	usage_error "--layout needs --create" --region x --layout small.ini
	usage_error "one of" --region x --create --layout small.ini --remove
	usage_error "one of" --region x --create --layout small.ini --restore y
	usage_error "one of" --region x --restore y --remove
	usage_error "goes alone" --region x --remove --rotate
	usage_error "goes alone" --region x --remove --ticket t
	usage_error "goes alone" --region x --remove -r y
	usage_error "goes alone" --region x --remove --snapshot y
	usage_error "--layout needs --create" --region x --restore y --layout small.ini
	usage_error "--write needs -r or -i" --region x --rotate -w y
	usage_error "--receives needs -r, -i or" --region x --rotate --receives 3
	usage_error "--epochs needs --create" --region x --rotate --epochs 3
	usage_error "--pages needs --create" --region x --ticket - --pages huge
	usage_error "standard output cannot" --region x --ticket - --snapshot -
	usage_error "standard output cannot" --region x --ticket - -r y -w -
	usage_error "standard output cannot" --region x -r y -w - --snapshot -
	usage_error "standard input cannot" --region x --create --layout - -r -
	usage_error "no such argument" --region x --rotate y
}

@test "values that are none: what they could be, exit 2" {
	refused "not auto" --region x --create --layout y --pages 4K
	refused "is not 256" --region x --ticket - --mtu 1000
	refused "IP address" --region x --ticket - --ip 10.0.0
	refused "or ndjson" --region x --ticket - -o xml
	refused "is not text, csv or ndjson" --region x --ticket - -o bmv2
	refused "another family" --region x --ticket - --ip ::1 --peer-ip 10.0.0.1
	usage_error "--readable needs --cm" --region x --verbs rxe0 --peer-ip 10.0.0.1 --readable
	for mac in 02:00:00:00:00 2:0:0:0:0:1 02:00:00:00:00:001 \
		' 2:00:00:00:00:01' +2:00:00:00:00:01 02-00-00-00-00-01 \
		02:00:00:00:00:01:; do
		refused "MAC address" --region x --ticket - --mac "$mac"
	done
}

@test "no file is an input and an output, or two outputs" {
	local twice="named twice"

	create
	fill 1
	dta-gen uniform --count 3 -q -w a.pcap
	cp a.pcap b.pcap
	ln a.pcap link
	refused "$twice" --region "$NAME" -r a.pcap -w ./a.pcap
	refused "$twice" --region "$NAME" -r a.pcap --ticket link
	refused "$twice" --region "$NAME" -r a.pcap -w x --snapshot x
	refused "$twice" --region "$NAME" --snapshot "/dev/shm/$NAME"
	refused "$twice" --region "$NAME" --ticket "/dev/shm/$NAME"
	cmp a.pcap b.pcap
	[ ! -e x ]
	dta-dump region "$NAME"
	head -c 24 a.pcap >c.pcap
	dta-collect --region "$NAME" -q -r c.pcap -w /dev/null # no file
}

@test "an address is in the ticket as it was given" {
	create --ticket - --ip 192.0.2.1 --peer-ip 192.0.2.2 \
		--mac 02:AB:00:00:00:01 --peer-mac 02:00:00:00:00:ff >ticket
	grep -q '= *192\.0\.2\.1$' ticket
	grep -q '= *192\.0\.2\.2$' ticket
	grep -qi '= *02:ab:00:00:00:01$' ticket
	grep -q '= *02:00:00:00:00:ff$' ticket
}

@test "qp = uc: slots and entries that packets would cut are refused" {
	printf '%s\n' '[big]' 'kind = keywrite' 'key = u32' 'value = 300' \
		'slots = 64' 'qp = uc' >uc.ini
	printf '%s\n' '[cut]' 'kind = append' 'value = 20' 'stride = packed' \
		'lists = 2' 'entries = 100' 'batch = 64' 'qp = uc' >lists.ini
	refused() { # text option...
		local text=$1

		shift
		run -1 --separate-stderr dta-collect --region "$NAME" "$@"
		[ -z "$output" ]
		[[ $stderr == "dta-collect: $text, and on UC "*"qp = rc"* ]]
	}
	refused "uc.ini: table big: qp: packets of 256 bytes, the path MTU, cut slots of 304 bytes" \
		--create --layout uc.ini --mtu 256
	refused "lists.ini: table cut: qp: packets of 1024 bytes, the path MTU, cut entries of 20 bytes" \
		--create --layout lists.ini
	[ ! -e "/dev/shm/$NAME" ]
	dta-collect --create --layout uc.ini --region "$NAME"
	refused "$NAME: table big: qp: packets of 256 bytes, the path MTU, cut slots of 304 bytes" \
		--ticket t.ini --mtu 256
	[ ! -e t.ini ]
	dta-collect --region "$NAME" --ticket t.ini --mtu 512
	# RC sends the whole of it again; and so much fits a larger packet.
	for change in '/qp = uc/d' 's/value = 300/value = 252/'; do
		dta-collect --remove --region "$NAME"
		sed "$change" uc.ini >good.ini
		dta-collect --create --layout good.ini --region "$NAME" \
			--mtu 256 --ticket t.ini
	done
}

@test "a region is created once, and removed once" {
	create
	fill 1
	digest "$NAME" >before
	dta-collect --create --layout small.ini --region "$NAME"
	digest "$NAME" | diff before -
	dta-collect --remove --region "$NAME"
	fails "$NAME: *no such region" --remove --region "$NAME"
}

@test "names: a path where there is a slash, and no way out of /dev/shm" {
	dta-collect --create --layout small.ini --region "$PWD/region"
	[ -s region ]
	digest ./region >/dev/null
	dta-collect --remove --region ./region
	[ ! -e region ]
	fails "a/b: No such file or directory" --create --layout small.ini \
		--region a/b
	dta-collect --create --layout small.ini --region "/$NAME"
	digest "$NAME" >/dev/null
	for bad in / . .. /..; do
		fails "*'$bad' is no name for a region" --remove --region "$bad"
		fails "*'$bad' is no name for a region" --create \
			--layout small.ini --region "$bad"
	done
	fails "*too long" --create --layout small.ini \
		--region "$(printf 'x%.0s' {1..300})"
}

@test "--remove takes regions away, nothing else" {
	echo "a text that somebody needs" >"/dev/shm/$NAME-text"
	echo "another one" >text
	mkdir directory
	fails "$NAME-text: *not a region" --remove --region "$NAME-text"
	fails "./text: not a region" --remove --region ./text
	fails "./directory: *" --remove --region ./directory
	[ -s "/dev/shm/$NAME-text" ]
	rm "/dev/shm/$NAME-text"
	[[ -s text && -d directory ]]
}

@test "one epoch: --rotate is refused and changes nothing" {
	create
	fill 1
	digest "$NAME" >before
	fails "$NAME: *one epoch only*" --region "$NAME" --rotate \
		--snapshot s.dta
	[ ! -e s.dta ]
	digest "$NAME" | diff before -
}

@test "three epochs: rotations, snapshots of one and of all, there and back" {
	create --epochs 3
	fill 1
	digest "$NAME" >first
	dta-collect --region "$NAME" --rotate --snapshot 1.dta
	fill 2
	digest "$NAME" >second
	run -1 cmp -s first second
	dta-collect --region "$NAME" --snapshot all.dta
	for s in 1 all; do
		dta-collect --restore $s.dta --region "$NAME-$s"
	done
	digest "$NAME-1" | diff first -
	digest "$NAME-all" | diff second -
	# The old epoch came along with the new one.
	[ "$(dta-dump region "$NAME-all" -o ndjson |
		jq -s 'map([.oldest, .newest, .epochs]) | unique | .[0]' -c)" = \
		"[1,2,3]" ]
	# Sets of tables go round; what was the oldest is cleared.
	for i in 3 4; do
		dta-collect --region "$NAME" --rotate
	done
	dta-dump region "$NAME" -o ndjson | jq -se 'all(.used == 0)'
}

@test "--restore: more epochs if asked, never fewer; never over a region" {
	create --epochs 2
	fill 1
	dta-collect --region "$NAME" --snapshot s.dta
	fails "*exists: remove it*" --restore s.dta --region "$NAME"
	for n in 1 2 5; do
		dta-collect --restore s.dta --region "$NAME-$n" --epochs $n
		got=$(dta-dump region "$NAME-$n" -o ndjson | jq -s '.[0].epochs')
		[ "$got" = $((n > 2 ? n : 2)) ]
	done
	fails "none.dta: No such file*" --restore none.dta --region "$NAME-x"
	fails "small.ini: *" --restore small.ini --region "$NAME-x"
	head -c -1 s.dta >cut.dta
	fails "cut.dta: *" --restore cut.dta --region "$NAME-x"
	[ ! -e "/dev/shm/$NAME-x" ]
}

@test "--restore: of a damaged snapshot nothing is restored" {
	create
	fill 1
	dta-collect --region "$NAME" --snapshot s.dta
	# The middle of a file of a few big blocks lies in one of them.
	at=$(($(stat -c %s s.dta) / 2))
	byte=$(od -An -tu1 -j $at -N 1 s.dta)
	printf "\\x$(printf %02x $((byte ^ 64)))" |
		dd of=s.dta bs=1 seek=$at conv=notrunc status=none
	fails "s.dta: 1 of * blocks are damaged: nothing is restored; dta-query --snapshot reads the others" \
		--restore s.dta --region "$NAME-r"
	[ ! -e "/dev/shm/$NAME-r" ]
}

@test "several actions at once: ticket, packets, rotation, snapshot" {
	create --epochs 2
	dta-collect --region "$NAME" --ticket ticket
	dta-gen uniform -q --count 2000 --truth truth.csv -w reports.pcap
	dta-translate -q -r reports.pcap --ticket ticket -w roce.pcap
	dta-collect -q --region "$NAME" --ticket again -r - -w answers.pcap \
		--rotate --snapshot s.dta <roce.pcap
	cmp ticket again
	[ -s answers.pcap ]
	dta-query verify --snapshot s.dta --truth truth.csv || [ $? = 3 ]
	dta-collect --restore s.dta --region "$NAME-r"
	dta-translate -q -r reports.pcap --region "$NAME"
	digest "$NAME-r" | cut -d, -f1,4 >a
	digest "$NAME" | cut -d, -f1,4 | diff a -
	# The same, and the region made on the way.
	dta-collect -q --create --layout - --region "$NAME-c" --ticket - \
		-r roce.pcap <small.ini | sed "s:-c$::" | cmp - ticket
	digest "$NAME-c" | cut -d, -f1,4 | diff a -
}

@test "what cannot be written: told with its reason, exit 1" {
	create
	full="/dev/full: No space left on device"
	fails "$full" --region "$NAME" --ticket /dev/full
	fails "$full" --region "$NAME" --snapshot /dev/full
	for what in --ticket --snapshot; do
		fails "/nowhere/x: No such file or directory" \
			--region "$NAME" $what /nowhere/x
		run -1 --separate-stderr bash -c \
			"dta-collect --region $NAME $what - >/dev/full"
		[[ $stderr == *"No space left on device"* ]]
	done
	fails "none.pcap: No such file or directory" --region "$NAME" \
		-r none.pcap -w answers.pcap
	[ ! -e answers.pcap ]
	fails "$NAME-none: *no such region; dta-collect --create*" --region "$NAME-none" \
		--ticket ticket
	[ ! -e ticket ]
}

reports_on() { # pid
	kill -USR1 "$1"
	sleep 0.05
	[ -s ledger ]
}

@test "answers to a live pipe come at once" {
	create
	dta-collect --region "$NAME" --ticket ticket
	dta-gen uniform -q --count 10 -w reports.pcap
	dta-translate -q -r reports.pcap --ticket ticket --ack-every 1 \
		-w roce.pcap
	mkfifo pipe
	bg dta-collect -q --region "$NAME" -r pipe -w answers.pcap
	exec 9>pipe
	cat roce.pcap >&9 # and no end of file
	wait_for test -s answers.pcap
	exec 9>&-
	wait "${BG_PIDS[0]}"
	[ "$(dta-dump packets answers.pcap -o csv | wc -l)" = \
		"$(dta-dump packets roce.pcap -o csv | wc -l)" ]
}

@test "a signal before the first byte: the ledger, exit 0" {
	create
	mkfifo pipe
	for sig in TERM INT; do
		bash -c 'trap - INT; exec dta-collect -o ndjson --region "$0" \
			-r pipe' "$NAME" 2>ledger 3>&- &
		pid=$!
		exec 9>pipe # it has the other end now
		# Once more where one came just before the read began.
		wait_for reports_on $pid
		while kill -$sig $pid 2>/dev/null; do sleep 0.05; done
		status=0
		wait $pid || status=$?
		exec 9>&-
		[ $status = 0 ]
		[ "$(jq -s 'map(select(.counter == "received")) | length' \
			ledger)" -ge 2 ]
	done
}

# A program that waits for the other end of a FIFO: SIGUSR1 does not end it,
# SIGTERM does. More than one, as the wait may just begin.
stopped_by() { # program argument...
	local status=0 sig

	for sig in USR1 TERM; do
		"$@" -o ndjson 2>ledger 3>&- &
		pid=$!
		wait_for catches_term $pid
		if [ $sig = USR1 ]; then
			kill -USR1 $pid
			sleep 0.05
			kill -USR1 $pid
		fi
		while kill -TERM $pid 2>/dev/null; do sleep 0.05; done
		wait $pid || status=$?
		[ $status = 0 ] || { echo "$status: $*" && cat ledger && false; }
		[ "$(jq -s 'map(select(.role == "in")) | length > 0' ledger)" = true ]
	done
}

# It is a shell no more, and catches SIGTERM: a bit of a mask in /proc.
catches_term() { # pid
	local mask

	[[ $(<"/proc/$1/comm") == dta-* ]] || return 1
	mask=$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status") || return 1
	((0x$mask >> 14 & 1))
}

# There is a reader, who does not read: what is not written is told.
stalled() { # program argument...
	local status=0 pid

	exec 9<>out
	"$@" -o ndjson 2>ledger 3>&- 9>&- &
	pid=$!
	wait_for catches_term $pid
	sleep 0.2
	while kill -TERM $pid 2>/dev/null; do sleep 0.05; done
	wait $pid || status=$?
	exec 9>&-
	[ $status = 1 ] || { echo "$status: $*" && cat ledger && false; }
	grep -q "out: Operation canceled" ledger
	[ "$(grep '^{' ledger | jq -s \
		'map(select(.role == "in")) | length > 0')" = true ]
}

@test "signals end the wait for a reader who stalls: the ledger, exit 1" {
	create
	dta-collect --region "$NAME" --ticket ticket
	dta-gen uniform -q --count 100000 -w reports.pcap
	dta-translate -q -r reports.pcap --ticket ticket --ack-every 1 \
		-w roce.pcap
	mkfifo out
	stalled dta-gen uniform --count 100M -w out
	stalled dta-translate -r reports.pcap --ticket ticket -w out
	stalled dta-collect --region "$NAME" -r roce.pcap -w out
	# So does the one who writes, if it is another core.
	for j in 2 3; do
		stalled dta-translate -r reports.pcap --ticket ticket -w out -j $j
		stalled dta-collect --region "$NAME" -r roce.pcap -w out -j $j
	done
}

@test "signals end the wait for a FIFO's other end: the ledger, exit 0" {
	create
	dta-collect --region "$NAME" --ticket ticket
	dta-gen uniform -q --count 10 -w reports.pcap
	mkfifo in out
	stopped_by dta-collect --region "$NAME" -r in
	stopped_by dta-collect --region "$NAME" -r in -w out
	stopped_by dta-collect --region "$NAME" -r in -w answers.pcap
	stopped_by dta-translate -r reports.pcap --ticket ticket -w out
	stopped_by dta-translate -r in --ticket ticket -w out --answers in
	stopped_by dta-translate -r reports.pcap -R "$NAME" --nacks out
	stopped_by dta-gen uniform -w out
	stopped_by dta-gen marple-hosts --from in -w out
	stopped_by dta-gen uniform -w /dev/null --truth out
	# those that have no ledger
	dta-collect --region "$NAME" --ticket out 2>err 3>&- &
	pid=$!
	wait_for catches_term $pid
	while kill -TERM $pid 2>/dev/null; do sleep 0.05; done
	wait $pid
	[ ! -s err ]
	dta-query keywrite --region "$NAME" --keys in 2>err 3>&- &
	pid=$!
	wait_for catches_term $pid
	while kill -TERM $pid 2>/dev/null; do sleep 0.05; done
	wait $pid || [ $? = 3 ]
	[ ! -s err ]
}

@test "requests from another address than the translator's: said" {
	dta-collect --create --layout "$EXAMPLES/uniform.ini" --region "$NAME"
	dta-collect --region "$NAME" --ip 10.0.0.51 --peer-ip 10.0.0.101 \
		--ticket t.ini
	dta-gen uniform -c 3000 -q -w r.pcap
	dta-translate -q -r r.pcap --ticket t.ini -w roce.pcap
	run -1 --separate-stderr dta-collect --region "$NAME" \
		--ip 10.0.0.51 --peer-ip 10.0.0.77 -q -r roce.pcap
	head -n 1 <<<"$stderr" | diff - /dev/fd/3 3<<-EOF
		dta-collect: $NAME: requests are refused, most as bad_peer: the packets are not from the translator of the ticket: --peer-ip says who that is
	EOF
}

@test "dta-switch int_xd: a node's postcards, of its id, latency or queue" {
	cat >cards.ini <<-INI
		[no]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 1Ki
		[cards]
		id = 7
		kind = postcard
		key = flow4
		hops = 3
		values = 1-9
		chunks = 1Ki
	INI
	dta-collect --create --layout cards.ini --region "$NAME" --ticket t.ini
	dta-collect --remove --region "$NAME"
	dta-switch int_xd 2/3 t.ini >commands
	diff - commands <<-'END'
		set_queue_depth 65536 3
		mirroring_add 2 3
		table_set_default NodeIngress.cards.flows NodeIngress.cards.card 2 3 1 0
		table_set_default NodeEgress.postcard.reporter NodeEgress.postcard.translator 02:00:00:00:00:01 02:00:00:01:00:03 0x0a010003 0x0a000033 7 1
	END
	dta-switch int_xd 0/2 --tell latency t.ini | grep -qx '.*cards.card 0 2 2 0'
	dta-switch int_xd 0/2 --tell queue t.ini | grep -qx '.*cards.card 0 2 3 0'
	run -1 --separate-stderr dta-switch int_xd 0/4 t.ini
	[ -z "$output" ]
	[[ $stderr == "dta-switch: no table takes these postcards"*" 4 hops" ]]
	for no in 3/3 0/9 2; do
		run -2 dta-switch int_xd $no t.ini
	done
}

# Whether a P4 switch takes them: tests/p4.
@test "dta-switch: the ticket as a switch's commands; what it cannot do is refused" {
	cat >kw.ini <<-INI
		[kw]
		id = 7
		kind = keywrite
		key = flow4
		value = 20
		slots = 1Ki
		immediate = yes
	INI
	dta-collect --create --layout kw.ini --region "$NAME" --ticket t.ini
	dta-switch dta_translator t.ini >commands
	grep -qx 'table_add TranslatorIngress.lanes TranslatorIngress.lane 7 => 0 1 13 20 2 1 0 1024 32 32 0 0' commands
	address=$(sed -n 's/^address = //p' t.ini)
	key=$(sed -n 's/^rkey = //p' t.ini)
	grep -q "rdma.pair 0 => 02:00:00:00:00:02 02:00:00:00:00:01 0x0a000065 0x0a000033 0x11 $key $address 0\$" commands
	grep -qx 'set_crc32_parameters calc_4 0x1edc6f41 0x0 0xffffffff true true' commands
	dta-collect --region "$NAME" --ticket six.ini --ip ::1 --peer-ip ::2
	run -1 --separate-stderr dta-switch dta_translator six.ini
	[[ $stderr == *"IPv4 only" ]]
	dta-collect --remove --region "$NAME"
	for fields in 'kind=keywrite slots=1Ki key=u32 value=300' \
		'kind=keywrite slots=1Ki key=hex:3 value=4' \
		'kind=keywrite slots=1Ki hash=dta0 key=u32 value=4' \
		'kind=append value=18 batch=16 ring=1Ki lists=1' \
		'kind=append value=4 ring=64 lists=4097' \
		'kind=postcard chunks=1Ki key=u32 values=1-9 cache=131072'; do
		printf '%s\n' '[kw]' ${fields// /$'\n'} >no.ini
		dta-collect --create --layout no.ini --region "$NAME" --ticket no
		run -1 --separate-stderr dta-switch dta_translator no
		[[ $stderr == *"the switch "* ]]
		[ -z "$output" ]
		dta-collect --remove --region "$NAME"
	done
}

@test "sizes: K is 1000 and Ki 1024, in a layout as in an option" {
	printf '[t%s]\nkind = keyinc\nkey = u32\nslots = %s\n' \
		1 1K 2 1Ki 3 1.5M 4 1MiB >l.ini
	dta-collect --create --layout l.ini --region "$NAME"
	dta-dump region "$NAME" -o ndjson |
		jq -se 'map(.units | values) == [1000, 1024, 1500000, 1048576]'
	dta-plan keywrite --load 1 --memory 8K:8Ki:192 --copies 1 -o ndjson |
		jq -se 'map(.slots) == [1000, 1024]'
	run ! grep -E '= *[0-9]+[KMGT]$' "$EXAMPLES"/*.ini
}

@test "--create again: one that is as it should be is fine, another is not" {
	printf '[a]\nkind = postcard\nkey = flow4\nchunks = 1K\nvalues = 1,2,7\n' >l.ini
	dta-collect --create --layout l.ini --region "$NAME" --epochs 2
	run -0 --separate-stderr dta-collect --create --layout l.ini \
		--region "$NAME" --epochs 2
	[ "$stderr" = "dta-collect: $NAME: is there already, as the layout says" ]
	run -1 --separate-stderr dta-collect --create --layout l.ini \
		--region "$NAME" --epochs 3
	[[ $stderr == *"$NAME: has 2 epochs, not 3: remove the region, or say --epochs 2" ]]
	sed -i s/7/9/ l.ini
	run -1 --separate-stderr dta-collect --create --layout l.ini \
		--region "$NAME" --epochs 2
	[[ $stderr == *"$NAME: table a is not as the layout says: "* ]]
}

@test "a second collector of an interface into the same region is refused" {
	unshare -rn true 2>/dev/null || skip "no network namespaces here"
	printf '[a]\nkind = keywrite\nkey = flow4\nvalue = 4\nslots = 1K\n' >l.ini
	dta-collect --create --layout l.ini --region "$NAME"
	dta-collect --create --layout l.ini --region "$NAME-b"
	cat >in-there <<-EOP
		ip link add v type veth peer name w
		ip link set v up && ip link set w up
		ip addr add 10.9.9.1/24 dev v && ip addr add 10.9.9.2/24 dev w
		begin() { dta-collect -R \$1 -i \$2 --ticket \$3 3>&- & pids+=" \$!"
			until [ -s \$3 ]; do sleep 0.05; done; }
		begin $NAME v one
		dta-collect -R $NAME -i v --ticket no
		echo "status \$?"
		begin $NAME w two
		begin $NAME-b v three
		kill \$pids
		wait \$pids
		[ ! -e no ]
		begin $NAME v four
		rm -f /dev/shm/$NAME /dev/hugepages/$NAME
		wait \$!
		echo "removed \$?"
	EOP
	run -0 --separate-stderr timeout 60 unshare -rn bash in-there
	dta-collect --remove --region "$NAME-b"
	[ "$output" = $'status 1\nremoved 1' ]
	[[ $stderr == *"/$NAME was removed: create it, and start again"* ]]
	[[ $stderr == *"$NAME: another dta-collect carries out the packets of v into this region: end that one first"* ]]
}
