# SPDX-License-Identifier: BSD-2-Clause
# dta-top: what running programs count, as they count it themselves; who is
# there and who is not; what it makes of pages that are none; its screen; and
# what Prometheus gets.

load ../helpers
load ../databases
load ../terminal
load ../top

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-top-$BATS_TEST_NUMBER
	export DTA_LEDGERS=$PWD/pages
	mkdir pages
	printf '[flows]\nkind = keywrite\nkey = flow4\nvalue = 4\nslots = 64Ki\n' >l.ini
	dta-gen uniform -c 20000 -q -w r.pcap
}

teardown() {
	end_bg
	remove_regions "$NAME"
	rm -rf "/dev/shm/$NAME"*
}

@test "a translator and a collector: each counter as in their own ledgers" {
	dta-collect --create --layout l.ini --region "$NAME"
	dta-collect --region "$NAME" --ticket t.ini
	mkfifo pipe roce
	begin c.log dta-collect -o ndjson -r roce -R "$NAME"
	begin t.log dta-translate -o ndjson -r pipe --ticket t.ini -w roce
	exec 5<>pipe
	timeout 60 cat r.pcap >&5
	# All of it has passed, and the input is open still: they wait.
	wait_for sees counters 'any(.counter == "stored" and .value == 20000) and
		any(.counter == "executed" and .value == 40000)'
	top -t counters >seen
	top -t programs >programs
	exec 5>&-
	for pid in "${BG_PIDS[@]}"; do
		wait "$pid"
	done
	for p in translate collect; do
		jq -r "select(.program == \"dta-$p\") |
			[.stage, .counter, .role, .value] | join(\" \")" seen |
			sort >got
		ledger ${p:0:1}.log | sort >want
		[ "$(wc -l <want)" -gt 15 ]
		diff want got
	done
	jq -se --arg n "$NAME" 'length == 2 and
		(map(select(.program == "dta-translate"))[0] |
			.received == 20000 and .done == 20000 and .lost == 0 and
			.silent == 0 and .input == "pipe" and .output == "t.ini" and
			.region == $n and (.since | tonumber) > 0) and
		(map(select(.program == "dta-collect"))[0] |
			.received == 40000 and .region == $n and .input == "roce" and
			.reason == null)' programs
	# They have taken their pages with them.
	[ -z "$(ls -A pages)" ]
	run -3 --separate-stderr top
	[[ -z $output && $stderr == "dta-top: $DTA_LEDGERS: no program shows its page" ]]
}

@test "with more cores a page is whole, too, and nobody waits for it" {
	dta-collect --create --layout l.ini --region "$NAME"
	mkfifo pipe
	begin t.log dta-translate -j 2 -o ndjson -r pipe -R "$NAME"
	exec 5<>pipe
	timeout 60 cat r.pcap >&5
	wait_for sees counters 'any(.counter == "stored" and .value == 20000)'
	top -t counters >seen
	exec 5>&-
	wait "${BG_PIDS[-1]}"
	jq -r '[.stage, .counter, .role, .value] | join(" ")' seen | sort >got
	ledger t.log | grep -E '^(translate|arrival) ' | sort >want
	diff want got
}

@test "rates are what came between two looks; losses and their reasons" {
	fake dta-fake fabric s:got:in:1 s:kept:done:2 s:bad:loss:1000 s:worse:loss:500 \
		s:never:loss:0 s:other:harmless:1 t:asked:in:3 t:sent:done:6
	wait_for sees programs 'length == 1'
	top >rows
	near() { jq -se ".[0] | $1 - $2 | . > -10 and . < 10" rows; }
	near .received_s 1000000000
	near .done_s 500000000
	near .lost_s 3000000 # what only passes by is not among them
	jq -se '.[0] | .reason == "worse" and .program == "dta-fake" and
		.region == "fabric" and .version == "9.9" and .user != null' rows
	top -t losses | jq -se 'map(.counter) == ["worse", "bad"]'
	top -t counters --sort counter |
		jq -se 'map(.counter)[-2:] == ["bad", "asked"]'
	run -0 top -t counters
	[ "${#lines[@]}" = 8 ]
	# Text has times as people read them, the others as numbers.
	run -0 dta-top --once --every 300ms
	[[ $output =~ \ 20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{9}Z\  ]]
	run -1 grep -E 'T[0-9:]{8}' <(dta-top --once --every 300ms --time unix)
	run -1 grep -E 'T[0-9:]{8}' <(dta-top --once --every 300ms -o csv)
	run -2 top --sort nonsense
	[[ $output == *nonsense*received_s* ]]
}

@test "what the kernel dropped, and is missing, is lost once" {
	fake dta-fake fabric s:got:in:1 interface:kernel_drops:loss:1000 \
		arrival:missing:loss*:2000 arrival:reports_lost:loss:4000 \
		other:bad:loss:1000000
	wait_for sees programs 'length == 1'
	# 750000 are missing of 1000000 that were dropped
	top | jq -se '.[0].lost_s - 1001000 | . > -10 and . < 10'
	top -t losses | jq -se 'map(.counter) | length == 4'
	kill "${BG_PIDS[-1]}"
	fake dta-more fabric s:got:in:1 interface:kernel_drops:loss:4000 \
		arrival:missing:loss*:1000
	wait_for sees programs 'any(.program == "dta-more")'
	top | jq -se 'map(select(.program == "dta-more"))[0].lost_s - 1000000 |
		. > -10 and . < 10'
}

@test "two writers of one region, and others; who is killed leaves its last counters" {
	dta-collect --create --layout l.ini --region "$NAME-a"
	dta-collect --create --layout l.ini --region "$NAME-b"
	mkfifo one two
	begin log dta-translate -q -r one -R "$NAME-a"
	one=$!
	begin log dta-translate -q -r two -R "/$NAME-a"
	two=$!
	exec 5<>one 6<>two
	timeout 60 cat r.pcap >&5
	timeout 60 cat r.pcap >&6
	fake dta-fake "$NAME-b" s:got:in:1
	wait_for sees programs 'length == 3'
	# By its page's name for it, or by the seat it has there.
	for r in "$NAME-a" "/$NAME-a" "/dev/shm/$NAME-a"; do
		top -R "$r" | jq -se "map(.pid) | sort == ([$one, $two] | sort)"
	done
	top -R "$NAME-b" | jq -se 'length == 1 and .[0].program == "dta-fake"'
	wait_for sees programs 'map(select(.program == "dta-translate")) |
		length == 2 and all(.received == 20000)'
	top -t regions -R "$NAME-a" | jq -se 'length == 1 and .[0].writers == 2 and
		.[0].epoch == 1 and .[0].tables == 1 and .[0].age >= 0'
	# The fill is about what dta-dump counts.
	top -t regions -R "$NAME-a" | jq .fill >about
	dta-dump regions -o ndjson | jq "select(.name == \"$NAME-a\") | .fill" >exact
	paste about exact | awk '{ d = $1 - $2; exit !($1 > 0.3 && d < 0.02 && d > -0.02) }'
	kill -KILL "$one"
	wait "$one" || :
	top -R "$NAME-a" | jq -se "map({key: \"\(.pid)\", value: .}) | from_entries |
		length == 2 and .[\"$two\"].dead == null and (.[\"$one\"] |
		.dead < 60 and .received == 20000 and .silent == null and
		.received_s == null)"
	run -1 dta-top --check --every 300ms -R "$NAME-a"
	[[ $output =~ ^"dta-translate $one $NAME-a: ended "[0-9]+" s ago, killed"$ ]]
	# until another one does the same
	begin log dta-translate -q -r one -R "$NAME-a"
	again=$!
	timeout 60 cat r.pcap >&5
	wait_for sees programs "map(select(.pid == $again)) | length == 1"
	run -0 dta-top --check --every 300ms -R "$NAME-a"
	[ -z "$output" ]
	exec 5>&- 6>&-
	wait "$two" "$again"
	dta-top --check --every 300ms -R "$NAME-a" -o ndjson >rows && return 1
	jq -se 'length == 1 and .[0].counter == "dead" and .[0].value < 60' rows
	# for ten minutes since it was written, at offset 1032
	python3 - pages/dta-ledger-"$one"-* <<-'E'
		import struct, sys
		f = open(sys.argv[1], "r+b")
		f.seek(1032)
		at = struct.unpack("=Q", f.read(8))[0]
		f.seek(1032)
		f.write(struct.pack("=Q", at - 600 * 10**9))
	E
	run -3 --separate-stderr top -R "$NAME-a"
	[ -z "$(ls pages | grep -- "-$one-")" ]
	[[ $stderr == "dta-top: $NAME-a: nobody who shows a page writes it" ]]
}

@test "--check: an older program, or one of another output, replaces no dead one" {
	local dead

	fake dta-fake "$NAME" s:got:in:1
	wait_for sees programs 'length == 1'
	fake dta-fake "$NAME" s:got:in:1
	dead=${BG_PIDS[-1]}
	wait_for sees programs 'length == 2'
	kill -KILL "$dead"
	wait "$dead" || :
	OUTPUT=else fake dta-fake "$NAME" s:got:in:1
	wait_for sees programs 'map(select(.dead == null)) | length == 2'
	run -1 dta-top --check --every 300ms
	[[ $output =~ ^"dta-fake $dead $NAME: ended "[0-9]+" s ago, killed"$ ]]
	fake dta-fake "$NAME" s:got:in:1
	wait_for sees programs 'map(select(.dead == null)) | length == 3'
	run -0 dta-top --check --every 300ms
}

@test "how a program ended: by its signal, or killed; and what waited then" {
	local signal pid how status signals="ABRT FPE QUIT PIPE KILL"

	# AddressSanitizer has SIGFPE for itself.
	[[ $BUILD != *san ]] || signals=${signals/FPE /}
	dta-collect --create --layout l.ini --region "$NAME"
	mkfifo pipe
	exec 5<>pipe
	for signal in $signals; do
		# a job of a script ignores SIGQUIT
		python3 -c 'import os, signal, sys
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' dta-translate -q -r pipe -R "$NAME" \
			2>log 3>&- 5>&- &
		pid=$!
		timeout 60 cat r.pcap >&5
		wait_for sees programs "any(.pid == $pid and .received == 20000)"
		kill "-$signal" "$pid"
		wait "$pid" || status=$?
		[ "$status" = $((128 + $(kill -l "$signal"))) ]
		run -1 dta-top --check --every 300ms -R "$NAME"
		how=" by SIG$signal"
		[ "$signal" != KILL ] || how=", killed"
		[[ $output =~ ^"dta-translate $pid $NAME: ended "[0-9]+" s ago$how"$ ]]
		top | jq -se ".[0].ended_by == \"${how##* }\""
		rm pages/*
	done
	fake dta-fake "$NAME" s:requests:in:1000000 s:acked:done:0
	wait_for sees programs 'any(.waiting > 99)'
	kill -KILL "${BG_PIDS[-1]}"
	wait "${BG_PIDS[-1]}" || :
	run -1 dta-top --check --every 300ms -R "$NAME"
	[[ $output =~ ": ended "[0-9]+" s ago, killed, "[0-9]{3,}" things waited"$ ]]
}

@test "the fill of a small table is what dta-dump counts; lists have none" {
	sed -i 's/64K/8K/' l.ini
	dta-collect --create --layout l.ini --region "$NAME-small"
	dta-translate -q -r r.pcap -R "$NAME-small"
	dta-collect --create --layout "$EXAMPLES/netseer-loss.ini" --region "$NAME-list"
	dta-gen netseer-loss -c 3000 -q -w l.pcap
	dta-translate -q -r l.pcap -R "$NAME-list"
	dta-dump regions -o ndjson >all
	fill_of() {
		dta-top --once --every 1ms -t regions -R "$NAME-$1" -o ndjson | jq .fill
	}
	want=$(jq "select(.name == \"$NAME-small\") | .fill" all)
	[ "$(jq -n "$want > 0")" = true ]
	[ "$(fill_of small)" = "$want" ]
	# A ring is full after a lap, which is no reason for an alert.
	[ "$(fill_of list)" = null ]
	[ "$(jq "select(.name == \"$NAME-list\") | .fill" all)" = null ]
}

@test "the cluster's regions are known by who writes them" {
	for r in a b; do
		dta-collect --create --layout l.ini --region "$NAME-$r"
	done
	printf '[cluster]\nversion = 1\n' >c.ini
	printf '[collector %s]\nregion = %s\n' 0 "$NAME-a" 1 "$NAME-b" >>c.ini
	mkfifo pipe
	begin cluster.log dta-translate -q -r pipe --cluster c.ini
	exec 5<>pipe
	timeout 60 cat r.pcap >&5
	wait_for sees programs 'length == 1 and .[0].output == "c.ini"'
	for r in a b; do
		top -R "$NAME-$r" | jq -se 'length == 1'
	done
	exec 5>&-
}

@test "a program that stands still: silent, and no rates" {
	dta-collect --create --layout l.ini --region "$NAME"
	mkfifo pipe
	begin log dta-translate -q -r pipe -R "$NAME"
	pid=$!
	exec 5<>pipe
	timeout 60 cat r.pcap >&5
	wait_for sees programs '.[0].received_s == 0 and .[0].silent == 0'
	kill -STOP "$pid"
	wait_for sees programs '.[0].silent >= 2 and .[0].received_s == null'
	kill -CONT "$pid"
	wait_for sees programs '.[0].silent == 0 and .[0].received_s == 0'
	exec 5>&-
	wait "$pid"
}

@test "--check: what is lost now, who is silent or absent; else nothing" {
	check() { dta-top --check --every 300ms "$@"; }
	# Other tests damage regions, too.
	healthy() {
		run --separate-stderr check
		[[ -z $(grep -v damaged <<<"$output") && -z $stderr ]]
	}
	healthy
	dta-collect --create --layout l.ini --region "$NAME"
	truncate -s 4096 "/dev/shm/$NAME"
	run -1 check
	[[ $output =~ [0-9]+" region"(" is"|"s are")" damaged; /" ]]
	check -o ndjson >rows || true
	jq -se 'length == 1 and .[0].counter == "damaged" and .[0].value > 0' rows
	remove_regions "$NAME"
	dta-collect --create --layout l.ini --region "$NAME"
	run -1 check -R "$NAME"
	[ "$output" = "$NAME: no program writes it" ]
	run -1 --separate-stderr check -R "$NAME-unknown"
	[[ -z $output && $stderr == *"$NAME-unknown"* ]]
	fake dta-fake fabric s:got:in:1 s:kept:done:2 s:never:loss:0
	pid=${BG_PIDS[-1]}
	wait_for sees programs 'length == 1'
	healthy
	kill -STOP "$pid"
	wait_for sees programs '.[0].silent >= 2'
	check | grep -v damaged >lines
	grep -qxE "dta-fake $pid fabric: silent for [0-9]+ s" lines
	[ "$(wc -l <lines)" = 1 ]
	check -o ndjson >rows || true
	jq -se 'map(select(.counter != "damaged")) | length == 1 and
		.[0].counter == "silent" and .[0].value >= 2' rows
	kill -CONT "$pid"
	wait_for sees programs '.[0].silent == 0'
	fake dta-lossy fabric s:got:in:1 s:bad:loss:1000000 s:never:loss:0
	wait_for sees programs 'length == 2'
	check | grep -v damaged >lines
	grep -qxE "dta-lossy ${BG_PIDS[-1]} fabric: s bad: [0-9]+ lost \([0-9]+/s\)" lines
	[ "$(wc -l <lines)" = 1 ]
	check -o ndjson >rows || true
	jq -se 'map(select(.counter != "damaged")) | length == 1 and
		.[0].counter == "bad" and .[0].role == "loss"' rows
	page=dta-ledger-$$-$(cut -d' ' -f22 /proc/$$/stat)
	echo no page >"pages/$page"
	run -1 check
	[[ $output == *"1 page is not seen; $page: "* ]]
	run -2 check --once
	run -2 check -t losses
	run -2 dta-top --check --every 10ms
}

@test "every program that runs on has a page" {
	mkfifo a b c
	dta-collect --create --layout l.ini --region "$NAME"
	begin log dta-gen uniform -q -c 1G -w /dev/null
	begin log dta-gen int -q -c 1G -w /dev/null
	begin log dta-collect -q --notify -R "$NAME"
	begin log int-collect -q -r a
	begin log int-label-ctl run -q -r b
	begin label.log int-label-ctl label -d 1 -q -r c -w /dev/null
	exec 7<>a 8<>b 9<>c
	for fd in 7 8 9; do
		timeout 60 cat r.pcap >&$fd
	done
	wait_for sees programs 'map(.program) | sort == ["dta-collect", "dta-gen",
		"dta-gen int", "int-collect", "int-label-ctl", "int-label-ctl label"]'
	exec 7>&- 8>&- 9>&-
}

@test "a page; a place that cannot be had: the program goes on" {
	dta-collect --create --layout l.ini --region "$NAME"
	mkfifo pipe
	# There is one, or a word that there can be none.
	tells_of_page() {
		ls -A pages | grep -q '^dta-ledger-' || grep -q 'does not see' "$1"
	}
	# run_with LOG OPTION...: with a pipe that stays open for a while
	run_with() {
		local log=$1

		shift
		begin "$log" dta-translate -r pipe -R "$NAME" "$@"
		exec 5<>pipe
		timeout 60 cat r.pcap >&5
		wait_for tells_of_page "$log"
		ls -A pages >there
		exec 5>&-
		wait "${BG_PIDS[-1]}"
		grep -qE 'stored +20000' "$log"
	}
	run_with log
	[ "$(grep -c '^dta-ledger-' there)" = 1 ]
	DTA_LEDGERS=/nowhere run_with log
	[ "$(grep -c 'dta-top does not see this program: /nowhere/.*: No such' log)" = 1 ]
	run -1 --separate-stderr env DTA_LEDGERS=/nowhere dta-top --once --every 1ms
	[[ $stderr == "dta-top: /nowhere: No such file or directory" ]]
	# a run that is over at once has no page, and no word of it
	DTA_LEDGERS=/nowhere run -0 --separate-stderr dta-translate -r r.pcap -R "$NAME"
	[[ $stderr != *dta-top* ]]
}

@test "no region; what does not go together" {
	run -1 --separate-stderr top -R "$NAME-none"
	[[ -z $output && $stderr == *"$NAME-none: no such region"* ]]
	run -2 --separate-stderr dta-top
	[[ $stderr == *"standard output is no terminal: say --once"* ]]
	run -2 timeout 60 script -qec "dta-top --sort age" /dev/null </dev/null
	[[ $output == *"'age': programs have "*received_s,\ lost_s,* ]]
	run -2 dta-top --once -t nonsense
	run -2 dta-top --once --prometheus 127.0.0.1:1
	run -2 dta-top --prometheus nowhere
	[[ $output == *"'nowhere' is not [ADDR]:PORT"* ]]
	run -2 dta-top --prometheus 127.0.0.1:1?series=1
	run -2 dta-top --prometheus 127.0.0.1:1 --sort pid
	run -2 dta-top --once x
}

@test "pages that are none are told of, and do not hide others" {
	fake dta-fake fabric s:got:in:1
	wait_for sees programs 'length == 1'
	start=$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)
	own=pages/dta-ledger-$$-$start
	for how in 'head -c 16384 /dev/urandom' 'head -c 100 /dev/zero' 'head -c 1M /dev/zero' :; do
		$how >"$own"
		run -0 --separate-stderr top
		echo "$how: $stderr"
		[ "$(jq -s 'map(.program) == ["dta-fake"]' <<<"$output")" = true ]
		[[ $stderr == "dta-top: 1 page is not seen; ${own#pages/}: damaged, or no page" ]]
		rm "$own"
	done
	ln -s /dev/zero "$own"
	run -0 --separate-stderr top
	[[ $stderr == *"1 page is not seen; "* ]]
	rm "$own"
	mkfifo "$own"
	run -0 --separate-stderr timeout 60 dta-top --once --every 1ms
	[[ $stderr == *"1 page is not seen; "* ]]
}

@test "the group reads, others do not; nobody passes for another" {
	[ "$(id -u)" = 0 ] || skip "not root: no other users"
	# where others may look for what they are given
	export DTA_LEDGERS=/dev/shm/$NAME-pages
	mkdir -m 1777 "$DTA_LEDGERS"
	cp "$BUILD/dta-top" "$DTA_LEDGERS/top"
	dta-collect --create --layout l.ini --region "$NAME"
	mkfifo pipe
	begin log dta-translate -q -r pipe -R "$NAME"
	pid=$!
	exec 5<>pipe
	timeout 60 cat r.pcap >&5
	wait_for sees programs 'length == 1'
	page=$(echo "$DTA_LEDGERS"/dta-ledger-*)
	[ "$(stat -c %a "$page")" = 640 ]
	as() { # GROUP COMMAND...
		setpriv --reuid 65534 --regid "$1" --clear-groups "${@:2}"
	}
	run -0 --separate-stderr as "$(stat -c %g "$page")" "$DTA_LEDGERS/top" \
		--once --every 1ms -o ndjson
	[[ $output == *'"program":"dta-translate"'* && -z $stderr ]]
	run -3 --separate-stderr as 65534 "$DTA_LEDGERS/top" --once --every 1ms
	[[ $stderr == *"1 page is not seen; ${page##*/}: Permission denied"* ]]
	# a page of that process that somebody else has made
	cp "$page" copy
	kill -STOP "$pid"
	rm "$page"
	as 65534 sh -c "cat >$page" <copy
	run -3 --separate-stderr top
	[[ $stderr == *"${page##*/}: it is not its process's"* ]]
	kill -CONT "$pid"
	exec 5>&-
	wait "$pid"
}

