# SPDX-License-Identifier: BSD-2-Clause
# Several collectors: written by hash, by address, with mirrors; asked where the
# generations say; on other machines through a command in ssh's place.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=test-cluster-$$-$BATS_TEST_NUMBER
	EXPECT=$TOP/tests/tools/expect.py
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
		slots = 64K
		copies = 2
		[events]
		id = 2
		kind = append
		value = 4
		lists = 16
		entries = 4K
		batch = 4
		flush = 100ms
		[sums]
		id = 3
		kind = keyinc
		key = flow4
		slots = 64K
		copies = 2
		[paths]
		id = 4
		kind = postcard
		key = flow4
		hops = 5
		values = 0-65535
		chunks = 64K
		copies = 1
		cache = 8K
	INI
}

make_regions() { # name...
	local r

	for r in "$@"; do
		dta-collect --create --layout layout.ini --region "$NAME-$r"
	done
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
	make_regions a b c
	make_reports 4000
	make_cluster a b c </dev/null
	dta-translate -r reports.pcap --cluster cluster.ini -o ndjson \
		2>ledger.ndjson
	[ "$(jq -r 'select(.counter == "stored").value' ledger.ndjson)" \
		-eq 16000 ]
	dta-query verify --cluster cluster.ini --truth truth.csv --by-table \
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
	printf 'keywrite %s\nepochs\n' "$(head -1 keys)" |
		dta-query -i --cluster cluster.ini | grep found
}

