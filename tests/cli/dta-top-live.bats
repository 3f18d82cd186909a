# SPDX-License-Identifier: BSD-2-Clause
# dta-top: what waits and what is lost while programs run, pages that cannot be made or are never whole, and regions that others
# cut short.

load ../helpers
load ../wire
load ../databases
load ../terminal
load ../top

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-live-$BATS_TEST_NUMBER
	export DTA_LEDGERS=$PWD/pages
	mkdir pages
	printf '[flows]\nkind = keywrite\nkey = flow4\nvalue = 4\nslots = 64Ki\n' >l.ini
}

teardown() {
	end_bg
	wire_down
	remove_regions "$NAME"
}

# fed PIPE: whoever reads it has got a few packets of r.pcap, and waits for more.
fed() {
	exec 5<>"$1"
	timeout 60 cat r.pcap >&5
}

@test "what is under way waits, and is not lost; the end tells what was lost" {
	dta-collect --create --layout l.ini --region "$NAME"
	dta-collect --region "$NAME" --ticket t.ini
	dta-gen uniform -q --count 200 --copies 1 -w r.pcap
	mkfifo reports frames answers
	exec 7<>frames 8<>answers
	# Half of it is taken; all of it fits the pipe.
	env timeout --foreground 60 dta-collect -q -r - -w - --count 100 \
		--region "$NAME" <&7 >&8 3>&- 5>&- 7>&- 8>&- &
	BG_PIDS+=("$!")
	begin t.log dta-translate -r reports --ticket t.ini -w frames \
		--answers answers --ack-every 8
	translator=$!
	fed reports
	wait_for sees programs 'map(select(.program == "dta-translate"))[0] |
		.received == 200 and .done == 96 and .waiting == 104 and
		.lost == 0 and .reason == null'
	run -0 --separate-stderr top -t losses
	[ -z "$output" ]
	top -t counters | jq -se 'map({key: .counter, value: .value}) | from_entries |
		.waiting == 104 and .unanswered == 0 and .unsent == 0'
	exec 5>&- 8>&- # its probes go on being read until it ends
	wait "$translator"
	exec 7>&-
	grep -qE 'unanswered +104' t.log
	run -1 grep -E 'waiting' t.log
}

@test "what may fall is under way, and nothing that was lost" {
	dta-collect --create --layout l.ini --region "$NAME"
	fake dta-fake "$NAME" s:got:in:1000 s:acked:done:2000 s:held:harmless*:4000
	wait_for sees programs 'length == 1'
	top | jq -se '.[0] | .lost == 0 and .reason == null and
		.waiting > .received * 0.45'
	run -0 --separate-stderr top -t losses
	[ -z "$output" ]
}

@test "what never came in is lost, too, and no part of what was received" {
	fake dta-fake fabric s:got:in:1000 s:kept:done:1000 \
		arrival:missing:loss*:5000000
	wait_for sees losses 'length == 1 and .[0].counter == "missing" and
		.[0].value > 10'
	top | jq -se '.[0] | .lost > 10 and .reason == "missing" and
		(.received - .done | . > -10 and . < 10)'
	LC_ALL=C TERM=xterm typist '
until(b"most is lost by dta-fake ", b" a second, missing")
key(b"l"); until(b"1 to 1 of 1, by value_s;", b"missing")
key(b"q")' dta-top --every 300ms
	[ "$output" = 'status 0' ]
}

@test "a translator that writes by a ticket is one of the region's; its losses are told" {
	dta-collect --create --layout l.ini --region "$NAME"
	dta-collect --region "$NAME" --ticket t.ini
	dta-gen uniform -q --flows 3000 -w all.pcap
	editcap all.pcap r.pcap 100-140
	mkfifo in
	begin t.log dta-translate -q -r in --ticket t.ini -w roce.pcap
	fed in
	wait_for sees losses 'length == 1 and .[0].value == 41'
	top -R "$NAME" | jq -se --arg n "$NAME" 'length == 1 and .[0].lost == 41 and
		.[0].reason == "missing" and .[0].region == $n'
	# What it sends is not stored yet.
	top -t regions -R "$NAME" | jq -se '.[0].stored_s == null or
		.[0].stored_s == 0'
	# The same name on another machine is another region.
	sed 's/^region = /&x/' t.ini >far.ini
	exec 5>&-
	wait "${BG_PIDS[-1]}"
	begin t.log dta-translate -q -r in --ticket far.ini -w roce.pcap
	fed in
	wait_for sees programs 'length == 1 and (.[0].region | test("^x.*:.")) '
	run -3 top -R "$NAME"
}

