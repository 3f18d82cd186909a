# SPDX-License-Identifier: BSD-2-Clause
# Several collectors: written by hash, by address, with mirrors; asked where the
# generations say; on other machines through a command in ssh's place.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-cluster-$BATS_TEST_NUMBER
	EXPECT=$TOP/tests/tools/expect.py
	PATH=$PWD:$TOP/tests/tools:$PATH # $PWD: for an ssh that a test makes
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

# A table of each kind.
make_layout() {
	cat >layout.ini <<-INI
		[flows]
		id = 1
		kind = keywrite
		key = flow4
		value = 4
		slots = 64Ki
		copies = 2
		[events]
		id = 2
		kind = append
		value = 4
		lists = 16
		entries = 4Ki
		batch = 4
		flush = 100ms
		[sums]
		id = 3
		kind = keyinc
		key = flow4
		slots = 64Ki
		copies = 2
		[paths]
		id = 4
		kind = postcard
		key = flow4
		hops = 5
		values = 0-65535
		chunks = 64Ki
		copies = 1
		cache = 8Ki
	INI
}

# Reports of every kind in one capture, and their truth.
make_reports() { # count
	local table kind

	: >truth.csv
	for table in 1 2 3 4; do
		kind=$(sed -n "${table}p" <<-KINDS
			keywrite
			append
			keyinc
			postcard
		KINDS
		)
		dta-gen uniform --kind $kind --table $table --count "$1" \
			--seed "$table" -q --truth part.csv -w part.pcap
		if [ $table = 1 ]; then
			cp part.pcap reports.pcap
			cp part.csv truth.csv
		else
			tail -c +25 part.pcap >>reports.pcap
			tail -n +2 part.csv >>truth.csv
		fi
	done
}

# cluster.ini: collectors 0, 1, ... are these regions; lines on stdin come
# behind, under [cluster].
make_cluster() { # region...
	local i=0 r

	{
		printf '[cluster]\nversion = 1\n'
		cat
		for r in "$@"; do
			printf '[collector %s]\nregion = %s\n' $i "$NAME-$r"
			i=$((i + 1))
		done
	} >cluster.ini
}

verdict() { # field; of verify.ndjson
	jq -s "map(.$1) | add" verify.ndjson
}

# An ssh that stays here; it notes whom it was to ask.
make_ssh() {
	cat >ssh <<-'SH'
		#!/bin/sh
		batch=no
		while [ "$1" = -o ]; do
			[ "$2" = BatchMode=yes ] && batch=yes
			shift 2
		done
		echo "$1 $batch" >>hosts
		[ "$1" != nowhere ] || exit 255
		shift
		exec sh -c "$*"
	SH
	chmod +x ssh
	: >hosts
}

@test "three regions: each key at its owner, and asked there" {
	make_layout
	make_regions layout.ini a b c
	make_reports 4000
	make_cluster a b c </dev/null
	dta-translate -r reports.pcap --cluster cluster.ini -o ndjson \
		2>ledger.ndjson
	[ "$(jq -r 'select(.counter == "stored").value' ledger.ndjson)" \
		-eq 16000 ]
	dta-query verify --cluster cluster.ini --truth truth.csv \
		-o ndjson | tee verify.ndjson
	[ "$(verdict wrong)" -eq 0 ]
	[ "$(verdict right)" -gt 11000 ]
	for c in 0 1 2; do # as another program says
		r=$(cut -c $((c + 1)) <<<abc)
		"$EXPECT" "$NAME-$r" reports.pcap $c/3 | tee expect.ndjson
		[ "$(jq .stored expect.ndjson)" -gt 3000 ]
	done
	# Rows come in the order asked; the source is the collector's id.
	sed -n '2,400s/^1,keywrite,\([^,]*\),.*/\1/p' truth.csv >keys
	dta-query keywrite --cluster cluster.ini -k keys -o csv >rows.csv
	diff <(tail -n +2 rows.csv | cut -d, -f1) keys
	[ "$(tail -n +2 rows.csv | cut -d, -f8 | sort -u | xargs)" = "0 1 2" ]
	dta-query count --cluster cluster.ini --summary -o ndjson \
		"$(sed -n 's/^3,keyinc,\([^,]*\),.*/\1/p' truth.csv | head -1)"
	dta-query path --cluster cluster.ini \
		"$(sed -n 's/^4,postcard,\([^,]*\),.*/\1/p' truth.csv | head -1)"
	[ "$(dta-query list --cluster cluster.ini -q -o csv | wc -l)" -eq 4001 ]
	run -3 dta-query keywrite --cluster cluster.ini '1.2.3.4:5>6.7.8.9:1/tcp'
	echo "keywrite $(head -1 keys)" |
		dta-query -i --cluster cluster.ini | grep found
	# The load of one table, and a plan by it, are those of no collector.
	dta-query verify --cluster cluster.ini --truth truth.csv --by-age 2 \
		-o ndjson | jq -se 'length == 4 and all(.[]; .asked > 0 and
			.load == null and .planned == null)'
}

