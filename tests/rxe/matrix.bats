# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# What a responder does with every kind of frame: matrix.py says what is right,
# the kernel's soft-RoCE and our software responder are both held to it. The
# frames are made by a program that shares nothing with the suite.

load ../helpers
load guest

MATRIX=$BATS_TEST_DIRNAME/matrix.py

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit 1
	"$BATS_TEST_DIRNAME/matrix.py" layout >layout.ini
	guest_there || return 0
	export GUEST
	guest_start a
	start_collector
}

# Every PSN begins three before the end, so that every case that is longer
# goes through 0.
start_collector() {
	cat >psn.c <<-C
		#include <string.h>
		#include <sys/random.h>
		ssize_t getrandom(void *to, size_t n, unsigned flags);
		ssize_t getrandom(void *to, size_t n, unsigned flags)
		{
			(void)flags;
			memset(to, 0xff, n);
			*(char *)to = (char)0xfd;
			return (ssize_t)n;
		}
	C
	gcc -shared -fPIC -o "$GUEST_DIR/a/psn.so" psn.c
	cp layout.ini "$GUEST_DIR/a"
	guest_run 'dta-collect --create --layout layout.ini --region t
		export ASAN_OPTIONS=verify_asan_link_order=0
		LD_PRELOAD=/host/psn.so dta-collect --region t --verbs rxe0 \
			--peer-ip 10.0.0.101 --receives 2 --ticket new.ini \
			>collect.out 2>collect.err &
		pid=$!
		echo $pid >pid
		while [ ! -s new.ini ] && kill -0 $pid; do sleep 0.1; done
		cp new.ini ticket.ini
		kill -STOP $pid' # nobody posts receives, or mends queue pairs
}

setup() {
	cd "$BATS_FILE_TMPDIR" || exit 1
	NAME=dta-test-$$-matrix
	HOST=$GUEST_DIR/a
}

teardown() {
	remove_regions "$NAME"
}

teardown_file() {
	guest_stop
}

@test "the software responder" {
	local case

	dta-collect --create --layout layout.ini --region "$NAME"
	dta-collect --region "$NAME" --ticket ticket.ini
	for case in "" rnr uc-immediate; do # receives are for all queue pairs
		"$MATRIX" pcap ticket.ini frames.pcap $case
		dta-collect -o ndjson --region "$NAME" --receives 2 \
			-r frames.pcap -w "answers$case.pcap" 2>>ledgers
	done
	"$MATRIX" answers ticket.ini answers*.pcap >software
	dta-dump region "$NAME" --no-load -o ndjson >memory
	"$MATRIX" check ticket.ini software "/dev/shm/$NAME" memory
	# What was refused is said there, too.
	grep '^{' ledgers | jq -se '(map(select(.role == "in").value) | add) ==
		(map(select(.role == "done" or .role == "loss" or .role == "harmless").value) | add)'
}

# play LATER: the frames to the guest, its answers and memory judged.
play() {
	# shellcheck disable=SC2086
	"$MATRIX" play "$HOST/ticket.ini" "$GUEST_DIR/switch.sock" \
		"$GUEST_DIR/a.sock" "$HOST/answers$1" $1
	guest_run 'cp /dev/shm/t region; dta-dump region t --no-load -o ndjson >memory'
	# shellcheck disable=SC2086
	"$MATRIX" check "$HOST/ticket.ini" "$HOST/answers$1" "$HOST/region" \
		"$HOST/memory" $1
}

@test "soft-RoCE, while dta-collect is stopped" {
	guest_needed
	grep -qx 'psn = 16777213' "$HOST/ticket.ini"
	play ""
	diff software "$HOST/answers"
}

@test "soft-RoCE: what was refused for want of a receive, once it is posted" {
	guest_needed
	[ ! -s "$HOST/collect.err" ]
	guest_run 'kill -CONT $(cat pid)'
	patient grep -q 'no-atomics: queue pair .* made again' "$HOST/collect.err"
	play later
	# Each queue pair that is dead was made again, and no other.
	[ "$(grep -c 'made again' "$HOST/collect.err")" = \
		"$(grep -c 'nak6[12]' "$HOST/answers")" ]
}