@test "by tickets: the same memory as in the regions, DART too" {
	make_layout
	make_regions a b c x y z
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
	make_regions a b c
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
	[ "$(jq .wrong <<<"$output")" -eq 0 ]
	[ "$(jq .right <<<"$output")" -gt 5800 ]
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

@test "a fourth collector: past epochs are found where they were stored" {
	make_layout
	sed -i 's/slots = 64K/slots = 256K/; s/chunks = 64K/chunks = 256K/' \
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
	dta-query verify --cluster cluster.ini --truth old.csv --by-table \
		-o ndjson | jq -se 'any(.table == "sums" and .right > 1990)'
	# By the newest generation alone, most of the old ones are not there.
	sed -i '/generation 1/,/0-2/d; /^epoch/d' cluster.ini
	dta-query verify --cluster cluster.ini --truth old.csv -o ndjson \
		>verify.ndjson
	[ "$(verdict missing)" -gt 2000 ]
}

@test "by address: reports go where they are sent, queries look everywhere" {
	make_layout
	make_regions a b
	cat >cluster.ini <<-INI
		[cluster]
		version = 1
		steer = address
		[collector 4]
		region = $NAME-a
		address = 10.0.0.4
		[collector 5]
		region = $NAME-b
		address = 10.0.0.5
	INI
	for n in 4 5 6; do
		dta-gen uniform --count 1000 --seed ${n}00000 --collector 10.0.0.$n \
			-q --truth t$n.csv -w $n.pcap
	done
	cat 4.pcap <(tail -c +25 5.pcap) <(tail -c +25 6.pcap) >all.pcap
	dta-translate -r all.pcap --cluster cluster.ini -o ndjson 2>ledger
	[ "$(jq 'select(.counter == "bad_address").value' ledger)" -eq 1000 ]
	"$EXPECT" "$NAME-a" 4.pcap
	"$EXPECT" "$NAME-b" 5.pcap
	for n in 4 5; do
		dta-query verify --cluster cluster.ini --truth t$n.csv \
			-o ndjson >verify.ndjson
		[ "$(verdict right)" -gt 990 ]
	done
	run -3 dta-query verify --cluster cluster.ini --truth t6.csv
	run -1 --separate-stderr dta-translate -q -r all.pcap \
		--cluster cluster.ini --mirror
	[[ $stderr == *"mirror: only with --steer hash"* ]]
	dta-translate -q -r all.pcap --cluster cluster.ini --steer hash
}

@test "a collector on another machine: one ssh, rows in their order" {
	make_layout
	make_regions a b c
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
			dta-query $verb --cluster far.ini --ssh ./ssh \
				-k keys -o $o >far.out
			diff near.out far.out
		done
		[ "$(xargs <hosts)" = "beta yes beta yes beta yes" ]
	done
	grep '^table\|^1,' truth.csv >kw.csv
	diff <(dta-query verify --cluster cluster.ini --truth kw.csv) \
		<(dta-query verify --cluster far.ini --ssh ./ssh --truth kw.csv)
	{
		head -1 truth.csv
		grep '^3,' truth.csv | head -300
	} >inc.csv
	diff <(dta-query verify --cluster cluster.ini --truth inc.csv) \
		<(dta-query verify --cluster far.ini --ssh ./ssh --truth inc.csv)
	# Lists: all with one run, or a run for each that is named.
	for o in "" --count-only "5 2 9" "0 1 2 3 4 5 0 1 2 3 4 5" "--count-only 1 2 3" "--last 3" \
		"--from 60 4 11"; do
		: >hosts
		# shellcheck disable=SC2086
		dta-query list --cluster cluster.ini -q -o csv $o >near.out
		# shellcheck disable=SC2086
		dta-query list --cluster far.ini --ssh ./ssh -q -o csv $o \
			>far.out
		diff near.out far.out
		[ "$(wc -l <near.out)" -gt 3 ]
		[[ $o == *[0-9]" "* || $(wc -l <hosts) -eq 1 ]]
	done
	# Nobody has it: that is not a failure to ask.
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "1.2.3.$i:5>6.7.8.9:1/tcp"
	done >keys
	run -3 dta-query keywrite --cluster far.ini --ssh ./ssh -k keys
	run -1 --separate-stderr dta-query verify --cluster far.ini \
		--ssh ./ssh --truth truth.csv
	[[ $stderr == *"verify of lists: collector 1 is on another machine"* ]]
}

@test "another machine that cannot be reached: its mirror answers" {
	make_layout
	make_regions a b
	make_reports 1000
	make_cluster a b <<<"mirror = yes"
	make_ssh
	dta-translate -q -r reports.pcap --cluster cluster.ini
	dta-collect --region "$NAME-b" --ticket b.ini
	sed -i "s/^region = $NAME-b/&\nhost = nowhere\nticket = b.ini/" \
		cluster.ini
	sed -n 's/^1,keywrite,\([^,]*\),.*/\1/p' truth.csv >keys
	run -0 --separate-stderr dta-query keywrite --cluster cluster.ini \
		--ssh ./ssh -k keys -o ndjson
	[[ $stderr == *"collector 1: nowhere: cannot be asked"*255* ]]
	[[ $stderr == *"asking its mirror, collector 0"* ]]
	[ "$(jq -s 'map(select(.answer == "found")) | length' <<<"$output")" \
		-gt 990 ]
	[ "$(wc -l <hosts)" -eq 1 ]
	dta-query list --cluster cluster.ini --ssh ./ssh -q -o csv >rows
	[ "$(wc -l <rows)" -eq 1001 ]
	dta-query count --cluster cluster.ini --ssh ./ssh -k <(
		sed -n 's/^3,keyinc,\([^,]*\),.*/\1/p' truth.csv) --summary
	# What comes back is no answer: it is not taken for one.
	printf '#!/bin/sh\necho key,answer\nwhile read k; do echo "$k,yes"; done\n' \
		>ssh
	run -0 --separate-stderr dta-query keywrite --cluster cluster.ini \
		--ssh ./ssh -k keys -o ndjson
	[[ $stderr == *"an answer that is none"* ]]
}

@test "collectors that do not fit together are refused" {
	make_layout
	make_regions a b
	sed 's/slots = 64K/slots = 32K/' layout.ini >other.ini
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
	refused "collector 1: table flows: size: not what the first"
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
	refused "size: not what the first collector has" -w x.pcap
	refused "where do RoCEv2 packets go?"
	tickets two.ini >cluster.ini
	refused "two.ini:3: a ticket of another version: '2'" -w x.pcap
	tickets bad.ini >cluster.ini
	refused "collector 1: bad.ini" -w x.pcap
	tickets six.ini >cluster.ini
	refused "hold an IPv4 one" -w x.pcap --dart
	dta-translate -q -r kw.pcap --cluster cluster.ini -w x.pcap
	tickets none.ini >cluster.ini
	refused "none.ini: No such file" -w x.pcap
	echo '[collector 1]' >>cluster.ini
	echo 'colour = red' >>cluster.ini
	refused "cluster.ini:8: "
	run -1 --separate-stderr dta-query keywrite --cluster cluster.ini x
	[[ $stderr == *"cluster.ini:8: "* ]]
}