@test "one that has another layout by now: it is said, and nothing found there" {
	make_layout
	make_regions layout.ini a b
	make_reports 500
	make_cluster a b </dev/null
	dta-translate -q -r reports.pcap --cluster cluster.ini
	dta-collect --remove --region "$NAME-b"
	sed -i '0,/value = 4/s//value = 8/' layout.ini
	make_regions layout.ini b
	run -0 --separate-stderr dta-query verify --cluster cluster.ini \
		--truth truth.csv -o csv
	[[ $stderr == *"collector 1: has no table flows like that of the others: nothing is found there"* ]]
	[[ $stderr != *"no table sums"* ]]
}

@test "by tickets: the same memory as in the regions, DART too" {
	make_layout
	make_regions layout.ini a b c x y z
	make_reports 2000
	make_cluster a b c </dev/null
	{
		printf '[cluster]\nversion = 1\n'
		for c in 0 1 2; do
			dta-collect --region "$NAME-$(cut -c $((c + 1)) <<<xyz)" \
				--mac 02:00:00:00:01:0$c --ip 10.0.0.5$c \
				--ticket t$c.ini
			printf '[collector %s]\nticket = t%s.ini\n' $c $c
		done
	} >tickets.ini
	for dart in "" --dart; do
		# shellcheck disable=SC2086
		dta-translate -q -r reports.pcap --cluster cluster.ini $dart
		# shellcheck disable=SC2086
		dta-translate -q -r reports.pcap --cluster tickets.ini \
			-w roce$dart.pcap $dart
	done
	for c in 0 1 2; do
		r=$(cut -c $((c + 1)) <<<xyz)
		for dart in "" --dart; do
			# PSNs begin anew, as the tickets say.
			dta-collect -q --region "$NAME-$r" \
				--mac 02:00:00:00:01:0$c --ip 10.0.0.5$c \
				-r roce$dart.pcap
		done
	done
	for pair in ax by cz; do
		for t in flows sums paths; do
			diff <(dta-dump digest "$NAME-${pair:0:1}" -o csv |
				grep $t) <(dta-dump digest \
				"$NAME-${pair:1:1}" -o csv | grep $t)
		done
	done
}

@test "a mirror: one of the regions can be lost" {
	make_layout
	make_regions layout.ini a b c
	make_reports 2000
	make_cluster a b c <<<"mirror = yes"
	dta-translate -q -r reports.pcap --cluster cluster.ini
	dta-query verify --cluster cluster.ini --truth truth.csv -o ndjson \
		>before.ndjson
	dta-collect --remove --region "$NAME-b"
	run -0 --separate-stderr dta-query verify --cluster cluster.ini \
		--truth truth.csv -o ndjson
	[[ $stderr == *"collector 1: "*"no such region"* ]]
	[[ $stderr == *"asking its mirror, collector 2"* ]]
	[ "$(jq -s 'map(.wrong) | add' <<<"$output")" -eq 0 ]
	[ "$(jq -s 'map(.right) | add' <<<"$output")" -gt 5800 ]
	# Without the mirror, what it had is gone, and that is said.
	sed -i '/mirror/d' cluster.ini
	sed -n 's/^1,keywrite,\([^,]*\),.*/\1/p' truth.csv | head -100 >keys
	run -1 --separate-stderr dta-query keywrite --cluster cluster.ini \
		-k keys -o ndjson
	[ "$(jq -s 'map(select(.answer == "unreadable")) | length' \
		<<<"$output")" -gt 15 ]
	[ "$(jq -s 'map(select(.answer == "found")) | length' \
		<<<"$output")" -gt 40 ]
}