@test "a program in another PID namespace is seen, and not taken for dead" {
	unshare -p -f --mount-proc true 2>/dev/null || skip "no PID namespaces here"
	dta-collect --create --layout l.ini --region "$NAME"
	mkfifo pipe
	begin log unshare -p -f --mount-proc dta-translate -q -r pipe -R "$NAME"
	exec 5<>pipe
	timeout 60 cat r.pcap >&5
	wait_for sees programs 'length == 1 and .[0].received == 20000'
	top | jq -se '.[0].since == null and .[0].pid < 10'
	exec 5>&-
	wait "${BG_PIDS[-1]}"
	run -3 top
}

@test "the screen: at 80 by 24, tables, sorting, the filter, help" {
	fake dta-fake fabric s:got:in:1 s:kept:done:2 s:bad:loss:1000
	fake dta-other fabric s:got:in:2 s:never:loss:0
	wait_for sees programs 'length == 2'
	LC_ALL=C.UTF-8 TERM=xterm NO_COLOR= typist '
import re
resize(24, 80)
until(b"2 programs", b"by received_s; ? for keys")
until(b"most is lost by dta-fake")
assert b"\x1b[31m" in seen
assert [r.split()[0] for r in rows()[:2]] == ["dta-fake", "dta-other"], rows()
plain = [re.sub("\x1b\\[[0-9]*m", "", r) for r in rows()]
assert len(plain) == 19 and all(len(r) <= 80 for r in plain), plain
assert "1000000000" in rows()[0], rows()
assert abs(int(rows()[1].split()[3]) - 500000000) < 20, rows() # whole numbers
key(b"r"); until(b"the least first")
assert rows()[0].startswith("dta-other"), rows()
key(b"l"); until(b"by value_s;")
assert [r.split()[3] for r in rows() if r] == ["bad"], rows()
key(b"3"); until(b"1 to 5 of 5, by value_s;")
key(b"/other\r"); until(b"filter on")
assert [r.split()[0] for r in rows() if r] == ["dta-other"] * 2, rows()
key(b"/\x15\r"); until(b"by value_s; ?")
key(b"4"); until(b"by stored_s;")
key(b"?"); until(b"the other order")
key(b"x"); until(b"by stored_s;")
key(b"1"); until(b"by received_s;")
key(b"e"); until(b"by stored_s;")
key(b"c"); until(b"by value_s;")
key(b"<"); until(b"by counter;")
key(b">"); until(b"by value_s;")
key(b"<"); until(b"by counter;")
key(b"s"); until(b"by value_s;")
key(b"s"); until(b"by value;")
key(b"<"); until(b"by value_s;")
key(b" "); until(b"by value_s, paused;")
key(b" "); until(b"by value_s; ?")
key(b"p"); until(b"by received_s;")
key(b">"); until(b"by lost_s;")
key(b"<"); until(b"by received_s;")
key(b"\x1b[C" * 3); until(b"REASON".lower(), b"bad")
key(b"q")' dta-top --every 300ms
	[ "$output" = 'status 0' ]
}

