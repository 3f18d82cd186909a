# SPDX-License-Identifier: BSD-2-Clause
# What the controller of INT-label tells switches: as lines to commands.

load ../helpers
load ../label

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() { end_bg; }

@test "decisions to a command for each switch; one that fails is tried again" {
	falls_silent silent.pcap
	cat >tell <<-'END'
		#!/bin/bash
		[ "$LABEL_NODE" = 1 ] || { echo "$LABEL_NODE $(cat)" >>told; exit; }
		echo x >>tried
		[ "$(wc -l <tried)" -gt 2 ] || exit 7
		echo "1 $(cat)" >>told
	END
	chmod +x tell
	run -0 --separate-stderr int-label-ctl -o ndjson -r silent.pcap -R none \
		--exec ./tell
	[ "$(sort told | grep -c 'register_write label_s 2')" = 3 ]
	[[ $stderr == *"node 1: commands were not taken, and will be tried again: exit status 7"* ]]
	[[ $stderr == *"node 1 takes commands again"* ]]
	balances - <<<"$stderr"
	[ "$(counter - failed orders <<<"$stderr")" = 2 ]
	[ "$(counter - unsent orders <<<"$stderr")" = 0 ]
}

@test "commands of many switches: all are told, few run at once" {
	{
		for device in {1..60}; do
			echo 100.000000 $device 1000 1
		done
		echo 100.200000 99 201000 1
	} | labels_to many.pcap
	mkdir running
	cat >tell <<-'END'
		#!/bin/bash
		mkdir "running/$LABEL_NODE"
		ls running | wc -l >>counts
		sleep 0.1
		rmdir "running/$LABEL_NODE"
		echo "$LABEL_NODE" >>told
	END
	chmod +x tell
	all_told() {
		[ "$(sort -u told 2>/dev/null | wc -l)" = 60 ]
	}
	{
		cat many.pcap
		wait_for all_told
	} | int-label-ctl -q -r - -R none --exec ./tell
	[ "$(sort -n counts | tail -n 1)" -le 16 ]
}

@test "a switch that never obeys: counted at the end, exit 1" {
	falls_silent silent.pcap
	run -1 --separate-stderr int-label-ctl -o ndjson -r silent.pcap -R none \
		-D 1 --exec false
	[[ $stderr == *"node 1: commands were not taken"*"exit status 1"* ]]
	[[ $stderr == *"1 decisions were not taken by their switches"* ]]
	balances - <<<"$stderr"
	[ "$(counter - unsent orders <<<"$stderr")" = 1 ]
}

@test "what the controller says is what a hop obeys, by its socket" {
	falls_silent silent.pcap
	datagram_to tell hop-
	mkfifo in.pcap
	bg int-label-ctl label -d 1 -r in.pcap -w one.pcap --control "$PWD/hop-1"
	exec 7>in.pcap
	wait_for test -S hop-1
	{
		cat silent.pcap
		wait_for test -e told
	} | int-label-ctl -q -r - -R none -D 1 --exec ./tell
	dta-gen uniform -q -c 40000 --rate 20000 --seed 1 -w - >&7
	exec 7>&-
	wait "${BG_PIDS[-1]}"
	n=$(int-label-ctl -q -r one.pcap -R port -o csv | tail -n +2 | wc -l)
	[ "$n" -gt 120 ] # S 2: 160 and not 40, but for a first batch before it
	[ ! -e hop-1 ]
}

# All of the commands that wrote their number into pids have ended.
gone() {
	local pid

	while read -r pid; do
		# A zombie is whose it is now to wait for.
		case $(ps -o stat= -p "$pid") in '' | Z*) ;; *) return 1 ;; esac
	done <pids
}

@test "a command that hangs is ended, and counts as failed" {
	falls_silent silent.pcap
	cat >tell <<-'END'
		#!/bin/bash
		echo $$ >>pids
		[ -e pass ] || {
			env timeout --foreground 100 sleep 100 >/dev/null 2>&1 &
			echo $! >>pids
			wait $!
		}
		cat >>told
	END
	chmod +x tell
	run -1 --separate-stderr int-label-ctl -o ndjson -r silent.pcap -R none \
		-D 1 --exec ./tell
	balances - <<<"$stderr"
	[ "$(counter - failed orders <<<"$stderr")" = 1 ]
	[ "$(counter - unsent orders <<<"$stderr")" = 1 ]
	[[ $stderr == *"node 1: commands were not taken"*"it did not end"* ]]
	[ "$(wc -l <pids)" = 2 ]
	wait_for gone
	# Not only at the end: 10 s after it began.
	rm pids
	{
		cat silent.pcap
		wait_for test -e pids
		touch pass
		wait_for test -e told
	} | int-label-ctl -q -r - -R none -D 1 --exec ./tell
	[[ $(<told) == "register_write label_s 2 "* ]]
}

@test "whoever starts us may ignore SIGCHLD: a command's end is known" {
	falls_silent silent.pcap
	run -0 --separate-stderr python3 -c 'if True:
		import os, signal, sys
		signal.signal(signal.SIGCHLD, signal.SIG_IGN)
		os.execvp(sys.argv[1], sys.argv[1:])' \
		int-label-ctl -o ndjson -r silent.pcap -R none -D 1 --exec "cat >told"
	[ "$(counter - failed orders <<<"$stderr")" = 0 ]
	[ -s told ]
}

@test "a command has our environment, and LABEL_NODE once" {
	falls_silent silent.pcap
	LABEL_NODE=77 OTHER=x int-label-ctl -q -r silent.pcap -R none -D 1 \
		--exec 'env | grep -a "^LABEL_[DN]\|^OTHER=" >told'
	[ "$(sort told | xargs)" = "LABEL_DEVICE=1 LABEL_NODE=1 OTHER=x" ]
}