# digests_of COMMAND...: what it leaves in three new regions.
digests_of() {
	local r

	remove_regions "$NAME"
	make_regions layout.ini a b c
	"$@"
	for r in a b c; do
		for t in flows events sums paths; do
			region.py digest "$NAME-$r" $t
		done
	done
}

@test "mirrors: one memory, wherever batches end and on all cores" {
	make_layout
	sed -i 's/64Ki/1024/; s/8Ki/128/' layout.ini # own slots and others' meet
	make_reports 3000
	make_cluster a b c <<<"mirror = yes"
	trickled() {
		split -b 7001 --filter='cat; sleep 0.002' reports.pcap |
			dta-translate -q -r - --cluster cluster.ini
	}
	digests_of dta-translate -q -r reports.pcap --cluster cluster.ini >one
	for j in 2 3; do
		digests_of dta-translate -q -j $j -r reports.pcap \
			--cluster cluster.ini >cores
		diff one cores
	done
	digests_of trickled >pieces
	diff one pieces
}

@test "a fourth collector: past epochs are found where they were stored" {
	make_layout
	sed -i 's/slots = 64Ki/slots = 256Ki/; s/chunks = 64Ki/chunks = 256Ki/' \
		layout.ini
	for r in a b c; do
		dta-collect --create --layout layout.ini --epochs 2 \
			--region "$NAME-$r"
	done
	make_reports 2000
	mv truth.csv old.csv
	make_cluster a b c </dev/null
	dta-translate -q -r reports.pcap --cluster cluster.ini
	for r in a b c; do
		dta-collect --rotate --region "$NAME-$r"
	done
	# Written before the translators knew of the fourth: old owners, new
	# epoch.
	dta-gen uniform --count 500 --seed 7700000 -q --truth late.csv -w late.pcap
	dta-translate -q -r late.pcap --cluster cluster.ini
	dta-collect --create --layout layout.ini --epochs 2 --region "$NAME-d"
	make_cluster a b c d </dev/null
	cat >>cluster.ini <<-INI
		[generation 1]
		collectors = 0-2
		[generation 2]
		collectors = 0-3
		epoch = 2
	INI
	dta-gen uniform --count 2000 --seed 9900000 -q --truth new.csv -w new.pcap
	dta-translate -q -r new.pcap --cluster cluster.ini
	for truth in old late new; do
		dta-query verify --cluster cluster.ini --truth $truth.csv \
			-o ndjson | tee verify.ndjson
		[ "$(verdict wrong)" -eq 0 ]
		[ "$(verdict over)" -lt 10 ]
		[ "$(verdict missing)" -lt 10 ]
	done
	"$EXPECT" "$NAME-d" new.pcap 3/4 | tee expect.ndjson
	[ "$(jq .stored expect.ndjson)" -gt 400 ]
	# Counted in one place each, though epoch 2 is in both generations.
	dta-query verify --cluster cluster.ini --truth old.csv \
		-o ndjson | jq -se 'any(.table == "sums" and .right > 1990)'
	# By the newest generation alone, most of the old ones are not there.
	sed -i '/generation 1/,/0-2/d; /^epoch/d' cluster.ini
	dta-query verify --cluster cluster.ini --truth old.csv -o ndjson \
		>verify.ndjson
	[ "$(verdict missing)" -gt 2000 ]
}

# Starts a translator on a pipe; more comes by feed.
stream_start() { # option...
	mkfifo pipe
	: >translate.log
	dta-translate -r pipe --cluster cluster.ini -o ndjson "$@" \
		>>translate.log 2>&1 3>&- &
	TRANSLATE=$!
	BG_PIDS+=("$TRANSLATE")
	exec 9>pipe
	FED=0
	HEADED=
}

# Goes on when they are stored.
feed() { # capture count
	if [ "$HEADED" ]; then
		tail -c +25 "$1" >&9
	else
		cat "$1" >&9
	fi
	HEADED=yes
	FED=$((FED + $2))
	wait_for fed
}

fed() {
	kill -USR1 "$TRANSLATE"
	sleep 0.05
	[ "$(grep '^{' translate.log | jq -r \
		'select(.counter == "stored").value' | tail -n 1)" = $FED ]
}

# Has the cluster file read again; text comes of it.
reread() { # text
	kill -HUP "$TRANSLATE"
	wait_for grep -F "$1" translate.log
}

stream_end() {
	exec 9>&-
	wait "$TRANSLATE"
}