# unsent PROGRAM [N]: it says of its interface that so many were not taken, or
# some; and it is among its losses.
unsent() {
	local want='>= 1'

	[ -z "${2:-}" ] || want="== $2"
	sees losses "map(select(.program == \"$1\" and .stage == \"interface\" and
		.counter == \"unsent\").value) | add $want"
}

@test "what an interface does not take is seen while the program runs" {
	local collect

	need_tools send
	wire_up out:nobody in0:in1
	on_wire ip link set out down
	mkfifo in reports
	dta-gen int -q --flows 20 -w r.pcap
	begin i.log ip netns exec "$WIRE" int-collect -q -R none -r in --to out
	fed in
	wait_for unsent int-collect "$(packets_in r.pcap)"
	exec 5>&-
	wait "${BG_PIDS[-1]}"
	dta-gen uniform -q --count 50 --copies 1 -w r.pcap
	dta-collect --create --layout l.ini --region "$NAME"
	dta-collect --region "$NAME" --ticket t.ini
	begin t.log ip netns exec "$WIRE" dta-translate -q -r reports \
		--ticket t.ini --to out
	fed reports
	wait_for unsent dta-translate
	exec 5>&-
	begin c.log ip netns exec "$WIRE" dta-collect -i in0 --no-xdp \
		--mac "$(sed -n 's/^mac = //p' t.ini)" --region "$NAME"
	collect=${BG_PIDS[-1]}
	dta-translate -q -r r.pcap --ticket t.ini -w roce.pcap
	wait_for sees counters 'any(.program == "dta-collect" and
		.counter == "unsent" and .value == 0)'
	wait_for grep -q ": AF_" c.log
	# What comes twice is answered; the link is gone when it gets to that.
	kill -STOP "$collect"
	on_wire "$TOOLS/send" roce.pcap in1 >/dev/null
	on_wire "$TOOLS/send" roce.pcap in1 >/dev/null
	on_wire ip link set in1 down
	kill -CONT "$collect"
	wait_for unsent dta-collect
	begin g.log ip netns exec "$WIRE" dta-gen int -q --flows 1K -c 1G --rate 1000 -i out
	wait_for unsent "dta-gen int"
	on_wire ip link set in1 up
	begin l.log ip netns exec "$WIRE" int-label-ctl label -q -d 1 -i in0 --to out
	wait_for sees programs 'any(.program == "int-label-ctl label")'
	dta-gen int -q --flows 20 -w r.pcap
	on_wire "$TOOLS/send" r.pcap in1 >/dev/null
	wait_for unsent "int-label-ctl label"
}

@test "--check: the interface that a program reads is down" {
	wire_up in0:in1
	dta-collect --create --layout l.ini --region "$NAME"
	begin c.log ip netns exec "$WIRE" dta-collect -i in0 --no-xdp --region "$NAME"
	wait_for sees programs 'length == 1 and .[0].silent == 0'
	check() { on_wire dta-top --check --every 300ms -R "$NAME"; }
	run -0 check
	[ -z "$output" ]
	on_wire ip link set in1 down # in0 has no carrier then
	run -1 check
	[ "$output" = "dta-collect ${BG_PIDS[-1]} $NAME: in0 is down" ]
	on_wire ip link set in1 up
	on_wire ip link set in0 down
	run -1 check
	[ "$output" = "dta-collect ${BG_PIDS[-1]} $NAME: in0 is down" ]
}

@test "what waits for a database is seen, in memory and in the spool" {
	PORT=$(free_port)
	mkfifo a b
	dta-gen int -q --flows 200 -w r.pcap
	begin a.log int-collect -R event -q -r a -x "influx://127.0.0.1:$PORT/x"
	begin b.log int-collect -R event -q -r b -x "influx://127.0.0.1:$PORT/x" \
		--spool spool
	spooler=$!
	exec 6<>a 7<>b
	timeout 60 cat r.pcap >&6
	timeout 60 cat r.pcap >&7
	kept() {
		sees counters "map(select(.pid == $spooler and .stage == \"export\")) |
			map({key: .counter, value: .value}) | from_entries |
			.kept > 0 and .kept + .waiting == .rows and .unsent == 0"
	}
	in_memory() {
		sees counters "map(select(.pid != $spooler and .stage == \"export\")) |
			map({key: .counter, value: .value}) | from_entries |
			.rows > 0 and .kept == 0 and .waiting == .rows and .unsent == 0"
	}
	wait_for kept
	wait_for in_memory
	# Neither has been dropped, and both wait.
	sees programs 'length == 2 and all(.waiting > 0 and .done == 0 and
		.lost == 0)'
	run -1 dta-top --check --every 300ms
	[ "$(grep -cE '^int-collect [0-9]+: export: [0-9]+ rows wait for a database$' \
		<<<"$output")" = 2 ]
	kill -USR1 "$spooler"
	wait_for grep -qE '^  kept +[1-9]' b.log
	run -1 grep 'does not add up' b.log
	exec 6>&- 7>&-
	for pid in "${BG_PIDS[@]}"; do
		wait "$pid" || :
	done
}