@test "the screen: at 40 by 10, without colours" {
	fake dta-fake fabric s:got:in:1 s:bad:loss:1000
	wait_for sees programs 'length == 1'
	LC_ALL=C TERM=xterm NO_COLOR=1 typist '
resize(10, 40)
until(b"1 to 1 of 1, by received_s; ? for keys")
until(b"most is lost by dta-fake")
assert b"\x1b[31m" not in seen and b"\xe2" not in seen, seen
assert len(rows()) == 5 and all(len(r) <= 40 for r in rows()), rows()
assert rows()[0].startswith("dta-fake"), rows()
key(b"l\x1b[C\x1b[C\x1b[C"); until(b"1 to 1 of 1, by value_s;", b"role unit")
os.kill(pid, signal.SIGTERM)' dta-top --every 300ms
	[ "$output" = 'status 0' ]
}

@test "the screen: who stands still has no rates" {
	fake dta-fake fabric s:got:in:1 s:bad:loss:1000
	wait_for sees programs 'length == 1'
	LC_ALL=C TERM=xterm typist "
resize(24, 200)
def until_row(rate):
    end = time.time() + 60
    while True:
        row = (rows() or [''])[0].split()
        if len(row) > 3 and row[3] == rate:
            return
        assert time.time() < end, rows()
until_row('1000000000')
os.kill(${BG_PIDS[-1]}, signal.SIGSTOP)
until_row('-')
os.kill(${BG_PIDS[-1]}, signal.SIGCONT)
until_row('1000000000')
key(b'q')" dta-top --every 300ms
	[ "$output" = 'status 0' ]
}