# 4000 reports of each kind in three parts; epoch is the generation's.
make_parts() {
	local n

	for n in 1 2 3; do
		dta-gen uniform --count 4000 --flows 3000 --seed ${n}00000 \
			-q --truth kw$n.csv -w kw$n.pcap
		dta-gen uniform --kind keyinc --table 3 --count 4000 \
			--flows 700 --seed 5 -q --truth inc$n.csv -w inc$n.pcap
		dta-gen uniform --kind append --table 2 --count 4001 \
			--seed $n -q --truth app$n.csv -w app$n.pcap
		dta-gen uniform --kind postcard --table 4 --count 4000 \
			--seed ${n}00000 -q --truth path$n.csv -w path$n.pcap
		cat kw$n.pcap <(tail -c +25 inc$n.pcap) \
			<(tail -c +25 app$n.pcap) \
			<(tail -c +25 path$n.pcap) >part$n.pcap
	done
	cat inc1.csv <(tail -n +2 inc2.csv) <(tail -n +2 inc3.csv) >inc.csv
	cat app1.csv <(tail -n +2 app2.csv) <(tail -n +2 app3.csv) >app.csv
}

all_right() { # truth [option...]
	dta-query verify --cluster cluster.ini --truth "$1" -o ndjson \
		"${@:2}" | tee verify.ndjson
	jq -e '.asked > 0 and .right == .asked' verify.ndjson
}

@test "SIGHUP in the middle of a stream: one comes, one goes, all is found" {
	make_layout
	sed -i 's/slots = 64Ki/slots = 4Mi/; s/chunks = 64Ki/chunks = 1Mi/
		/copies = 1/s/1/2/' layout.ini
	for r in a b c; do
		dta-collect --create --layout layout.ini --epochs 4 \
			--region "$NAME-$r"
	done
	make_parts
	make_cluster a b </dev/null
	printf '[generation 1]\ncollectors = 0 1\n' >>cluster.ini
	stream_start
	feed part1.pcap 16001
	# A third comes.
	for r in a b; do
		dta-collect --rotate --region "$NAME-$r"
	done
	make_cluster a b c </dev/null
	cat >>cluster.ini <<-INI
		[generation 1]
		collectors = 0 1
		[generation 2]
		collectors = 0-2
		epoch = 2
	INI
	reread "cluster.ini: generation 2: 3 collectors"
	feed part2.pcap 16001
	# The first goes; the third has rotated once, too.
	for r in b c; do
		dta-collect --rotate --region "$NAME-$r"
	done
	printf '[generation 3]\ncollectors = 1:3 2:2\n' >>cluster.ini
	reread "cluster.ini: generation 3: 2 collectors"
	before=$(dta-dump digest "$NAME-a" -o csv)
	feed part3.pcap 16001
	stream_end
	[ "$before" = "$(dta-dump digest "$NAME-a" -o csv)" ]
	[ "$(grep '^{' translate.log | jq -r \
		'select(.counter == "stored").value' | tail -n 1)" -eq 48003 ]
	for n in 1 2 3; do
		all_right kw$n.csv
		all_right path$n.csv
	done
	all_right inc.csv
	all_right app.csv
	# On another machine, though two of its generations share an epoch.
	make_ssh
	dta-collect --region "$NAME-b" --ticket b.ini
	cp cluster.ini near.ini
	sed "s/^region = $NAME-b/&\nhost = beta\nticket = b.ini/" near.ini \
		>cluster.ini
	for truth in inc.csv app.csv kw1.csv kw3.csv; do
		all_right $truth
	done
	diff <(dta-query list --cluster near.ini -q -o csv 0 3 7) \
		<(dta-query list --cluster cluster.ini -q -o csv 0 3 7)
	# Each where its epoch says: by its own hash, from another program.
	"$EXPECT" "$NAME-c" kw3.pcap 1/2 | tee expect.ndjson
	[ "$(jq .stored expect.ndjson)" -gt 1800 ]
}