@test "a page that cannot be made is tried again, and one that is gone" {
	dta-gen uniform -c 2000 -q -w r.pcap
	dta-collect --create --layout l.ini --region "$NAME"
	mkfifo pipe
	export DTA_LEDGERS=$PWD/later
	begin log dta-translate -r pipe -R "$NAME"
	fed pipe
	wait_for grep -q 'does not see this program' log
	mkdir later
	wait_for sees programs 'length == 1 and .[0].received == 2000'
	rm later/*
	wait_for sees programs 'length == 1 and .[0].received == 2000'
	# a file that is not ours has the name
	page=$(echo later/*)
	rm "$page"
	echo not ours >"$page"
	own() { grep -q DTALEDG "$page"; }
	sleep 0.6 # two turns, in which it must not write there
	[ "$(cat "$page")" = 'not ours' ]
	rm "$page"
	wait_for own
	exec 5>&-
	wait "${BG_PIDS[-1]}"
	[ -z "$(ls -A later)" ]
	[ "$(grep -c 'dta-top' log)" = 1 ]
}

@test "a page that is never written to its end: known, or new" {
	# Its writer stops in the middle of the third time, at once if "new".
	fake_half() {
		fake dta-half fabric s:got:in:1
		end_bg
		BG_PIDS=()
		rm -f pages/* # of the one that was killed
		sed -i "s/^    time.sleep(0.02)/    if os.path.exists(\"half\"):\n\
        os.pwrite(f, struct.pack(\"=Q\", sequence + 1), 1024)\n\
        while True:\n            time.sleep(1)\n&/" page.py
		begin half.log python3 page.py dta-half fabric s:got:in:1
	}
	fake_half
	half=$!
	wait_for sees programs 'length == 1 and .[0].received_s > 0'
	begin watching dta-top --prometheus "127.0.0.1:$(free_port)"
	touch half
	never_whole() {
		run -3 --separate-stderr top || return 1
		[[ $stderr == *"1 page is not seen; dta-ledger-$half-"*": it is never written to its end"* ]]
	}
	# Who comes now has never seen it whole,
	wait_for never_whole
	rm half
	kill -KILL "$half"
	wait "$half" || :
	# and who has seen it keeps it, silent and without rates.
	fake_half
	wait_for sees programs 'length == 1'
	LC_ALL=C TERM=xterm typist '
resize(24, 120)
def until_row(place, good):
    end = time.time() + 60
    while True:
        row = (rows() or [""])[0].split()
        if len(row) > place and good(row[place]):
            return
        assert time.time() < end, rows()
until_row(3, lambda r: r.isdigit() and int(r) > 0)
open("half", "w").close()
until_row(3, lambda r: r == "-")
until(b"nothing is lost")
assert rows()[0].startswith("dta-half"), rows()
key(b"q")' dta-top --every 300ms
	[ "$output" = 'status 0' ]
}

@test "a region whose memory is not there ends nobody, and gets none by a look" {
	unshare -rm mount -t tmpfs -o size=600k none /mnt 2>/dev/null ||
		skip "no mounts here"
	dta-collect --create --layout l.ini --region "$NAME"
	# Of a sparse copy, pages come as they are asked for: there is room for
	# the head, and a few. Who maps it gets SIGBUS.
	cat >in-there <<-EOP
		mount -t tmpfs -o size=600k none /mnt &&
		cp --sparse=always /dev/shm/$NAME /mnt/region || exit 9
		used() { df --output=used /mnt | tail -n 1; }
		before=\$(used)
		dta-top --once --every 1ms -t regions -R /mnt/region -o ndjson || exit 1
		[ "\$(used)" = "\$before" ]
	EOP
	run -0 --separate-stderr unshare -rm bash in-there
	jq -se 'length == 1 and .[0].fill == 0 and .[0].epoch == 1' <<<"$output"
}