@test "the screen: programs come and go; nobody is there" {
	dta-collect --create --layout l.ini --region "$NAME"
	mkfifo pipe
	bg bash -c "exec >pipe; cat r.pcap; while [ ! -e go ]; do sleep 0.1; done"
	typist "
until(b'0 programs', b'nothing is lost')
begun = os.spawnvp(os.P_NOWAIT, 'dta-translate', ['dta-translate', '-q', '-r', 'pipe', '-R', '$NAME'])
until(b'1 program, ', b'dta-translate')
open('go', 'w').close()
os.waitpid(begun, 0)
key(b'r'); until(b'0 programs')
key(b'q')" dta-top --every 300ms
	[ "${lines[-1]}" = 'status 0' ]
}

@test "for Prometheus: promtool has nothing to say; who is gone is gone" {
	need curl promtool
	dta-collect --create --layout l.ini --region "$NAME"
	mkfifo pipe
	begin log dta-translate -q -r pipe -R "$NAME"
	pid=$!
	exec 5<>pipe
	timeout 60 cat r.pcap >&5
	fake dta-fake 'a"b\c' s:got:in:1 s:other:harmless:1000 t:acked:done:2 \
		t:asked:in:1 t:waiting:harmless*:1000 \
		interface:kernel_drops:loss:1000 arrival:missing:loss*:1000
	PORT=$(free_port)
	begin served dta-top --every 200ms --prometheus "127.0.0.1:$PORT"
	top=$!
	metrics() { curl -sf "http://127.0.0.1:$PORT/metrics" >metrics; }
	scraped() { metrics && grep -qF "$1" metrics; }
	labels="program=\"dta-translate\",pid=\"$pid\",region=\"$NAME\""
	wait_for scraped "dta_ledger_total{$labels,stage=\"translate\",counter=\"stored\",role=\"done\"} 20000"
	wait_for scraped 'program="dta-fake"'
	# An alert on what is lost finds all of that, and nothing else.
	[ "$(sed -n '/^dta_ledger_total{program="dta-fake".*role="loss"/s/.*counter="\([^"]*\).*/\1/p' \
		metrics | sort | xargs)" = "kernel_drops missing" ]
	grep -q '^dta_level{program="dta-fake",.*counter="waiting"' metrics
	run promtool check metrics <metrics
	echo "$output"
	[ "$status" = 0 ]
	[ -z "$output" ]
	# each of a family by its type
	grep -qFx '# TYPE dta_ledger_total counter' metrics
	grep -q '^# HELP dta_ledger_total ' metrics
	grep -qFx '# TYPE dta_region_fill_ratio gauge' metrics
	grep -qFx "dta_region_writers{region=\"$NAME\"} 1" metrics
	grep -qF 'region="a\"b\\c"' metrics
	grep -qE '^dta_program_waiting\{program="dta-fake",.*\} [0-9.e+]+$' metrics
	grep -qE "^dta_program_start_time_seconds\{$labels,.*\} [0-9.e+]+$" metrics
	run -1 grep -F _rows_total metrics
	[ "$(curl -sf "http://127.0.0.1:$PORT/healthz")" = ok ]
	exec 5>&-
	wait "$pid"
	is_gone() { metrics && ! grep -qF "pid=\"$pid\"" metrics; }
	wait_for is_gone
	scraped 'program="dta-fake"'
	mv pages away
	is_ill() { [ "$(curl -s "http://127.0.0.1:$PORT/healthz")" = "pages cannot be looked for" ]; }
	wait_for is_ill
	mv away pages
	is_well() { [ "$(curl -s "http://127.0.0.1:$PORT/healthz")" = ok ]; }
	wait_for is_well
	# the address is taken
	run -1 --separate-stderr dta-top --prometheus "127.0.0.1:$PORT"
	[[ $stderr == *"Address already in use"* ]]
	kill -TERM "$top"
	wait "$top"
	[ ! -s served ]
}