@test "SIGHUP by tickets: PSNs go on, the same memory as in the regions" {
	local c r dart

	make_layout
	make_regions layout.ini a b c x y z
	for n in 1 2; do
		make_reports 1500
		mv reports.pcap part$n.pcap
	done
	by_tickets() { # how many
		printf '[cluster]\nversion = 1\n'
		for ((c = 0; c < $1; c++)); do
			printf '[collector %s]\nticket = t%s.ini\n' $c $c
		done
	}
	generations() {
		printf '[generation 1]\ncollectors = 0-1\n'
		printf '[generation 2]\ncollectors = 2 0 1\nepoch = 2\n'
		printf '[generation 3]\ncollectors = 1 2\nepoch = 3\n'
	}
	for dart in "" --dart; do
		for c in 0 1 2; do
			dta-collect --region "$NAME-$(cut -c $((c + 1)) <<<xyz)" \
				--mac 02:00:00:00:01:0$c --ip 10.0.0.5$c \
				--ticket t$c.ini
		done
		for how in regions tickets; do
			local out=()

			[ $how = regions ] || out=(-w roce$dart.pcap)
			if [ $how = regions ]; then
				make_cluster a b c </dev/null
			else
				by_tickets 3 >cluster.ini
			fi
			cp cluster.ini all.ini
			rm -f pipe
			generations | head -2 >>cluster.ini
			# shellcheck disable=SC2086
			stream_start "${out[@]}" $dart
			feed part1.pcap 6000
			for n in 2 3; do
				{
					cat all.ini
					generations | head -$((3 * n - 1))
				} >cluster.ini
				reread "generation $n: $((5 - n)) collectors"
				feed part2.pcap 6000
			done
			stream_end
		done
		for c in 0 1 2; do
			dta-collect -o ndjson -r roce$dart.pcap \
				--region "$NAME-$(cut -c $((c + 1)) <<<xyz)" \
				--mac 02:00:00:00:01:0$c --ip 10.0.0.5$c \
				2>ledger
			jq -se 'all(.value == 0 or .role != "loss")' ledger
		done
		for pair in ax by cz; do
			diff <(dta-dump digest "$NAME-${pair:0:1}" -o csv) \
				<(dta-dump digest "$NAME-${pair:1:1}" -o csv)
		done
	done
}

@test "SIGHUP: what does not fit leaves the old cluster in force" {
	make_layout
	for r in a b c; do
		dta-collect --create --layout layout.ini --epochs 2 \
			--region "$NAME-$r"
	done
	sed 's/slots = 64Ki/slots = 32Ki/' layout.ini >other.ini
	dta-collect --create --layout other.ini --region "$NAME-o"
	for n in 1 2 3 4 5 6 7; do
		dta-gen uniform --count 100 --seed ${n}000 -q --truth $n.csv \
			-w $n.pcap
	done
	make_cluster a b </dev/null
	cp cluster.ini good.ini
	stream_start
	feed 1.pcap 100
	# Not a cluster file; half of one; none.
	echo nonsense >cluster.ini
	reread "cluster.ini:1: "
	feed 2.pcap 100
	rm cluster.ini
	reread "cluster.ini: No such file"
	feed 3.pcap 100
	generations() {
		printf '[generation 1]\ncollectors = 0 1\n'
		printf '[generation 2]\ncollectors = 0-2\nepoch = 2\n'
	}
	# One that is not there, or has other tables.
	make_cluster a b gone </dev/null
	generations >>cluster.ini
	reread "collector 2: "
	feed 4.pcap 100
	make_cluster a b o </dev/null
	generations >>cluster.ini
	reread "collector 2: table flows: not what the first"
	feed 5.pcap 100
	make_cluster a b <<<"steer = address"
	reread "no such field: 'steer'"
	feed 6.pcap 100
	# A newcomer that found itself among such is not held on to: it may be
	# made again.
	make_cluster a b c o </dev/null
	generations | sed 's/0-2/0-3/' >>cluster.ini
	reread "collector 3: table flows: not what"
	dta-collect --remove --region "$NAME-c"
	dta-collect --create --layout layout.ini --epochs 2 --region "$NAME-c"
	# This one fits.
	for r in a b; do
		dta-collect --rotate --region "$NAME-$r"
	done
	make_cluster a b c </dev/null
	generations >>cluster.ini
	reread "generation 2: 3 collectors"
	feed 7.pcap 100
	cp cluster.ini new.ini
	stream_end
	for n in 1 2 3 4 5 6 7; do
		right=$(dta-query verify --cluster good.ini --truth $n.csv \
			-o ndjson | jq .right)
		[ "$right" -eq 100 ] || [ "$n" = 7 ]
	done
	[ "$right" -lt 70 ]
	dta-query verify --cluster new.ini --truth 7.csv -o ndjson |
		jq -e '.right == 100'
	[ "$(jq -r 'select(.counter == "stored").value' \
		<(grep '^{' translate.log) | tail -1)" -eq 700 ]
}

