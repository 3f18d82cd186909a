# SPDX-License-Identifier: BSD-2-Clause
# Programs that parse packets open no other files once they run, and execute
# nothing; what they still have to open they can.

load ../helpers
load ../top
load ../hook

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-confine-$BATS_TEST_NUMBER
	export DTA_LEDGERS=$PWD/pages
	mkdir pages
	mkfifo in
	exec 5<>in
	command -v cc >/dev/null || skip "no compiler"
	[[ $BUILD != *san* ]] || skip "sanitizers are not confined"
	dta-gen uniform -q -n 1 -w one.pcap
	starts dta-dump packets in
	end_bg
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

confined() { ! grep -L 'NoNewPrivs:.1' /proc/"$1"/task/*/status | grep -q .; }

# starts COMMAND...: with the header of a capture, until it is confined.
starts() {
	head -c 24 one.pcap >&5
	begin log "$@"
	wait_for confined $!
}

# Whether all three are refused (EACCES) now.
refuses() {
	kill -USR2 "$1"
	sleep 0.05
	[ "$(tail -n 4 log)" = "$(printf 'open: 13\ncreate: 13\nexec: 13\nasked')" ]
}

# closed COMMAND...: they are, once the program runs.
closed() {
	starts env LD_PRELOAD="$PWD/hook.so" "$@"
	wait_for refuses $!
	kill $!
	wait $! || :
}

@test "no file can be opened or made, and nothing be executed" {
	hook
	mkdir t
	dta-collect --create --layout "$EXAMPLES/uniform.ini" --region "$NAME"
	dta-collect --region "$NAME" --ticket t/t.ini
	closed dta-translate -r in --region "$NAME"
	closed dta-translate -r in --region "$NAME" -j 2
	closed dta-translate -r in --ticket t/t.ini -w out.pcap
	closed dta-collect --region "$NAME" -r in --ticket t/new.ini -j 2
	closed int-collect -r in -j 2
	closed int-label-ctl run -r in
	closed int-label-ctl label -d 1 -r in -w out.pcap
	closed dta-dump packets in
}

@test "a program of a database's is not executed either" {
	starts int-collect -r in -x file:rows
	[ "$(ls /proc/$!/task | wc -l)" -gt 1 ]
}

@test "a page that was removed is made again; other programs are seen" {
	dta-collect --create --layout "$EXAMPLES/uniform.ini" --region "$NAME"
	starts dta-translate -r in --region "$NAME"
	wait_for eval 'ls pages/dta-ledger-$!-*'
	rm pages/dta-ledger-$!-*
	wait_for eval 'ls pages/dta-ledger-$!-*'
	[ ! -s log ]
}

@test "a ticket is taken in its directory, and nowhere else" {
	mkdir here there
	dta-collect --create --layout "$EXAMPLES/uniform.ini" --region "$NAME"
	dta-collect --region "$NAME" --ticket here/t.ini
	cp here/t.ini there/t.ini
	cp here/t.ini here/other.ini
	starts dta-translate -r in --ticket here/t.ini -w out.pcap
	ln -sf other.ini here/t.ini
	wait_for grep "written again, still epoch 1" log
	ln -sf ../there/t.ini here/t.ini
	wait_for grep "t.ini: Permission denied" log
}

@test "int-label-ctl run is not confined where it executes commands" {
	head -c 24 one.pcap >&5
	begin log int-label-ctl run -r in --exec true
	wait_for eval 'ls pages/dta-ledger-$!-*'
	run ! confined $!
}
