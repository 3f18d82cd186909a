# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# The guest itself: soft-RoCE comes up, commands and files go in and out.

load ../helpers
load guest

setup_file() {
	guest_there || return 0
	export GUEST
	guest_start a
}

setup() {
	guest_needed
}

teardown_file() {
	guest_stop
}

@test "the RDMA device is there and its port active" {
	run guest_run ibv_devinfo -d rxe0
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *PORT_ACTIVE* ]]
	guest_run rdma link show rxe0/1 | grep -q 'state ACTIVE.*netdev eth0'
}

@test "commands: output, errors and exit status are theirs" {
	run --separate-stderr guest_run 'echo out; echo err >&2; exit 7'
	[ "$status $output $stderr" = "7 out err" ]
	run guest_run 'echo "$((1 + 1))" two'
	[ "$output" = "2 two" ]
}

@test "files go in and out" {
	head -c 100000 /dev/urandom >"$GUEST_DIR/a/in"
	guest_run cp /host/in /tmp/in
	guest_run cp /tmp/in /host/out
	cmp "$GUEST_DIR/a/in" "$GUEST_DIR/a/out"
}

@test "the programs run in the guest" {
	[[ $(guest_run dta-collect -V) == "dta-collect "* ]]
}