@test "stopped while another machine is silent: no word of a lost collector" {
	make_layout
	make_regions layout.ini a
	make_cluster a </dev/null
	dta-collect --region "$NAME-a" --ticket a.ini
	sed -i 's/^region = .*/&\nhost = alpha\nticket = a.ini/' cluster.ini
	printf '#!/bin/sh\necho $$ >asked\nexec sleep 1000\n' >ssh
	chmod +x ssh
	printf "10.0.0.1:%s>10.0.0.2:80/tcp\n" 1 2 3 >keys
	for sig in TERM INT; do
		for verb in keywrite "list -t 2"; do
			rm -f asked
			[[ $verb == list* ]] || verb+=" -k keys"
			# shellcheck disable=SC2086
			bash -c 'trap - INT; exec "$@"' bash dta-query $verb \
				--cluster cluster.ini -q -o csv \
				>out 2>err 3>&- &
			pid=$!
			wait_for test -s asked
			while kill -$sig $pid 2>/dev/null; do sleep 0.05; done
			wait $pid || :
			[ ! -s err ] || { cat err && false; }
			# of the keys nothing is known
			[ "$(wc -l <out)" -le 1 ] || { cat out && false; }
			# nor is it left behind
			run -1 kill -0 "$(<asked)"
		done
	done
}

@test "a collector on another machine: one ssh, rows in their order" {
	make_layout
	make_regions layout.ini a b c
	make_reports 2000
	make_cluster a b c </dev/null
	make_ssh
	dta-translate -q -r reports.pcap --cluster cluster.ini
	dta-collect --region "$NAME-b" --ticket b.ini
	sed "s/^region = $NAME-b/&\nhost = beta\nticket = b.ini/" cluster.ini \
		>far.ini
	for table in 1,keywrite 3,keyinc 4,postcard; do
		case $table in
		*write) verb=keywrite ;;
		*inc) verb=count ;;
		*) verb=path ;;
		esac
		sed -n "s/^$table,\\([^,]*\\),.*/\\1/p" truth.csv |
			awk '!seen[$0]++' | head -700 >keys
		: >hosts
		for o in text csv ndjson; do
			dta-query $verb --cluster cluster.ini -k keys -o $o \
				>near.out
			dta-query $verb --cluster far.ini \
				-k keys -o $o >far.out
			diff near.out far.out
		done
		[ "$(xargs <hosts)" = "beta yes beta yes beta yes" ]
	done
	grep '^table\|^1,' truth.csv >kw.csv
	diff <(dta-query verify --cluster cluster.ini --truth kw.csv) \
		<(dta-query verify --cluster far.ini --truth kw.csv)
	{
		head -1 truth.csv
		grep '^3,' truth.csv | head -300
	} >inc.csv
	diff <(dta-query verify --cluster cluster.ini --truth inc.csv) \
		<(dta-query verify --cluster far.ini --truth inc.csv)
	# Lists: all with one run, or a run for each that is named.
	for o in "" "5 2 9" "0 1 2 3 4 5 0 1 2 3 4 5" "--last 3"; do
		: >hosts
		# shellcheck disable=SC2086
		dta-query list --cluster cluster.ini -q -o csv $o >near.out
		# shellcheck disable=SC2086
		dta-query list --cluster far.ini -q -o csv $o \
			>far.out
		diff near.out far.out
		[ "$(wc -l <near.out)" -gt 3 ]
		[[ $o == *[0-9]" "* || $(wc -l <hosts) -eq 1 ]]
	done
	# Nobody has it: that is not a failure to ask.
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "1.2.3.$i:5>6.7.8.9:1/tcp"
	done >keys
	run -3 dta-query keywrite --cluster far.ini -k keys
	# Verify of lists: what is there, and what never came.
	grep '^table\|^2,' truth.csv >lists.csv
	grep '^2,append,' lists.csv | tail -n 40 |
		sed 's/\([0-9a-f]*\)$/00000000/' >>lists.csv
	: >hosts
	dta-query verify --cluster cluster.ini --truth lists.csv \
		-o csv >near.out || [ $? -eq 1 ]
	dta-query verify --cluster far.ini \
		--truth lists.csv -o csv >far.out || [ $? -eq 1 ]
	diff near.out far.out
	[ "$(wc -l <hosts)" -eq 1 ]
}

@test "list -f, and snapshots, are not for clusters" {
	make_layout
	make_regions layout.ini a
	make_cluster a </dev/null
	run -2 --separate-stderr dta-query list -f --cluster cluster.ini
	[[ $stderr == *"--follow needs a region, alone"* ]]
	run -2 --separate-stderr dta-query list --cluster cluster.ini \
		--snapshot x
	[[ $stderr == *"dta-collect --restore"* ]]
}

@test "another machine that cannot be reached: its mirror answers" {
	make_layout
	make_regions layout.ini a b
	make_reports 1000
	make_cluster a b <<<"mirror = yes"
	make_ssh
	dta-translate -q -r reports.pcap --cluster cluster.ini
	dta-collect --region "$NAME-b" --ticket b.ini
	sed -i "s/^region = $NAME-b/&\nhost = nowhere\nticket = b.ini/" \
		cluster.ini
	sed -n 's/^1,keywrite,\([^,]*\),.*/\1/p' truth.csv >keys
	run -0 --separate-stderr dta-query keywrite --cluster cluster.ini \
		-k keys -o ndjson
	[[ $stderr == *"collector 1: nowhere: cannot be asked"*255* ]]
	[[ $stderr == *"asking its mirror, collector 0"* ]]
	[ "$(jq -s 'map(select(.answer == "found")) | length' <<<"$output")" \
		-gt 990 ]
	[ "$(wc -l <hosts)" -eq 1 ]
	dta-query list --cluster cluster.ini -q -o csv >rows
	[ "$(wc -l <rows)" -eq 1001 ]
	dta-query count --cluster cluster.ini -k <(
		sed -n 's/^3,keyinc,\([^,]*\),.*/\1/p' truth.csv) --summary
	# What comes back is no answer: it is not taken for one.
	printf '#!/bin/sh\necho key,answer\nwhile read k; do echo "$k,yes"; done\n' \
		>ssh
	run -0 --separate-stderr dta-query keywrite --cluster cluster.ini \
		-k keys -o ndjson
	[[ $stderr == *"an answer that is none"* ]]
}

@test "another machine: no ticket, the shell, its rotations, its end" {
	make_layout
	dta-collect --create --layout layout.ini --epochs 3 --region "$NAME-a"
	make_cluster a </dev/null
	make_ssh
	make_reports 500
	dta-translate -q -r reports.pcap --cluster cluster.ini
	sed -i 's/^region = .*/&\nhost = alpha/' cluster.ini
	sed -n 's/^1,keywrite,\([^,]*\),.*/\1/p' truth.csv >keys
	key=$(head -n 1 keys)
	near=$(dta-query keywrite --region "$NAME-a" "$key" -o ndjson | jq -c 'del(.source)')
	far=$(dta-query keywrite --cluster cluster.ini "$key" -o ndjson | jq -c 'del(.source)')
	[ "$near" = "$far" ]
	# Each command of the shell by itself, and after one that was misused.
	printf '%s\n' tables "keywrite $key -o csv" "list --last x" "count --summary -o csv $key" \
		"keywrite $key -o csv" |
		dta-query -i --cluster cluster.ini >out 2>err
	[ "$(grep -c "^$key,found" out)" -eq 2 ]
	grep -q '^1,[01],[01],0,0,0$' out
	# One that asks for long sees new epochs, and those that are gone.
	mkfifo in
	dta-query keywrite --cluster cluster.ini -k - -o csv \
		<in >out 2>err 3>&- &
	BG_PIDS+=($!)
	exec 9>in
	answered() { [ "$(wc -l <out)" -eq "$1" ]; }
	echo "$key" >&9
	wait_for answered 2
	[[ $(tail -n 1 out) == "$key,found,"* ]]
	dta-collect --rotate --region "$NAME-a"
	dta-gen uniform --kind keywrite --table 1 --count 500 --seed 1 -q -w - |
		dta-translate -q -r - --region "$NAME-a"
	echo "$key" >&9
	wait_for answered 3
	[[ $(tail -n 1 out) == "$key,found,"*,2,0,flows ]]
	for i in 3 4 5; do dta-collect --rotate --region "$NAME-a"; done
	echo "$key" >&9
	wait_for answered 4
	[[ $(tail -n 1 out) == "$key,not_found,"* ]]
	# The other end goes: what is asked then has no answer.
	pid=$(pgrep -P "$(pgrep -P "${BG_PIDS[-1]}" | head -n 1)" dta-dump || pgrep -P "${BG_PIDS[-1]}" dta-dump)
	kill -9 "$pid"
	echo "$key" >&9
	exec 9>&-
	rc=0
	wait "${BG_PIDS[-1]}" || rc=$?
	[ $rc -eq 1 ]
	[[ $(tail -n 1 out) == "$key,unreadable,"* ]]
	grep "collector 0: alpha: cannot be asked (ssh ended with status 137)" err
}

@test "another machine that answers otherwise: what is wrong there" {
	make_layout
	make_regions layout.ini a
	make_cluster a </dev/null
	sed -i 's/^region = .*/&\nhost = alpha/' cluster.ini
	answer() { # what ssh does | message
		printf '#!/bin/sh\n%s\n' "$1" >ssh
		chmod +x ssh
		run -1 --separate-stderr dta-query list --cluster cluster.ini
		echo "$stderr"
		[[ $stderr == *"collector 0: alpha: $2"*"no collector can be asked"* ]]
		[ -z "$output" ]
	}
	answer 'exit 127' "cannot be asked (ssh ended with status 127)"
	answer 'echo Welcome' "an answer that is none; a shell there"
	answer "printf 'DTAm\\0\\7\\0\\0\\0\\0\\0\\0\\0\\0\\0\\1'" \
		"its dta-dump serve is of version 7, this program knows version 2: install"
	answer "printf 'DTAm\\0\\2\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0'; cat /dev/zero" \
		"an answer that is none"
	answer "head -c 4 | dta-dump serve $NAME-a" \
		"cannot be asked (ssh ended with status 1)"
	rm ssh
	run -1 --separate-stderr env PATH="$(dirname "$(command -v dta-query)")" \
		dta-query list --cluster cluster.ini
	[[ $stderr == *"collector 0: ssh: No such file"* ]]
}

@test "collectors that do not fit together are refused" {
	make_layout
	make_regions layout.ini a b
	sed 's/slots = 64Ki/slots = 32Ki/' layout.ini >other.ini
	dta-collect --create --layout other.ini --region "$NAME-o"
	sed '/paths/,$d' layout.ini >fewer.ini
	dta-collect --create --layout fewer.ini --region "$NAME-f"
	dta-gen uniform --count 10 -q -w kw.pcap
	refused() { # message option...
		run -1 --separate-stderr dta-translate -q -r kw.pcap \
			--cluster cluster.ini "${@:2}"
		echo "$stderr"
		[[ $stderr == *"$1"* ]]
	}
	make_cluster a o </dev/null
	refused "collector 1: table flows: not what the first"
	make_cluster a f </dev/null
	refused "collector 1: 3 tables, where the first collector has 4"
	make_cluster a gone </dev/null
	refused "collector 1: "
	refused "no such region"
	# Tickets: geometry, version, address family.
	dta-collect --region "$NAME-a" --ticket a.ini
	dta-collect --region "$NAME-o" --ticket o.ini
	dta-collect --region "$NAME-b" --ip 2001:db8::2 \
		--peer-ip 2001:db8::1 --ticket six.ini
	sed 's/^version = 1/version = 2/' a.ini >two.ini
	sed 's/^value = 4/value = 8/' a.ini >bad.ini
	tickets() {
		printf '[cluster]\nversion = 1\n'
		printf '[collector 0]\nticket = a.ini\n'
		printf '[collector 1]\nticket = %s\n' "$1"
	}
	tickets o.ini >cluster.ini
	refused "flows: not what the first collector has" -w x.pcap
	refused "where do RoCEv2 packets go?"
	tickets two.ini >cluster.ini
	refused "two.ini:3: a ticket of another version: '2'" -w x.pcap
	tickets bad.ini >cluster.ini
	refused "collector 1: bad.ini" -w x.pcap
	tickets six.ini >cluster.ini
	dta-translate -q -r kw.pcap --cluster cluster.ini -w x.pcap --dart
	tickets none.ini >cluster.ini
	refused "none.ini: No such file" -w x.pcap
	echo '[collector 1]' >>cluster.ini
	echo 'colour = red' >>cluster.ini
	refused "cluster.ini:8: "
	run -1 --separate-stderr dta-query keywrite --cluster cluster.ini x
	[[ $stderr == *"cluster.ini:8: "* ]]
}
